// Package vellum holds the release of vellum-ai/vellum-assistant's lock (TypeScript,
// https://github.com/vellum-ai/vellum-assistant/pull/39915) by a holder that has been
// overtaken. The first two forms are also in
// https://github.com/phantomyard/phantombot/issues/429 and
// https://github.com/tox-dev/filelock/pull/566.
package vellum

import (
	_ "embed"
	"errors"
	"os"
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	lock  = "/home/user/.vellum/workspace.lock"
	lease = time.Minute
)

// Scenarios lists the ways to release.
func Scenarios() []scenarios.Scenario {
	foreign := scenarios.ForeignRelease
	sys := kit.System{Name: "vellum", Lock: lock, Report: "https://github.com/vellum-ai/vellum-assistant/pull/39915", Source: source}
	row := func(id, does string, release scenarios.Program, claims []scenarios.Claim) kit.Row {
		return kit.Row{
			ID: id + "/late-release", Does: does, Lock: protocol, Claims: claims,
			In: kit.In(kit.Roles(kit.Late(release), scenarios.Once(protocol)), kit.DeadOwner("A")),
		}
	}
	return sys.Scenarios(
		row("release-by-path", "A holder whose lease is over unlinks what stands at the name.", byPath, kit.Broken(foreign)),
		row("release-checked", "It looks first whether the lock is its own, and then unlinks what stands at the name.", checked, kit.Broken(foreign)),
		row("release-by-fd", "It empties its own file through a descriptor; an empty lock is free.", byFD, kit.Holds(foreign)),
	)
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		private, err := kit.Private(t, lock, t.Process)
		if err != nil {
			return kit.Failed(err)
		}
		err = t.Link(private, lock)
		if kit.Exists(err) {
			info, serr := t.Stat(lock)
			if serr != nil || info.Size() > 0 && !kit.Older(t, info, lease) {
				return kit.Locked()
			}
			_ = t.Unlink(lock)
			err = t.Link(private, lock)
		}
		return scenarios.Hold{}, errors.Join(err, t.Unlink(private))
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
}

func byPath(t *scenarios.Task) { _ = t.Unlink(lock) }

func checked(t *scenarios.Task) {
	if text, err := kit.ReadAll(t, lock); err == nil && text == t.Process {
		_ = t.Unlink(lock)
	}
}

func byFD(t *scenarios.Task) {
	f, err := t.OpenFile(lock, os.O_RDWR, 0)
	if err != nil {
		return
	}
	if text, err := kit.ReadFrom(f); err == nil && text == t.Process {
		_ = f.Truncate(0)
	}
	_ = f.Close()
}
