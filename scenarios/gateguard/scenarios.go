package gateguard

import (
	"strings"
	"time"

	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
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
	lost, wedge := scenarios.LostUpdate, scenarios.Wedge
	procs := func(n, crashes int) scenarios.Setting { return scenarios.Setting{Processes: n, Crashes: crashes} }
	roles := func(sc scenarios.Scenario, age time.Duration, programs ...scenarios.Program) scenarios.Scenario {
		sc.Setting.Fixed, sc.Setup = true, setup(age, seeded)
		sc.Program = func(process, _ int) scenarios.Program { return programs[process] }
		return sc
	}
	probed := func(sc scenarios.Scenario, l scenarios.Protocol) scenarios.Scenario {
		sc.Probe = scenarios.Attempt(l)
		return sc
	}
	return []scenarios.Scenario{
		row("rmw/contend", "The whole set is loaded, one key added, and the whole set saved.",
			issue, "original.go", procs(2, 0), original, kit.Broken(lost)),
		roles(row("heartbeat/contend",
			"One process only asks for a key, and writes the set it has read back to refresh its time.",
			issue, "original.go", procs(2, 0), original, kit.Broken(lost)),
			2*readHeartbeat, readSeeded(original), marker(original)),
		row("merge-save/contend", "Before a save the set on disk is read again, and united with one's own.",
			fix, "merge.go", procs(2, 0), merged, kit.Broken(lost)),
		roles(row("expiry-unlink/contend",
			"One process only asks for a key, and unlinks the state file it has found expired.",
			fix, "original.go", procs(2, 0), merged, kit.Broken(lost)),
			2*sessionTimeout, readSeeded(merged), marker(merged)),
		probed(row("flock-rmw/crash", "Load to save under flock on a permanent file, and one process may be killed.",
			issue, "locked.go", procs(3, 1), under(flock), kit.Holds(lost, wedge)), flock),
		row("excl-rmw/contend", "Load to save under a sentinel file, which others poll for.",
			issue, "locked.go", procs(3, 0), under(excl), kit.Holds(lost)),
		probed(row("excl-rmw/crash", "Load to save under a sentinel file, and one process may be killed.",
			issue, "locked.go", procs(2, 1), under(excl), kit.Broken(wedge)), excl),
		row("lease-rmw/contend", "Load to save under a lease of ten seconds, and nobody takes that long.",
			issue, "lease.go", procs(2, 0), under(lease), kit.Holds(lost)),
		row("lease-rmw/stall", "Load to save under a lease of ten seconds, and one pause may take longer.",
			issue, "lease.go", scenarios.Setting{Processes: 2, Stalls: 1, StallFor: 2 * leaseTime}, under(lease),
			kit.Broken(lost)),
		row("key-files/contend", "One file per key, created in one call: nothing is read, modified and written.",
			issue, "keyfiles.go", procs(3, 0), keyFiles, kit.Holds(lost)),
	}
}

// row is a variant in a situation: every process marks a key and asks for it.
func row(id, does, report, source string, st scenarios.Setting, g gate, claims []scenarios.Claim) scenarios.Scenario {
	sc := scenarios.Scenario{
		ID: "gateguard/" + id, Summary: does, Report: report, Source: kit.Text(files, source), Setting: st, Claims: claims,
		Setup:   setup(0),
		Program: func(int, int) scenarios.Program { return marker(g) },
	}
	sc.Watch = watch(sc.Variant())
	return sc
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
