package cli

import (
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// The command ends within seconds when a program runs on without a call, and says which, where, and
// what to do instead.
func TestMainEndsWhatRunsOn(t *testing.T) {
	testmain.Slow(t, "it waits for programs that do not end", "./checker/cli")
	t.Parallel()
	const inside = "LOCKPICK_RUNS_ON"
	if os.Getenv(inside) != "" {
		os.Args = []string{"lockpick", "check"}
		Main([]scenarios.Scenario{{
			ID: "toy/hangs/contend", Setting: scenarios.Setting{Processes: 2},
			Claims: []scenarios.Claim{{Property: scenarios.MutualExclusion, Verdict: scenarios.Holds}},
			Program: func(int, int) scenarios.Program {
				return func(t *scenarios.Task) {
					_, _ = t.Acquire("/lock", func() (scenarios.Hold, error) {
						t.Work()
						select {} // it waits for what no call is
					})
				}
			},
		}})
	}
	exe, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), exe, "-test.run", "^"+t.Name()+"$")
	cmd.Env = append(os.Environ(), inside+"=1")
	out, err := cmd.CombinedOutput()
	require.Error(t, err)
	require.Equal(t, ExitUsage, cmd.ProcessState.ExitCode(), string(out))
	for _, said := range []string{"task A of toy/hangs/contend runs on without a call", "watchdog_test.go:", `after its call "work"`, "t.Sleep in a loop marked with t.Retry"} {
		require.Contains(t, string(out), said)
	}
}
