package reclaim

import (
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// khive is the pid file of ohdearquant/khive's daemon (Rust): an old daemon that is still
// draining removes the file of its replacement when it ends.
func khive() []scenarios.Scenario {
	const lock = "/home/user/.khive/daemon.pid"
	sys := kit.System{Name: "khive", Lock: lock, Source: kit.Text(files, "khive.go"),
		Report: "https://github.com/ohdearquant/khive/issues/645"}
	replacement := scenarios.Protocol{ // the recovery has judged the old daemon stale
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			_ = t.Unlink(lock)
			return scenarios.Hold{}, kit.Create(t, lock, kit.Me(t))
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
	ends := func(checked bool) []kit.Situation {
		late := kit.Late(func(t *scenarios.Task) {
			if !checked || owner(t, lock) == t.Getpid() {
				_ = t.Unlink(lock)
			}
		})
		return kit.In(kit.Roles(late, scenarios.Once(replacement)), kit.DeadOwner(kit.PidText(scenarios.Pid(0))))
	}
	return sys.Scenarios(
		kit.Row{ID: "unlink-at-end/late-exit", Does: "The old daemon removes whatever stands at the name.", Lock: replacement, In: ends(false), Claims: kit.Broken(scenarios.ForeignRelease)},
		kit.Row{ID: "unlink-own-at-end/late-exit", Does: "It looks for its own pid first, and that is another call.", Lock: replacement, In: ends(true), Claims: kit.Broken(scenarios.ForeignRelease)},
	)
}
