package checker

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// twoLocks takes two kernel locks in an order, and keeps them until the process ends.
func twoLocks(first, second string) scenarios.Program {
	return func(t *scenarios.Task) {
		for _, name := range []string{first, second} {
			f, err := t.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o644)
			if err != nil || f.Flock(fsfake.LOCK_EX) != nil {
				return
			}
		}
	}
}

// Two locks in opposite orders deadlock; in one order they do not.
func TestDeadlock(t *testing.T) {
	sc := fixtures.New("toy/two-locks/opposite", fixtures.Flock(), scenarios.Setting{Processes: 2, Fixed: true},
		scenarios.Claim{Property: scenarios.Deadlock, Verdict: Broken})
	sc.Program = func(process, _ int) scenarios.Program {
		if process == 0 {
			return twoLocks("/a", "/b")
		}
		return twoLocks("/b", "/a")
	}
	for _, engine := range engines(t) {
		r, err := Check(t.Context(), sc, scenarios.Deadlock, Options{oracle: engine})
		require.NoError(t, err)
		require.Equal(t, Broken, r.Verdict)
		require.Len(t, r.Counterexample.Waits, 2)
		require.Equal(t, 1, r.Counterexample.Cost.Preemptions, r.Counterexample.Schedule)
	}

	sc.ID = "toy/two-locks/same"
	sc.Program = func(int, int) scenarios.Program { return twoLocks("/a", "/b") }
	for _, engine := range engines(t) {
		r, err := Check(t.Context(), sc, scenarios.Deadlock, Options{oracle: engine})
		require.NoError(t, err)
		require.Equal(t, Holds, r.Verdict, r.Why)
		require.Positive(t, r.Stats.Contended, "somebody did wait")
	}
}
