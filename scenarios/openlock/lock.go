// Package openlock holds the lock of openlock 1.1.5 (Python), which the workers of
// Stockfish's fishtest use: a complete file that is linked to the name, or renamed over
// a dead owner's, and read back.
//
// Source: worker/packages/openlock/openlock.py in official-stockfish/fishtest at 1755a17d.
// No report of what the row "contend" shows is known.
package openlock

import (
	_ "embed"
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/home/user/worker.lock"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "openlock", Lock: lock, Report: "https://github.com/official-stockfish/fishtest", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "replace-read-back/dead-owner", Does: "A dead owner's lock is renamed over and read back after a sleep, which need not be long enough.",
			Lock: protocol, In: kit.In(kit.Contend(2), kit.DeadOwner(kit.Dead)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "replace-read-back/contend", Does: "No dead owner is needed: a lock that vanishes between two looks is taken for a free one.",
			Lock: protocol, In: kit.In(kit.Contend(3)), Claims: kit.Broken(me),
		},
	)
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		_, err := t.Stat(lock)
		if kit.Missing(err) {
			private, err := kit.Private(t, lock, kit.Me(t))
			if err != nil {
				return kit.Failed(err)
			}
			err = t.Link(private, lock)
			_ = t.Unlink(private)
			if err == nil {
				return scenarios.Hold{}, nil
			}
		}
		owner := read(t)
		if owner != 0 && !kit.Gone(t, owner) {
			return kit.Locked()
		}
		if owner != 0 && read(t) != owner {
			return kit.Locked()
		}
		for range 2 {
			private, err := kit.Private(t, lock, kit.Me(t))
			if err != nil {
				return kit.Failed(err)
			}
			if err := t.Rename2(private, lock, 0); err != nil {
				return kit.Failed(err)
			}
			t.Sleep(200 * time.Millisecond)
			switch read(t) {
			case t.Getpid():
				return scenarios.Hold{}, nil
			case 0:
			default:
				return kit.Locked()
			}
		}
		return kit.Locked()
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
}

// read is the pid in the lock; 0 when there is none, or no lock.
func read(t *scenarios.Task) int {
	text, _ := kit.ReadAll(t, lock)
	return kit.PidIn(text)
}
