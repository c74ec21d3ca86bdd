package reclaim

import (
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// celoRewards is the local store of a payout script in celo-org/celo-monorepo (Python): a
// lock that is old by the time that it tells is written over. The time is the file's here.
func celoRewards() []scenarios.Scenario {
	const lock = "/srv/usat/payout.lock"
	sys := kit.System{Name: "celo-rewards", Lock: lock, Source: kit.Text(files, "celorewards.go"),
		Report: "https://github.com/celo-org/celo-monorepo/pull/11790"}
	l := exclusive(lock, func(t *scenarios.Task) next {
		if !old(t, lock, time.Hour) {
			return refuse
		}
		_ = kit.Replace(t, lock, kit.Me(t))
		return taken
	})
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "overwrite-old/contend", Does: "Nobody is late: the lock is created or refused.", Lock: l, In: kit.In(kit.Contend(3)), Claims: kit.Holds(me)},
		kit.Row{ID: "overwrite-old/dead-owner", Does: "An old lock is written over, by everybody who found it old.", Lock: l, In: deadOwner(2), Claims: kit.Broken(me)},
	)
}
