package aside

import (
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// properLockfile2 is bybraveHQ/proper-lockfile2, a fork that repairs the takeover of
// proper-lockfile: a stale directory is claimed by a rename to a unique name, and its time
// looked at there. What becomes of a live one is not told; here it is renamed back.
func properLockfile2() []scenarios.Scenario {
	const lock = "/srv/app/data.lock"
	sys := kit.System{Name: "proper-lockfile2", Lock: lock, Source: kit.Text(files, "properlockfile2.go"),
		Report: "https://github.com/moxystudio/node-proper-lockfile/issues/121"}
	l := directory(lock, nil, func(t *scenarios.Task) bool {
		judged, err := t.Stat(lock)
		if err != nil || !kit.Older(t, judged, 10*time.Second) {
			return false
		}
		claimed := kit.PrivateName(t, lock+".claimed")
		if t.Rename2(lock, claimed, 0) != nil {
			return true
		}
		if now, err := t.Stat(claimed); err == nil && !now.ModTime().Equal(judged.ModTime()) {
			_ = t.Rename2(claimed, lock, 0)
			return false
		}
		_ = t.Rmdir(claimed)
		return true
	}, func(t *scenarios.Task) error { return t.Rmdir(lock) })
	me := scenarios.MutualExclusion
	dead := kit.DeadDirectory()
	return sys.Scenarios(
		kit.Row{ID: "claim-by-rename/pair", Does: "A live directory that was moved is renamed back: two contenders.", Lock: l, In: kit.In(kit.Contend(2), dead), Claims: kit.Holds(me)},
		kit.Row{ID: "claim-by-rename/dead-owner", Does: "While it is away a third contender makes its own.", Lock: l, In: kit.In(kit.Contend(3), dead), Claims: kit.Broken(me)},
	)
}
