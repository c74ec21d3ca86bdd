package reclaim

import (
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// ihub is the scheduler's lock of intrafind/ihub-apps (JavaScript): a look, and then a
// private file that is renamed to the name. The review proposes to read it back.
func ihub() []scenarios.Scenario {
	const lock = "/srv/ihub/scheduler.lock"
	sys := kit.System{Name: "ihub", Lock: lock, Source: kit.Text(files, "ihub.go"),
		Report: "https://github.com/intrafind/ihub-apps/pull/1647"}
	protocol := func(readBack bool) scenarios.Protocol {
		return scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				if pid := owner(t, lock); pid != 0 && !kit.Gone(t, pid) {
					return kit.Locked()
				}
				private, err := kit.Private(t, lock, kit.Me(t))
				if err == nil {
					err = t.Rename2(private, lock, 0)
				}
				if err == nil && readBack && owner(t, lock) != t.Getpid() {
					err = scenarios.ErrLocked
				}
				return scenarios.Hold{}, err
			},
			Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
		}
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "rename/contend", Does: "Two see no lock, and rename their own to the name one after the other.", Lock: protocol(false), In: kit.In(kit.Contend(2)), Claims: kit.Broken(me)},
		kit.Row{ID: "rename-read-back/contend", Does: "The proposed repair: who reads his own text back may be overwritten after that.", Lock: protocol(true), In: kit.In(kit.Contend(2)), Claims: kit.Broken(me)},
	)
}
