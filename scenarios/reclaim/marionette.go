package reclaim

import (
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// marionette is the pid file of choria-legacy/marionette-collective (Ruby), as merged: the
// look comes first, and then an exclusive creation.
func marionette() []scenarios.Scenario {
	const lock = "/run/mcollective.pid"
	sys := kit.System{Name: "marionette-collective", Lock: lock, Source: kit.Text(files, "marionette.go"),
		Report: "https://github.com/choria-legacy/marionette-collective/pull/366"}
	l := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if text, err := kit.ReadAll(t, lock); err == nil {
				if pid := kit.PidIn(text); pid != 0 && !kit.Gone(t, pid) {
					return kit.Locked()
				}
				_ = t.Unlink(lock) // no pid in it, or a dead one
			}
			return scenarios.Hold{}, kit.Create(t, lock, kit.Me(t))
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
	return sys.Scenarios(
		kit.Row{
			ID: "look-then-exclusive/contend", Does: "A file without a pid is removed, also one that is being written.",
			Lock: l, In: kit.In(kit.Contend(2)), Claims: kit.Broken(scenarios.MutualExclusion),
		},
		kit.Row{
			ID: "look-then-exclusive/dead-owner", Does: "A dead owner's file is removed, whatever it is by then.",
			Lock: l, In: deadOwner(2), Claims: kit.Broken(scenarios.MutualExclusion),
		},
	)
}
