package kernelfile

import (
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// ilock is symonsoft/ilock (Python, ilock/__init__.py): flock on a file that is unlinked, and
// then closed.
func ilock() []scenarios.Scenario {
	const lock = "/dev/shm/ilock.lock"
	sys := kit.System{Name: "ilock", Lock: lock, Source: kit.Text(files, "ilock.go"),
		Report: "https://github.com/symonsoft/ilock/issues/11"}
	return sys.Scenarios(
		kit.Row{
			ID: "unlink-then-close/contend", Does: "The file is unlinked while it is locked: a waiter that has it open locks it next.",
			Lock: unlinking(lock, false), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion),
		},
	)
}

// unlinking is an flock on a file that its holder unlinks and then closes. waits: in the
// kernel, and not by trying again.
func unlinking(lock string, waits bool) scenarios.Protocol {
	how := fsfake.LOCK_EX | fsfake.LOCK_NB
	if waits {
		how = fsfake.LOCK_EX
	}
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				if f, err := kit.OpenFlock(t, lock, os.O_WRONLY|os.O_TRUNC, how); err == nil {
					return kit.Held(f)
				}
				t.Sleep(kit.Poll)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			return errors.Join(t.Unlink(lock), h.File.Close())
		},
	}
}
