package reclaim

import (
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// invoker is the worker lock of Neko-Catpital-Labs/Invoker (TypeScript): what cannot be
// parsed is stale, and every lock is empty at first.
func invoker() []scenarios.Scenario {
	const lock = "/home/user/.invoker/worker.lock"
	sys := kit.System{Name: "invoker", Lock: lock, Source: kit.Text(files, "invoker.go"),
		Report: "https://github.com/Neko-Catpital-Labs/Invoker/pull/2196"}
	l := exclusive(lock, func(t *scenarios.Task) next {
		if pid := owner(t, lock); pid != 0 && !kit.Gone(t, pid) {
			return refuse
		}
		_ = t.Unlink(lock)
		return again
	})
	return sys.Scenarios(
		kit.Row{
			ID: "corrupt-is-stale/contend", Does: "A lock that cannot be parsed is removed, also one that is being written.",
			Lock: l, In: kit.In(kit.Contend(2)), Claims: kit.Broken(scenarios.MutualExclusion),
		},
		kit.Row{
			ID: "corrupt-is-stale/dead-owner", Does: "The lock of a dead process is unlinked, whatever it is by then.",
			Lock: l, In: deadOwner(2), Claims: kit.Broken(scenarios.MutualExclusion),
		},
	)
}
