package aside

import (
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// demarkus is the lock directory of latebit-io/demarkus (Go): the pid is written after the
// directory is made, and a directory without one is never reclaimed.
func demarkus() []scenarios.Scenario {
	const lock = "/home/user/.demarkus/plugin.lock"
	sys := kit.System{Name: "demarkus", Lock: lock, Source: kit.Text(files, "demarkus.go"),
		Report: "https://github.com/latebit-io/demarkus/pull/302"}
	release := func(t *scenarios.Task) error { return removeTree(t, lock, "pid") }
	l := directory(lock, func(t *scenarios.Task) error { return kit.Replace(t, lock+"/pid", kit.Me(t)) }, func(t *scenarios.Task) bool {
		text, err := kit.ReadAll(t, lock+"/pid")
		if pid := kit.PidIn(text); err != nil || pid == 0 || !kit.Gone(t, pid) {
			return false
		}
		return release(t) == nil
	}, release)
	return sys.Scenarios(
		kit.Row{ID: "mkdir-then-pid/contend", Does: "A directory without a pid is in the making, and respected; nobody ever ends.", Lock: l, In: kit.In(kit.Contend(2), kit.Daemons), Claims: kit.Holds(scenarios.MutualExclusion)},
		kit.Row{ID: "mkdir-then-pid/crash", Does: "Who is killed before the pid is written leaves a directory that nobody ever reclaims.", Lock: l, In: kit.In(kit.Contend(2), kit.Kill(1)), Claims: kit.Broken(scenarios.Wedge)},
	)
}
