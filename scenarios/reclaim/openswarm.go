package reclaim

import (
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// openswarm is the lock of Intrect-io/OpenSwarm's task state (TypeScript). A container gives
// the daemon the same pid at every start, so a leftover looked alive for ever (75 minutes of
// outage); since then a lock older than ten minutes is free whoever has it. Bare pids wedge
// Signet-AI/signetai (issue 1926), getpaseo/paseo (5128) and elizaOS/eliza (11222) alike.
func openswarm() []scenarios.Scenario {
	const lock = "/data/task-state.json.lock"
	sys := kit.System{Name: "openswarm", Lock: lock, Source: kit.Text(files, "openswarm.go"),
		Report: "https://github.com/Intrect-io/OpenSwarm/pull/428"}
	protocol := func(age bool) scenarios.Protocol {
		return exclusive(lock, func(t *scenarios.Task) next {
			pid := owner(t, lock)
			if (pid == 0 || !kit.Gone(t, pid)) && !(age && old(t, lock, 10*time.Minute)) {
				return refuse
			}
			_ = t.Unlink(lock)
			return again
		})
	}
	recycled := kit.In(kit.Contend(1), kit.DeadOwner(kit.Dead), kit.Running(scenarios.DeadPid, 900), kit.Probe)
	return sys.Scenarios(
		kit.Row{ID: "pid-only/recycled-pid", Does: "The dead owner's pid is another process's: nobody ever gets in.", Lock: protocol(false), In: recycled, Claims: kit.Broken(scenarios.Wedge)},
		kit.Row{ID: "pid-or-age/recycled-pid", Does: "A lock older than ten minutes is free, whoever has its pid.", Lock: protocol(true), In: recycled, Claims: kit.Holds(scenarios.Wedge)},
		kit.Row{
			ID: "pid-or-age/stall", Does: "A holder that stands still for ten minutes is robbed while it lives.",
			Lock: protocol(true), In: kit.In(kit.Contend(2), kit.Stall(kit.LongAgo)), Claims: kit.Broken(scenarios.MutualExclusion),
		},
		kit.Row{ID: "pid-or-age/dead-owner", Does: "Two who judge it remove each other's.", Lock: protocol(true), In: deadOwner(2), Claims: kit.Broken(scenarios.MutualExclusion)},
	)
}
