package reclaim

import (
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// claudeRemember is save.lock of Digital-Process-Tools/claude-remember (shell): written over,
// then removed, created and read back. The issue counts no double holder in 40 rounds with
// two contenders; two suffice.
func claudeRemember() []scenarios.Scenario {
	const lock, pulls = "/home/user/.remember/save.lock", "https://github.com/Digital-Process-Tools/claude-remember/"
	sys := kit.System{Name: "claude-remember", Lock: lock, Source: kit.Text(files, "clauderemember.go"),
		Report: pulls + "issues/182"}
	stale := func(then func(t *scenarios.Task) next) scenarios.Protocol {
		return exclusive(lock, func(t *scenarios.Task) next {
			if pid := owner(t, lock); pid == 0 || !kit.Gone(t, pid) {
				return refuse
			}
			return then(t)
		})
	}
	over := stale(func(t *scenarios.Task) next { _ = kit.Replace(t, lock, kit.Me(t)); return taken })
	verify := stale(func(t *scenarios.Task) next {
		_ = t.Unlink(lock)
		if kit.Create(t, lock, kit.Me(t)) != nil || owner(t, lock) != t.Getpid() {
			return refuse
		}
		return taken
	})
	return sys.Scenarios(
		kit.Row{
			ID: "overwrite/dead-owner", Does: "A dead owner's lock is written over.", Report: pulls + "pull/181",
			Lock: over, In: deadOwner(2), Claims: kit.Broken(scenarios.MutualExclusion),
		},
		kit.Row{
			ID: "recreate-and-verify/dead-owner", Does: "It is removed, created or refused, and read back: a later contender removes what was verified.",
			Lock: verify, In: deadOwner(2), Claims: kit.Broken(scenarios.MutualExclusion),
		},
	)
}
