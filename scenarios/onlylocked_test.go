package scenarios_test

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
)

// A lock that is taken by mkdir and a file in it, and given back in two calls: whoever comes between them gets an error
// that is no refusal.
func twoCalls() scenarios.Protocol {
	return scenarios.Protocol{
		Path: "/l",
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if err := t.Mkdir("/l", 0o777); err != nil {
				return scenarios.Hold{}, scenarios.ErrLocked
			}
			return scenarios.Hold{}, t.WriteFile("/l/pid", nil, 0o666)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			_ = t.Unlink("/l/pid")
			return t.Rmdir("/l")
		},
	}
}

func asserted(t *testing.T, l scenarios.Protocol, other scenarios.Program) checker.Result {
	t.Helper()
	sc := scenarios.Scenario{
		ID: "test/only-locked/two", Setting: scenarios.Setting{Processes: 2, Fixed: true},
		Program: func(process, _ int) scenarios.Program {
			if process == 1 && other != nil {
				return other
			}
			return scenarios.Once(l)
		},
		Claims: []scenarios.Claim{{Property: scenarios.Assertion, Verdict: scenarios.Holds}},
	}
	r, err := checker.Check(context.Background(), &sc, scenarios.Assertion, checker.Options{})
	require.NoError(t, err)
	return r
}

func TestOnlyLocked(t *testing.T) {
	require.Equal(t, scenarios.Holds, asserted(t, scenarios.OnlyLocked(twoCalls()), nil).Verdict)

	sweeps := func(t *scenarios.Task) { _ = t.Rmdir("/l") }
	r := asserted(t, scenarios.OnlyLocked(twoCalls()), sweeps)
	require.Equal(t, scenarios.Broken, r.Verdict)
	require.Contains(t, r.Counterexample.Cause, "an acquisition fails only as another has the lock: open /l/pid")

	l := twoCalls()
	l.Release = func(t *scenarios.Task, _ scenarios.Hold) error {
		_ = t.Rmdir("/l")
		return os.ErrClosed
	}
	r = asserted(t, scenarios.OnlyLocked(l), nil)
	require.Equal(t, scenarios.Broken, r.Verdict)
	require.Contains(t, r.Counterexample.Cause, "a release does not fail: file already closed")
}
