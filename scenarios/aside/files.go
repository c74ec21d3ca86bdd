package aside

import (
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// agentsInABox is the pid file of stevengonsalvez/agents-in-a-box (Rust): a dead owner's file
// was unlinked, and is renamed away since, "winner-take-all". Eight contenders were counted
// to have one winner in each of three runs.
func agentsInABox() []scenarios.Scenario {
	const lock = "/home/user/.beads/daemon.pid"
	sys := kit.System{Name: "agents-in-a-box", Lock: lock, Source: kit.Part(files, "agentsInABox"),
		Report: "https://github.com/stevengonsalvez/agents-in-a-box/pull/555"}
	protocol := func(reclaim func(t *scenarios.Task)) scenarios.Protocol {
		return scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				private, err := kit.Private(t, lock, kit.Me(t)) // it is published complete
				if err != nil {
					return kit.Failed(err)
				}
				for retry := t.Retry(); retry.Next(); {
					if err := t.Link(private, lock); !kit.Exists(err) {
						return scenarios.Hold{}, err
					}
					text, err := kit.ReadAll(t, lock)
					if err == nil && !kit.Gone(t, kit.PidIn(text)) {
						return kit.Locked()
					}
					if err == nil {
						reclaim(t)
					}
				}
				panic("unreachable")
			},
			Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
		}
	}
	unlink := protocol(func(t *scenarios.Task) { _ = t.Unlink(lock) })
	rename := protocol(func(t *scenarios.Task) {
		away := kit.PrivateName(t, lock+".dead")
		if t.Rename2(lock, away, 0) == nil {
			_ = t.Unlink(away)
		}
	})
	dead, me := kit.In(kit.Contend(2), kit.DeadOwner(kit.Dead)), scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "unlink-dead/dead-owner", Does: "A dead owner's file is unlinked, whatever it is by then.",
			Lock: unlink, In: dead, Claims: kit.Broken(me)},
		kit.Row{ID: "rename-dead/dead-owner",
			Does: "It is renamed away: one wins each file, and the second file is a living one's.", Lock: rename,
			In: dead, Claims: kit.Broken(me)},
	)
}

// mstarHarness is the register's lock in btspoony/mstar-harness (Python): renamed away,
// looked at, and renamed back if it is fresh; if the name is taken by then, the fresh one is
// thrown away. A rename onto an empty directory replaces it.
func mstarHarness() []scenarios.Scenario {
	const lock, tooOld = "/srv/audit/register.lock", time.Minute
	sys := kit.System{Name: "mstar-harness", Lock: lock, Source: kit.Part(files, "mstarHarness"),
		Report: "https://github.com/btspoony/mstar-harness/pull/150"}
	l := directory(lock, nil, func(t *scenarios.Task) bool {
		info, err := t.Stat(lock)
		if err != nil || !kit.Older(t, info, tooOld) {
			return false
		}
		stale := kit.PrivateName(t, lock+".stale")
		if t.Rename2(lock, stale, 0) != nil {
			return false
		}
		if now, err := t.Stat(stale); err == nil && !kit.Older(t, now, tooOld) && t.Rename2(stale, lock, 0) == nil {
			return false
		}
		_ = t.Rmdir(stale)
		return true
	}, func(t *scenarios.Task) error { return t.Rmdir(lock) })
	return sys.Scenarios(kit.Row{ID: "restore-fresh/dead-owner",
		Does: "A live directory is renamed back over the one that a third contender has made.", Lock: l,
		In: kit.In(kit.Contend(3), kit.DeadDirectory()), Claims: kit.Broken(scenarios.MutualExclusion)})
}
