package reclaim

import (
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// factoryFactory is the file lock of purplefish-ai/factory-factory (TypeScript): an old lock
// is removed if a second stat shows the same inode; later it has an id in its text (the pid
// here), is claimed by a rename, looked at, and given back by a link, which overwrites nothing.
// The id is read before the age; the other way round two contenders suffice.
func factoryFactory() []scenarios.Scenario {
	const lock, pulls, tooOld = "/home/user/.factory/resume.lock", "https://github.com/purplefish-ai/factory-factory/pull/", 5 * time.Second
	sys := kit.System{Name: "factory-factory", Lock: lock, Source: kit.Text(files, "factoryfactory.go"),
		Report: pulls + "866"}
	inode := exclusive(lock, func(t *scenarios.Task) next {
		judged, err := t.Stat(lock)
		if err != nil || !kit.Older(t, judged, tooOld) {
			return wait
		}
		if now, err := t.Stat(lock); err == nil && fsfake.SameFile(now, judged) {
			_ = t.Unlink(lock)
		}
		return again
	})
	claim := exclusive(lock, func(t *scenarios.Task) next {
		id := owner(t, lock)
		if !old(t, lock, tooOld) {
			return wait
		}
		aside := kit.PrivateName(t, lock+".claimed")
		if t.Rename2(lock, aside, 0) != nil {
			return again
		}
		if owner(t, aside) != id {
			_ = t.Link(aside, lock)
		}
		_ = t.Unlink(aside)
		return again
	})
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "same-inode/dead-owner", Does: "The look at the inode and the unlink are two calls.", Lock: inode, In: deadOwner(2), Claims: kit.Broken(me)},
		kit.Row{
			ID: "claim-and-restore/pair", Does: "A live lock that was moved is linked back: two contenders.", Report: pulls + "1642",
			Lock: claim, In: deadOwner(2), Claims: kit.Holds(me),
		},
		kit.Row{
			ID: "claim-and-restore/dead-owner", Does: "While a live lock is aside, a third contender takes its name.", Report: pulls + "1642",
			Lock: claim, In: deadOwner(3), Claims: kit.Broken(me),
		},
	)
}
