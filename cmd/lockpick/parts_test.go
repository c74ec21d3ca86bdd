package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/race"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// asCommand makes the test binary the command, for scripts that run it.
const asCommand = "LOCKPICK_TEST_AS_COMMAND"

// The script decides a space in parts that are processes of their own, at each level new ones.
func TestPartsScript(t *testing.T) {
	testmain.Slow(t, "it runs a script of several processes", "./cmd/lockpick")
	if race.Detector {
		t.Skip("SKIPPED under the race detector: it starts a hundred processes, of which each is alone; go test ./cmd/lockpick runs it")
	}
	for _, program := range []string{"sh", "awk", "sort", "comm", "join"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("SKIPPED: docs/parts.sh needs %s, and there is none here; go test ./cmd/lockpick runs it where there is: %v", program, err)
		}
	}
	run := func(args ...string) string {
		cmd := exec.Command("sh", append([]string{"../../docs/parts.sh", os.Args[0], "2"}, args...)...)
		cmd.Env = append(os.Environ(), asCommand+"=1")
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, "%s", out)
		return string(out)
	}
	shown := run("write-file-atomic/fsync-file-and-dir/read-after-loss", "--property", "torn-read")
	require.Contains(t, shown, "1 verdict: 1 holds · all as claimed · 32 states")
	require.Contains(t, shown, "part 0 expanded 14 states\npart 1 expanded 18 states\n")
	require.Contains(t, shown, "32 states in 14 levels, 44 lines of 2935 bytes between the parts")
	shown = run("gunicorn/check-then-rename/recycled-pid", "--property", "wedge", "--in-order")
	require.Contains(t, shown, "1 verdict: 1 broken · all as claimed")
}

// The driver for Spark decides a space on the machine itself, and a process that is killed while it expands
// states is only repeated.
func TestSparkDriver(t *testing.T) {
	if testing.Short() || race.Detector {
		t.Skip("SKIPPED with -short, and under the race detector: Spark takes half a minute, and what it starts are processes of their own; go test ./cmd/lockpick runs it")
	}
	if out, err := exec.Command("python3", "-c", "import pyspark").CombinedOutput(); err != nil {
		t.Skipf("SKIPPED: docs/spark/decide.py needs python3 with pyspark, and there is none here; go test ./cmd/lockpick runs it where there is: %v %s", err, out)
	}
	if err := exec.Command("java", "-version").Run(); err != nil {
		t.Skipf("SKIPPED: docs/spark/decide.py needs java, and there is none here; go test ./cmd/lockpick runs it where there is: %v", err)
	}
	dir := t.TempDir()
	lockpick := filepath.Join(dir, "lockpick")
	killed := filepath.Join(dir, "killed")
	script := "#!/bin/sh\n" +
		"case \"$1 $*\" in expand*--cache*) mkdir " + killed + " 2>/dev/null && kill -9 $$ ;; esac\n" + // the first that expands
		"exec '" + os.Args[0] + "' \"$@\"\n"
	require.NoError(t, os.WriteFile(lockpick, []byte(script), 0o700))
	cmd := exec.Command("python3", "../../docs/spark/decide.py", "--lockpick", lockpick, "--parts", "2", "--", "nix/same-file-twice/alone", "--property", "deadlock")
	cmd.Env = append(os.Environ(), asCommand+"=1")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
	require.DirExists(t, killed)
	require.Contains(t, string(out), "5 states, by partition: 2, 3")
	require.Contains(t, string(out), "1 verdict: 1 broken · all as claimed · 5 states")
}

// The table of what parts cost counts what there is: a line of it is counted again, and the bytes by the formula.
func TestCostTable(t *testing.T) {
	i := slices.IndexFunc(all.Core(), func(sc scenarios.Scenario) bool { return sc.ID == "ctx/excl/contend" })
	sc, err := all.Core()[i].WithProcesses(4)
	require.NoError(t, err)
	x, err := checker.NewExpansion(&sc, scenarios.MutualExclusion, checker.ExpandOptions{Monitors: true})
	require.NoError(t, err)
	first, err := x.First()
	require.NoError(t, err)
	known := map[string]bool{first.Key: true}
	levels, lines, bytes, choices := 0, 0, 0, 0
	for level := []checker.State{first}; len(level) > 0; levels++ {
		var next []checker.State
		slices.SortFunc(level, func(a, b checker.State) int { return strings.Compare(a.Way, b.Way) })
		for _, s := range level {
			require.NoError(t, x.Expand(s, func(to checker.State) error {
				lines, bytes, choices = lines+1, bytes+len(to.String())+1, choices+levels+1
				if !known[to.Key] {
					known[to.Key] = true
					next = append(next, to)
				}
				return nil
			}))
		}
		level = next
	}
	require.Equal(t, 48*lines+3*choices, bytes)
	text, err := os.ReadFile("../../docs/large.md")
	require.NoError(t, err)
	require.Contains(t, string(text), fmt.Sprintf("| `ctx/excl/contend`, 4 processes | %d | %d | %d | %d |", len(known), levels, lines, bytes))
}
