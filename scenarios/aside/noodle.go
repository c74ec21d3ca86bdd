package aside

import (
	"slices"
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// noodle is the lock directory of wilfredinni/noodle (TypeScript): an old one is renamed to
// a unique name, and removed there.
func noodle() []scenarios.Scenario {
	const lock = "/home/user/.noodle/secrets.lock"
	sys := kit.System{Name: "noodle", Lock: lock, Source: kit.Text(files, "noodle.go"),
		Report: "https://github.com/wilfredinni/noodle/pull/230"}
	l := directory(lock, nil, func(t *scenarios.Task) bool {
		info, err := t.Stat(lock)
		if err != nil || !kit.Older(t, info, 30*time.Second) {
			return false
		}
		stale := kit.PrivateName(t, lock+".stale")
		if t.Rename2(lock, stale, 0) == nil {
			_ = t.Rmdir(stale)
		}
		return true
	}, func(t *scenarios.Task) error { return t.Rmdir(lock) })
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "rename-old/contend", Does: "Nobody is late: the directory is made or waited for.", Lock: l, In: kit.In(kit.Contend(3)), Claims: kit.Holds(me)},
		kit.Row{ID: "rename-old/dead-owner", Does: "An old directory is renamed away, and by then it may be a new one.", Lock: l, In: kit.In(kit.Contend(2), kit.DeadDirectory()), Claims: kit.Broken(me)},
		kit.Row{
			ID: "rename-old/stall", Does: "A holder that stands still for longer than 30 s goes on beside its successor.",
			Lock: l, In: kit.In(kit.Contend(2), kit.Stall(kit.LongAgo)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "rename-old/crash", Does: "A holder that is killed keeps everybody out until its directory is 30 s old.",
			Lock: l, In: kit.In(kit.Contend(2), kit.Kill(1)),
			Claims: slices.Concat(kit.Holds(scenarios.Wedge, scenarios.WedgeWithin(31*time.Second)), kit.Broken(scenarios.WedgeWithin(29*time.Second))),
		},
	)
}
