package aside

import (
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// altimateCode is the lock directory of AltimateAI/altimate-code (TypeScript): one without
// owner.json is stale, and every one is without it at first.
func altimateCode() []scenarios.Scenario {
	const lock = "/home/user/.altimate/local.lock"
	sys := kit.System{Name: "altimate-code", Lock: lock, Source: kit.Text(files, "altimatecode.go"),
		Report: "https://github.com/AltimateAI/altimate-code/pull/1163"}
	release := func(t *scenarios.Task) error { return removeTree(t, lock, "owner.json") }
	l := directory(lock, func(t *scenarios.Task) error { return kit.Replace(t, lock+"/owner.json", kit.Me(t)) }, func(t *scenarios.Task) bool {
		text, err := kit.ReadAll(t, lock+"/owner.json")
		if pid := kit.PidIn(text); err == nil && pid != 0 && !kit.Gone(t, pid) {
			return false
		}
		_ = release(t)
		return true
	}, release)
	return sys.Scenarios(kit.Row{
		ID: "no-owner-is-stale/contend", Does: "A directory without owner.json is removed, also one that is being filled.",
		Lock: l, In: kit.In(kit.Contend(2)), Claims: kit.Broken(scenarios.MutualExclusion), Watch: []string{lock + "/owner.json"},
	})
}
