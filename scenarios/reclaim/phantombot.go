package reclaim

import (
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// phantombot is the run lock of phantomyard/phantombot (TypeScript). The pull request closes
// the race of the empty file; its reviewers found the one of the stale file, which is left.
func phantombot() []scenarios.Scenario {
	const lock = "/home/user/.phantombot/run.lock"
	sys := kit.System{Name: "phantombot-runlock", Lock: lock, Source: kit.Text(files, "phantombot.go"),
		Report: "https://github.com/phantomyard/phantombot/pull/356"}
	l := exclusive(lock, func(t *scenarios.Task) next {
		pid := owner(t, lock)
		if pid == 0 || !kit.Gone(t, pid) { // an empty file is in the making
			return refuse
		}
		_ = t.Unlink(lock)
		return again
	})
	return sys.Scenarios(
		kit.Row{
			ID: "unlink-then-create/contend", Does: "An empty lock is in the making and respected; nobody has died.",
			Lock: l, In: kit.In(kit.Contend(3), kit.Daemons), Claims: kit.Holds(scenarios.MutualExclusion),
		},
		kit.Row{
			ID: "unlink-then-create/dead-owner", Does: "The lock of a dead process is unlinked, and then created.",
			Lock: l, In: deadOwner(2), Claims: kit.Broken(scenarios.MutualExclusion),
		},
	)
}
