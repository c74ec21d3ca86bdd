package command_test

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// What was executed to read failures as refusals is not executed again to read them as ends; the
// two readings still differ.
func TestReadingsShareExecutions(t *testing.T) {
	testmain.OneWorker(t)
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		t.Skip("SKIPPED: programs are traced on linux/amd64 only; go test ./scenarios/command runs it there")
	}
	runs := filepath.Join(t.TempDir(), "runs")
	for name, c := range map[string]struct {
		lines  []string
		strict checker.Verdict
	}{
		"nobody fails": {twice("echo >> " + runs + "; > a; rm -f a"), checker.Holds},
		"somebody may": {[]string{"echo >> " + runs + "; > a; ls a; rm a", "rm -f a"}, checker.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			spec := command.Spec{ID: "test/commands/readings", NoStdout: true, RealOutside: true}
			for _, l := range c.lines {
				spec.Commands = append(spec.Commands, command.Line{Shell: l})
			}
			sc, strict, err := spec.Readings()
			require.NoError(t, err)
			sc.Unjudged, strict.Unjudged = nil, nil // the count of executions is no part of the question
			executed := func(sc *scenarios.Scenario) (checker.Verdict, int) {
				before, _ := os.ReadFile(runs)
				r, err := checker.Check(t.Context(), sc, sc.Claims[0].Property, checker.Options{Workers: 1, SkipOdds: true})
				require.NoError(t, err)
				after, err := os.ReadFile(runs)
				require.NoError(t, err)
				return r.Verdict, len(after) - len(before)
			}
			verdict, n := executed(&sc)
			require.Equal(t, checker.Holds, verdict)
			require.Positive(t, n)
			verdict, n = executed(&strict)
			require.Equal(t, c.strict, verdict)
			require.Zero(t, n, "executions for the other reading")
		})
	}
}
