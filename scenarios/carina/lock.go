// Package carina holds the renewal of carina-rs/carina's state lock (Rust,
// https://github.com/carina-rs/carina/issues/2668; the same in mmnto-ai/totem, issue 2576):
// by a rename over the lock, and through the descriptor kept since the acquisition.
package carina

import (
	_ "embed"
	"errors"
	"os"
	"strings"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	lock    = "/srv/state/carina.lock"
	expired = "expired"
	valid   = "valid"
)

// Scenarios lists the ways to renew.
func Scenarios() []scenarios.Scenario {
	foreign := scenarios.ForeignRelease
	sys := kit.System{Name: "carina", Lock: lock, Report: "https://github.com/carina-rs/carina/issues/2668", Source: source}
	row := func(id, does string, renew scenarios.Program, claims []scenarios.Claim) kit.Row {
		return kit.Row{
			ID: id + "/late-renewal", Does: does, Lock: protocol, Claims: claims,
			In: kit.In(kit.Roles(kit.Late(renew), scenarios.Once(protocol)), kit.File(lock, "A "+expired)),
		}
	}
	return sys.Scenarios(
		row("renew-by-rename", "A holder whose lease is over renews by a rename: over its successor's lock.", renewByRename, kit.Broken(foreign)),
		row("renew-by-fd", "It renews through the descriptor that it has: only the file that it made.", renewByFD, kit.Holds(foreign)),
	)
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		private, err := kit.Private(t, lock, t.Process+" "+valid)
		if err != nil {
			return kit.Failed(err)
		}
		err = t.Link(private, lock)
		if kit.Exists(err) {
			text, rerr := kit.ReadAll(t, lock)
			if rerr != nil || !strings.HasSuffix(text, expired) {
				return kit.Locked()
			}
			_ = t.Unlink(lock)
			err = t.Link(private, lock)
		}
		return scenarios.Hold{}, errors.Join(err, t.Unlink(private))
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
}

func renewByRename(t *scenarios.Task) {
	if text, err := kit.ReadAll(t, lock); err != nil || !strings.HasPrefix(text, t.Process) {
		return
	}
	private, err := kit.Private(t, lock, t.Process+" "+valid)
	if err == nil && t.Rename2(private, lock, 0) == nil {
		_, _ = kit.ReadAll(t, lock)
	}
}

// renewByFD opens the lock as its first step: it has had it open since it acquired.
func renewByFD(t *scenarios.Task) {
	f, err := t.OpenFile(lock, os.O_RDWR, 0)
	if err != nil {
		return
	}
	if text, err := kit.ReadFrom(f); err == nil && strings.HasPrefix(text, t.Process) {
		_, _ = f.WriteAt([]byte(t.Process+" "+valid), 0)
	}
	_ = f.Close()
}
