package engine

import (
	"testing"

	"lockpick/checker/internal/fixtures"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// Loops inside loops: live runs of programs that never end keep to the graph as well.
func TestLockstepForEver(t *testing.T) {
	testmain.Slow(t, "it compares each step of long runs", "./checker/internal/engine")
	fixtures.OneWorker(t)
	for id, l := range map[string]scenarios.Protocol{"toy/excl-wait/forever": fixtures.ExclWait(),
		"toy/flock/forever": fixtures.Flock()} {
		sc := fixtures.Programs(id, scenarios.Setting{Processes: 2, Crashes: 1}, fixtures.Same(func(t *scenarios.Task) {
			for again := t.Retry(); again.Next(); {
				_ = scenarios.Locked(t, l, func() { t.Work() })
			}
		}), scenarios.Claim{Property: scenarios.Starvation})
		for _, p := range []*scenarios.Property{scenarios.Deadlock, scenarios.MutualExclusion} {
			t.Run(id+"/"+p.ID, func(t *testing.T) { lockstepRuns(t, *sc, p, 1000) })
		}
	}
}
