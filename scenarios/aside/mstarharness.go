package aside

import (
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// mstarHarness is the register's lock in btspoony/mstar-harness (Python): renamed away,
// looked at, and renamed back if it is fresh; if the name is taken by then, the fresh one is
// thrown away. A rename onto an empty directory replaces it.
func mstarHarness() []scenarios.Scenario {
	const lock, tooOld = "/srv/audit/register.lock", time.Minute
	sys := kit.System{Name: "mstar-harness", Lock: lock, Source: kit.Text(files, "mstarharness.go"),
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
	return sys.Scenarios(kit.Row{
		ID: "restore-fresh/dead-owner", Does: "A live directory is renamed back over the one that a third contender has made.",
		Lock: l, In: kit.In(kit.Contend(3), kit.DeadDirectory()), Claims: kit.Broken(scenarios.MutualExclusion),
	})
}
