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
	for _, sc := range fixtures.ForeverToys() {
		for _, p := range []*scenarios.Property{scenarios.Deadlock, scenarios.MutualExclusion} {
			sc.Setting.Crashes = 1
			t.Run(sc.ID+"/"+p.ID, func(t *testing.T) { lockstepRuns(t, *sc, p, 1000) })
		}
	}
}
