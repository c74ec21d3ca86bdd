package engine

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// The processes use their pids, so they are not alike as they stand. What another worker learns beside the
// one that finds it out is alike all the same: it must not say that they differ where they do not.
func TestLearnedBesideAPid(t *testing.T) {
	sc := &scenarios.Scenario{
		ID:      "mine/pid/contend",
		Setting: scenarios.Setting{Processes: 3, Interchangeable: true},
		Program: func(int, int) scenarios.Program {
			return func(t *scenarios.Task) {
				if _, err := t.Stat("/tmp/lock"); err == nil {
					_ = t.Kill(t.Getpid())
				}
				_ = t.Mkdir("/tmp/lock", 0o755)
			}
		},
		Claims: []scenarios.Claim{{Property: scenarios.Deadlock, Verdict: scenarios.Holds}},
	}
	x, err := NewSpace(sc, scenarios.Deadlock)
	require.NoError(t, err)
	require.NoError(t, x.Symmetric())
	_, err = x.learn(0, learn.Start, x.machines.result(x.machines.resultID(fsfake.Result{})))
	require.ErrorContains(t, err, "asks for its own pid")
	_, err = x.learn(0, learn.Start, x.machines.result(x.machines.resultID(fsfake.Result{Errno: fsfake.ENOENT})))
	require.NoError(t, err)
}
