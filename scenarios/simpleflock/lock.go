// Package simpleflock holds derpston/python-simpleflock, a context manager around flock(2).
//
// The report, https://github.com/derpston/python-simpleflock/issues/2, proposes to delete
// the file before it is unlocked. That is broken too: with two processes the waiter
// already holds a lock that is not at its name.
package simpleflock

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

const lock = "/tmp/app.lock"

// Scenarios lists the lock as reported, and as proposed.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "simpleflock", Lock: lock, Report: "https://github.com/derpston/python-simpleflock/issues/2", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "unlink-after-unlock/pair", Does: "The file is removed after it was unlocked: by then it may be somebody else's.",
			Lock: protocol(false), In: kit.In(kit.Contend(2)), Alike: true, Claims: kit.Broken(scenarios.ForeignRelease),
		},
		kit.Row{
			ID: "unlink-before-unlock/contend", Does: "The proposed fix: the file is removed while it is locked, and a waiter locks what has no name any more.",
			Lock: protocol(true), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion),
		},
	)
}

func protocol(unlinkFirst bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile(lock, os.O_RDONLY|os.O_CREATE, 0o666)
			if err != nil {
				return kit.Failed(err)
			}
			for retry := t.Retry(); retry.Next(); {
				if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
					return kit.Held(f)
				}
				t.Sleep(kit.Poll)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			if unlinkFirst {
				return errors.Join(t.Unlink(lock), h.File.Flock(fsfake.LOCK_UN), h.File.Close())
			}
			return errors.Join(h.File.Flock(fsfake.LOCK_UN), h.File.Close(), t.Unlink(lock))
		},
	}
}
