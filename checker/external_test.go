package checker

import (
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/scenarios"
)

// pollingFor is a lock file that is created or refused, by a loop that gives up after so
// many attempts; 0 is never. Only the endless loop can be marked.
func pollingFor(attempts int, marked bool) scenarios.Protocol {
	const lock = "/tmp/lock"
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			retry := t.Retry()
			for n := 0; attempts == 0 || n < attempts; n++ {
				if marked {
					retry.Next()
				}
				f, err := t.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
				if err == nil {
					return scenarios.Hold{}, f.Close()
				}
				if !errors.Is(err, fs.ErrExist) {
					return scenarios.Hold{}, err
				}
				t.Sleep(time.Second)
			}
			return scenarios.Hold{}, scenarios.ErrLocked
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
}

func external(l scenarios.Protocol, external bool) *scenarios.Scenario {
	return &scenarios.Scenario{
		ID: "test/external/contend", Setting: scenarios.Setting{Processes: 2}, External: external,
		Program: func(int, int) scenarios.Program { return scenarios.Once(l) },
		Claims:  []scenarios.Claim{{Property: scenarios.MutualExclusion, Verdict: Holds}},
	}
}

// A loop without marks is found, and leads back as a marked one does.
func TestUnmarkedLoopIsFound(t *testing.T) {
	marked, err := Check(t.Context(), external(pollingFor(0, true), false), scenarios.MutualExclusion, Options{Workers: 1})
	require.NoError(t, err)
	found, err := Check(t.Context(), external(pollingFor(0, false), true), scenarios.MutualExclusion, Options{Workers: 1})
	require.NoError(t, err)
	require.Equal(t, Holds, found.Verdict, found.Why)
	require.Contains(t, found.Conditions(), "assumes that a loop that has done the same 400 times goes on for ever")
	require.Empty(t, marked.Conditions())
	// A loop is known for one after its second round.
	require.Less(t, found.Stats.States, 3*marked.Stats.States)
	require.Less(t, found.Stats.Coroutines, found.Stats.Edges, "instances are kept at the frontier")
}

// A loop that gives up is followed to its end, not taken for an endless one.
func TestUnmarkedLoopThatGivesUp(t *testing.T) {
	edges := func(attempts int) int {
		r, err := Check(t.Context(), external(pollingFor(attempts, false), true), scenarios.MutualExclusion, Options{Workers: 1})
		require.NoError(t, err)
		require.Equal(t, Holds, r.Verdict, r.Why)
		return r.Stats.Edges
	}
	require.Equal(t, edges(7)+4*2*6, edges(11), "six calls of each of two tasks for each of four attempts more")
}

// What is written piece by piece is no loop.
func TestPiecesAreNoLoop(t *testing.T) {
	fixtures.OneWorker(t)
	sc := external(scenarios.Protocol{}, true)
	sc.Setting.Processes = 1
	sc.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) {
			f, err := t.Create("/tmp/f")
			for range 300 {
				_, err = f.WriteString("x")
			}
			_ = errors.Join(err, f.Close())
		}
	}
	r, err := Check(t.Context(), sc, scenarios.Deadlock, Options{Workers: 1})
	require.NoError(t, err)
	require.Equal(t, Holds, r.Verdict)
	require.GreaterOrEqual(t, r.Stats.States, 302)
}
