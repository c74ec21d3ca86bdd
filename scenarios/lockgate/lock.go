// Package lockgate holds werf/lockgate (Go): a directory of flock files, and a collector
// of those that nobody has locked (https://github.com/werf/lockgate/pull/48; the same
// collector in https://github.com/eProsima/Fast-DDS/pull/5319).
package lockgate

import (
	_ "embed"
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/home/user/.werf/locks/app"

// Scenarios lists the lock without and with the check.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "lockgate", Lock: lock, Report: "https://github.com/werf/lockgate/pull/48", Source: source}
	row := func(id, does string, check bool, claims []scenarios.Claim) kit.Row {
		l := protocol(check)
		return kit.Row{
			ID: id, Does: does, Lock: l, Claims: claims,
			In: kit.In(kit.Roles(scenarios.Once(l), collect, scenarios.Once(l)), kit.File(lock, "")),
		}
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		row("gc-trylock-unlink/contend", "The collector holds the lock when it unlinks the file; who has opened it before locks what has no name.", false, kit.Broken(me)),
		row("gc-nlink-check/contend", "Who has locked the file looks whether it still has a name.", true, kit.Holds(me)),
	)
}

func protocol(check bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o644)
				if err != nil {
					return kit.Failed(err)
				}
				for again := t.Retry(); again.Next(); {
					if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
						break
					}
					t.Sleep(kit.Poll)
				}
				if !check || kit.Linked(f) {
					return kit.Held(f)
				}
				_ = f.Close()
			}
			panic("unreachable")
		},
		Release: func(_ *scenarios.Task, h scenarios.Hold) error {
			return errors.Join(h.File.Flock(fsfake.LOCK_UN), h.File.Close())
		},
	}
}

// collect removes the file if nobody has locked it.
func collect(t *scenarios.Task) {
	f, err := t.OpenFile(lock, os.O_RDWR, 0)
	if err != nil {
		return
	}
	if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
		_ = t.Unlink(lock)
	}
	_ = f.Close()
}
