package reclaim

import (
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// compactContracts is the run lock of OpenZeppelin/compact-contracts (TypeScript): a dead
// owner's lock is written over. The review proposes to unlink it and to create it again.
func compactContracts() []scenarios.Scenario {
	const lock = "/tmp/compact-live.lock"
	sys := kit.System{Name: "compact-contracts", Lock: lock, Source: kit.Text(files, "compactcontracts.go"),
		Report: "https://github.com/OpenZeppelin/compact-contracts/pull/717"}
	stale := func(then func(t *scenarios.Task) next) scenarios.Protocol {
		return exclusive(lock, func(t *scenarios.Task) next {
			if pid := owner(t, lock); pid != 0 && !kit.Gone(t, pid) {
				return refuse
			}
			return then(t)
		})
	}
	over := stale(func(t *scenarios.Task) next { _ = kit.Replace(t, lock, kit.Me(t)); return taken })
	anew := stale(func(t *scenarios.Task) next { _ = t.Unlink(lock); return again })
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{
			ID: "overwrite-stale/dead-owner", Does: "A dead owner's lock is written over, by everybody who found it dead.",
			Lock: over, In: deadOwner(2), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "overwrite-stale/contend", Does: "So is one that has no text yet: no dead owner is needed.",
			Lock: over, In: kit.In(kit.Contend(2)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "unlink-stale/dead-owner", Does: "The proposed repair, unlink and create: what is unlinked may be a living one's by then.",
			Lock: anew, In: deadOwner(2), Claims: kit.Broken(me),
		},
	)
}
