package reclaim

import (
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// h2 is the lock file of H2, a database (Java), as the method FILE has it. A file that was not changed for two seconds
// is taken over: written, looked at after a while, removed and made anew. The owner's watchdog writes it each 100 ms,
// and is left out here: whoever finds a fresh file gives up, as the original does after four seconds.
func h2() []scenarios.Scenario {
	const lock, fresh, gap = "/srv/db/test.lock.db", 2 * time.Second, 25 * time.Millisecond
	sys := kit.System{Name: "h2", Lock: lock, Source: kit.Part(files, "h2"),
		Report: kit.At("h2database/h2database", "010967bda0d96eb94967878009038a225bb78a94",
			"h2/src/main/org/h2/store/FileLock.java")}
	mine := func(t *scenarios.Task) bool { return owner(t, lock) == t.Getpid() }
	l := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if err := kit.Create(t, lock, ""); kit.Exists(err) {
				if !old(t, lock, fresh) {
					return kit.Locked()
				}
				_ = owner(t, lock) // for the method that it names
				if err := kit.Replace(t, lock, kit.Me(t)); err != nil {
					return kit.Failed(err)
				}
				t.Sleep(8 * gap)
				if !mine(t) {
					return kit.Locked()
				}
				_ = t.Unlink(lock)
				if kit.Create(t, lock, "") != nil {
					return kit.Locked()
				}
			}
			if err := kit.Replace(t, lock, kit.Me(t)); err != nil {
				return kit.Failed(err)
			}
			if t.Sleep(gap); !mine(t) {
				return kit.Locked()
			}
			return scenarios.Hold{}, nil
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			if mine(t) {
				return t.Unlink(lock)
			}
			return nil
		},
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "write-and-look/contend", Lock: l,
			Does: "Where no file is there, one makes it, and the others find it fresh.",
			In:   kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(me)},
		kit.Row{ID: "write-and-look/dead-owner", Does: "Whoever stops between its look at the age and its write " +
			"writes over the lock of who was faster, and finds its own text.",
			Lock: l, In: deadOwner(2), Alike: true, Claims: kit.Broken(me)},
	)
}
