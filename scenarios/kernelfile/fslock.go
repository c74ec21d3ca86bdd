package kernelfile

import (
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// fslock is brunoczim/fslock (Rust): lockf(3), which is fcntl's. The holder reads the locked
// file, and the close of that descriptor drops the lock. flock(2) is proposed.
func fslock() []scenarios.Scenario {
	const lock = "/tmp/fslock.lock"
	sys := kit.System{Name: "fslock", Lock: lock, Source: kit.Text(files, "fslock.go"),
		Report: "https://github.com/brunoczim/fslock/issues/6"}
	protocol := func(record bool) scenarios.Protocol {
		return scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o666)
				if err != nil {
					return kit.Failed(err)
				}
				if record {
					err = f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, true)
				} else {
					err = f.Flock(fsfake.LOCK_EX)
				}
				return scenarios.Hold{File: f}, err
			},
			Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
		}
	}
	reads := func(record bool) []kit.Situation {
		l := protocol(record)
		reader := func(t *scenarios.Task) {
			_ = scenarios.Locked(t, l, func() { _, _ = kit.ReadAll(t, lock); t.Work() })
		}
		return kit.In(kit.Roles(reader, scenarios.Once(l)))
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "lockf/reads", Does: "The holder reads its locked file through another descriptor, and closes it.", Lock: protocol(true), In: reads(true), Claims: kit.Broken(me)},
		kit.Row{ID: "lockf/contend", Does: "The same, and nobody reads.", Lock: protocol(true), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(me)},
		kit.Row{ID: "flock/reads", Does: "An flock belongs to the open file description, and stays.", Lock: protocol(false), In: reads(false), Claims: kit.Holds(me)},
	)
}
