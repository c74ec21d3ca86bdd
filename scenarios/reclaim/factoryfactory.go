package reclaim

import (
	_ "embed"
	"io/fs"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed factoryfactory.go
var factoryFactorySource string

// factoryFactory is the file lock of purplefish-ai/factory-factory (TypeScript): an old lock
// is removed if a second stat shows the same inode; later it is claimed by a rename, looked
// at, and given back by a link, which overwrites nothing.
func factoryFactory() []scenarios.Scenario {
	const lock, pulls, tooOld = "/home/user/.factory/resume.lock", "https://github.com/purplefish-ai/factory-factory/pull/", 5 * time.Second
	sys := kit.System{Name: "factory-factory", Lock: lock, Report: pulls + "866", Source: factoryFactorySource}
	stale := func(remove func(t *scenarios.Task, judged fs.FileInfo)) scenarios.Protocol {
		return exclusive(lock, func(t *scenarios.Task) next {
			judged, err := t.Stat(lock)
			if err != nil || !kit.Older(t, judged, tooOld) {
				return wait
			}
			remove(t, judged)
			return again
		})
	}
	inode := stale(func(t *scenarios.Task, judged fs.FileInfo) {
		if now, err := t.Stat(lock); err == nil && fsfake.SameFile(now, judged) {
			_ = t.Unlink(lock)
		}
	})
	claim := stale(func(t *scenarios.Task, judged fs.FileInfo) {
		aside := kit.PrivateName(t, lock+".claimed")
		if t.Rename2(lock, aside, 0) != nil {
			return
		}
		if now, err := t.Stat(aside); err == nil && !fsfake.SameFile(now, judged) {
			_ = t.Link(aside, lock)
		}
		_ = t.Unlink(aside)
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
