package gateguard

import (
	"strings"

	"lockpick/model"
	"lockpick/scenarios"
)

// The threads.
const (
	issue = "https://github.com/affaan-m/ECC/issues/1441"
	fix   = "https://github.com/affaan-m/ECC/pull/1623"
)

// A gate is one way of keeping the set of keys.
type gate struct {
	mark  func(t *scenarios.Task, key string)
	check func(t *scenarios.Task, key string) bool
}

// seeded is the key that an old state file holds.
const seeded = "seed"

// Scenarios lists the scenarios of the GateGuard state file.
func Scenarios() []scenarios.Scenario {
	wedge := scenarios.Wedge
	lost := func(v scenarios.Verdict) scenarios.Claim {
		return scenarios.Claim{Property: scenarios.LostUpdate, Verdict: v}
	}
	list := []scenarios.Scenario{
		{
			ID:      "gateguard/rmw/contend",
			Summary: "The whole set is loaded, one key added, and the whole set saved.",
			Report:  issue, Source: originalSource,
			Setting: scenarios.Setting{Processes: 2},
			Program: each(original),
			Claims:  []scenarios.Claim{lost(scenarios.Broken)},
		},
		{
			ID:      "gateguard/heartbeat/contend",
			Summary: "One process only asks for a key, and writes the set it has read back to refresh its time.",
			Report:  issue, Source: originalSource,
			Setting: scenarios.Setting{Processes: 2, Fixed: true},
			Setup:   setup(2*readHeartbeat, seeded),
			Program: roles(readSeeded(original), marker(original)),
			Claims:  []scenarios.Claim{lost(scenarios.Broken)},
		},
		{
			ID:      "gateguard/merge-save/contend",
			Summary: "Before a save the set on disk is read again, and united with one's own.",
			Report:  fix, Source: mergeSource,
			Setting: scenarios.Setting{Processes: 2},
			Program: each(merged),
			Claims:  []scenarios.Claim{lost(scenarios.Broken)},
		},
		{
			ID:      "gateguard/expiry-unlink/contend",
			Summary: "One process only asks for a key, and unlinks the state file it has found expired.",
			Report:  fix, Source: originalSource,
			Setting: scenarios.Setting{Processes: 2, Fixed: true},
			Setup:   setup(2*sessionTimeout, seeded),
			Program: roles(readSeeded(merged), marker(merged)),
			Claims:  []scenarios.Claim{lost(scenarios.Broken)},
		},
		{
			ID:      "gateguard/flock-rmw/crash",
			Summary: "Load to save under flock on a permanent file, and one process may be killed.",
			Report:  issue, Source: lockedSource,
			Setting: scenarios.Setting{Processes: 3, Crashes: 1},
			Program: each(under(flock)),
			Probe:   scenarios.Attempt(flock),
			Claims: []scenarios.Claim{
				lost(scenarios.Holds), {Property: wedge, Verdict: scenarios.Holds},
			},
		},
		{
			ID:      "gateguard/excl-rmw/contend",
			Summary: "Load to save under a sentinel file, which others poll for.",
			Report:  issue, Source: lockedSource,
			Setting: scenarios.Setting{Processes: 3},
			Program: each(under(excl)),
			Claims:  []scenarios.Claim{lost(scenarios.Holds)},
		},
		{
			ID:      "gateguard/excl-rmw/crash",
			Summary: "Load to save under a sentinel file, and one process may be killed.",
			Report:  issue, Source: lockedSource,
			Setting: scenarios.Setting{Processes: 2, Crashes: 1},
			Program: each(under(excl)),
			Probe:   scenarios.Attempt(excl),
			Claims:  []scenarios.Claim{{Property: wedge, Verdict: scenarios.Broken}},
		},
		{
			ID:      "gateguard/lease-rmw/contend",
			Summary: "Load to save under a lease of ten seconds, and nobody takes that long.",
			Report:  issue, Source: leaseSource,
			Setting: scenarios.Setting{Processes: 2},
			Program: each(under(lease)),
			Claims:  []scenarios.Claim{lost(scenarios.Holds)},
		},
		{
			ID:      "gateguard/lease-rmw/stall",
			Summary: "Load to save under a lease of ten seconds, and one pause may take longer.",
			Report:  issue, Source: leaseSource,
			Setting: scenarios.Setting{Processes: 2, Stalls: 1, StallFor: 2 * leaseTime},
			Program: each(under(lease)),
			Claims:  []scenarios.Claim{lost(scenarios.Broken)},
		},
		{
			ID:      "gateguard/key-files/contend",
			Summary: "One file per key, created in one call: nothing is read, modified and written.",
			Report:  issue, Source: keyFilesSource,
			Setting: scenarios.Setting{Processes: 3},
			Program: each(keyFiles),
			Claims:  []scenarios.Claim{lost(scenarios.Holds)},
		},
	}
	for i := range list {
		s := &list[i]
		if s.Setup == nil {
			s.Setup = setup(0)
		}
		s.Watch = watch(s.Variant())
	}
	return list
}

// watch lists the files of a variant that a timeline shows.
func watch(variant string) []string {
	switch variant {
	case "flock-rmw", "excl-rmw":
		return []string{lockPath, statePath}
	case "lease-rmw":
		return []string{leaseDir + "/1", leaseDir + "/2", statePath}
	case "key-files":
		return []string{keyDir + "/a", keyDir + "/b", keyDir + "/c"}
	}
	return []string{statePath}
}

// marker marks the process's own key, and then asks for it.
func marker(g gate) scenarios.Program {
	return func(t *scenarios.Task) {
		key := strings.ToLower(t.Process)
		scenarios.Record(t, model.Add{Key: key}, func() model.Added {
			g.mark(t, key)
			return model.Added{}
		})
		scenarios.Record(t, model.Contains{Key: key}, func() model.Found {
			return model.Found{Yes: g.check(t, key)}
		})
	}
}

// readSeeded asks for the key that was there before the history begins, and adds
// nothing: a tool call about a file that was asked about before.
func readSeeded(g gate) scenarios.Program {
	return func(t *scenarios.Task) { g.check(t, seeded) }
}

// each lets every process mark a key and ask for it.
func each(g gate) func(process, task int) scenarios.Program {
	return func(int, int) scenarios.Program { return marker(g) }
}

// roles gives every process its own program.
func roles(programs ...scenarios.Program) func(process, task int) scenarios.Program {
	return func(process, _ int) scenarios.Program { return programs[process] }
}
