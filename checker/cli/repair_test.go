package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/fixtures"
	"lockpick/internal/testmain"
	"lockpick/scenarios/command"
)

// repairing prepares a test of --repair, which runs real programs, and makes a directory of some files for it.
func repairing(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	t.Parallel()
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	testmain.Needs(t, "flock", "./checker/cli")
	dir = t.TempDir()
	for name, text := range files { // order does not matter
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644))
	}
	return dir
}

// A repair is printed to paste where it holds, and what is more intrusive is not tried.
func TestRunRepairs(t *testing.T) {
	dir := repairing(t, map[string]string{"conf": "1\n"})
	got := run(t, "run", "--dir", dir, "--timeout", "20m", "--repair",
		"read x <conf; echo a$x >conf", "read x <conf; echo b$x >conf")
	require.Equal(t, ExitDiffers, got.exit, got.stderr)
	require.Contains(t, got.stdout, `
  fix     flock(1) on a file of its own around each command: holds with any number of copies, with 2
          processes and a kill at any call; but a kill still breaks atomic, as it does of the
          commands as they are
          flock -F conf.lock sh -c 'read x <conf; echo a$x >conf'
          flock -F conf.lock sh -c 'read x <conf; echo b$x >conf'
`)
	require.NotContains(t, got.stdout, "on the data file itself")
	require.Contains(t, got.stdout, "UNKNOWN  deadlock\n  why     not decided: another property is broken, so this "+
		"one is asked of the changed")
}

// BusyBox has no flock -F. Then the commands run under flock(1), which a kill ends alone.
func TestRepairWithoutF(t *testing.T) {
	dir, bin := repairing(t, map[string]string{"n": "0\n"}), t.TempDir()
	older := "#!/bin/sh\n[ \"$1\" = -F ] && exit 1\nPATH=${PATH#*:} exec flock \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(bin, "flock"), []byte(older), 0o755))
	got := run(t, "run", "--dir", dir, "--native", "off", "--repair", "--env", "PATH="+bin+":/usr/bin:/bin",
		"-n", "2", "--", "sh", "-c", "read x <n; echo $((x+1)) >n")
	text := strings.Join(strings.Fields(got.stdout), " ")
	require.Contains(t, text, "tried flock(1) on a file of its own around each command: a command does something else",
		got.stderr)
	require.Contains(t, text, "fix flock(1) without -F on a file of its own around each command: holds with any "+
		"number of copies, with 2 processes")
	require.Contains(t, text, "a kill of flock at any call")
	require.Contains(t, text, " flock n.lock sh -c ")
}

// A kill between the rename and the append leaves no log, which no lock mends. Alone it shows only on what a run has
// left.
func TestRepairOfARotation(t *testing.T) {
	dir := repairing(t, map[string]string{
		"log": "", "rot.sh": "if [ -s log ]; then mv log log.1; fi\necho x >>log\n"})
	got := run(t, "run", "--dir", dir, "--property", "serializable", "--repair", "--native", "off", "sh rot.sh")
	text := strings.Join(strings.Fields(got.stdout), " ")
	require.Contains(t, text, "flock(1) on a file of its own around each command: "+
		"holds with any number of copies, with 2 processes and a kill at any call; "+
		"but a kill still breaks atomic, as it does of the commands as they are flock -F log.lock sh rot.sh")
}

// A lock file has no name that the commands use themselves: git config -f c would meet its own lock, c.lock.
func TestLockOfARepairIsUnused(t *testing.T) {
	dir := repairing(t, map[string]string{"n": "0\n"})
	got := run(t, "run", "--dir", dir, "--property", "serializable", "--repair", "-n", "2", "--", "sh", "-c",
		": >n.lock; read x <n; echo $((x+1)) >n")
	require.Contains(t, got.stdout, "\n          flock -F .n.lock sh -c ", got.stderr)
}

// A lock that the dead keep is no repair: whether others get through after a kill is asked. And a repair has to mend
// something that a kill does not break alone.
func TestRepairsAreNoWorse(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	spec := command.Spec{Dir: "/data", Refused: command.Refused{Declared: true}, Files: []command.File{
		{Name: "n", Content: "0\n"}, {Name: "up.sh", Content: "read x <n; echo $((x+1)) >n\n"},
	}}
	for range 2 {
		spec.Commands = append(spec.Commands, command.Line{Shell: "sh up.sh"})
	}
	broken := &trials{f: &runFlags{}, spec: &spec, broken: []string{"serializable"}}
	broken.alone = map[string]bool{"atomic": true}
	change := func(shell string) *command.Repair {
		r := &command.Repair{Lock: "k", Spec: spec}
		r.Spec.Commands = slices.Repeat([]command.Line{{Shell: shell}}, 2)
		return r
	}
	testmain.Needs(t, "flock", "./checker/cli")
	for _, c := range []struct{ shell, why string }{
		{"mkdir k 2>/dev/null || exit 75; sh up.sh; rmdir k", "wedge is broken by "},
		{"true <n", "does something else"},
		// It holds with two processes.
		{"exec 9>k; flock 9; sh up.sh; rm -f k", "with 3 processes serializable is broken by "},
	} {
		r := change(c.shell)
		r.Spec.Refused.Statuses = []int{75}
		_, why, err := broken.holds(t.Context(), r)
		require.NoError(t, err, c.shell)
		require.Contains(t, why, c.why, c.shell)
	}
	locked := change("flock k sh up.sh")
	proof, why, err := broken.holds(t.Context(), locked)
	require.NoError(t, err)
	require.Empty(t, why)
	require.Equal(t, "2 processes, with any number of copies, with 2 processes and a kill of flock at any call; "+
		"but a kill still breaks atomic, as it does of the commands as they are", proof)
	late := &trials{f: &runFlags{timeout: 1}, spec: &spec}
	_, why, err = late.holds(t.Context(), locked)
	require.NoError(t, err)
	require.Contains(t, why, "with 2 processes it is unknown whether ")
	require.True(t, late.open, "what was not decided in time is not refuted")
	// A kill that is not decided is said, and is no reason against what holds without it.
	one := locked.Spec
	one.Commands = one.Commands[:1]
	alone := &trials{f: &runFlags{states: 30}, spec: &one, alone: broken.alone}
	proof, why, err = alone.holds(t.Context(), &command.Repair{Lock: "k", Spec: one})
	require.NoError(t, err)
	require.Empty(t, why)
	require.Regexp(t, `^1 process; with 1 process and a kill of flock at any call it is unknown whether \S+ `, proof)
	broken.broken = []string{"atomic"}
	_, why, err = broken.holds(t.Context(), locked)
	require.NoError(t, err)
	require.Contains(t, why, "it mends nothing")
	// A lock file of the command itself that a kill leaves is in the way of the next one, with and without the repair.
	t.Run("a lock that the dead keep", func(t *testing.T) {
		testmain.OnlyLong(t, "it is killed while others poll, which takes a minute", "./checker/cli")
		own := "until mkdir own 2>/dev/null; do sleep 1; done; read x <n; rmdir own; echo $((x+1)) >n"
		polls := &trials{f: &runFlags{}, spec: &change(own).Spec, broken: []string{"serializable"},
			alone: map[string]bool{}, limit: 5 * time.Minute}
		proof, why, err := polls.holds(t.Context(), change("flock -F k sh -c '"+own+"'"))
		require.NoError(t, err)
		require.Empty(t, why)
		require.Contains(t, proof, "; but a kill still breaks atomic and deadlock and wedge, as it does of the ")
	})
}

// What a kill leaves of commands that have a lock from their beginnings to their ends is told by the serial runs, as it
// is by all schedules.
func TestKillsOfThoseThatHaveALockThroughout(t *testing.T) {
	t.Parallel()
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	raceFile(t)
	testmain.Needs(t, "flock", "./checker/cli")
	random := "[ $(od -An -N1 -tu1 /dev/urandom) -lt 9 ] && : >n; read x <n; echo a$x >t && exec mv t n"
	for _, c := range []struct {
		a, b, broken string
	}{
		{random, "echo b >>n", "atomic unknown"},
		{"read x <n; echo a$x >n", "read x <n; echo b$x >n", "atomic"},
		{"read x <n || exit 1; : >n; echo a$x >n", "read x <n || exit 1; echo b$x >n", "atomic"},
		{"echo a >>n", "echo b >>n", ""},
		{"read x <n; echo a$x >t && exec mv t n", "read x <n; echo b$x >t && exec mv t n", ""},
		{"read x <n; echo a$x >t && mv t n", "read x <n; sh -c 'echo b >t; echo c >>t'; read x <t; echo $x >>n", ""},
		{"read x <n; (: >n; echo c >u); echo a$x >>n", "read x <n; echo b$x >>n", "atomic"},
		{"x=$(cat n; echo a >>n); echo $x >>n", "read x <n; echo b$x >>n", "atomic"},
		{"sh -c 'read x <n; : >n; echo a$x >n'; echo >u", "sh -c 'read x <n; echo b$x >>n'", "atomic"},
		{"read x <n; [ -e t ] || : >t; [ -e u ] && exit 3; : >u; echo a$x >>n", "[ -e t ] && exit 4; echo b >>n", ""},
	} {
		t.Run(c.a, func(t *testing.T) {
			testmain.LongBut(t, c.a, "./checker/cli", random, "read x <n; echo a$x >n",
				"read x <n; echo a$x >t && mv t n", "read x <n; (: >n; echo c >u); echo a$x >>n")
			spec := command.Spec{Dir: "/data", Refused: command.Refused{Declared: true}, Files: []command.File{
				{Name: "n", Content: "0\n"}}, Commands: []command.Line{{Shell: c.a}, {Shell: c.b}}}
			all := spec.Repairs("n", nil)
			fix := &all[slices.IndexFunc(all, func(r command.Repair) bool { return r.Around })]
			tried := &trials{f: &runFlags{}, spec: &spec, alone: map[string]bool{}, limit: repairTime}
			trials := fix.Trials()
			by, err := tried.throughout(t.Context(), fix)
			require.NoError(t, err)
			if by == nil {
				_, why, _ := fix.Throughout(t.Context())
				require.Fail(t, c.a, why)
			}
			kill := &trials[len(trials)-1].Spec
			told := func(by *command.Throughout) (all []string) {
				is := tried.decide(t.Context(), kill, repairTime, by, "")
				require.NoError(t, is.err)
				for _, r := range is.results {
					all = append(all, r.Property.ID+" "+r.Verdict.String())
					require.Equal(t, by == nil, r.Stats.States > 0, "%s: %s is explored", c.a, r.Property)
					is := r.Property.ID == c.broken ||
						c.broken == r.Property.ID+" unknown" && r.Verdict == checker.Unknown
					require.Equal(t, !is, r.Verdict == checker.Holds || c.a == random && r.Property.Judged == nil,
						"%s: %s", c.a, r.Property)
				}
				return all
			}
			fast := told(by)
			if c.a != random { // explored, nothing is known of the other properties either
				require.Equal(t, told(nil), fast, c.a)
			}
		})
	}
}

// A command that lets go of the lock that is around it, if only in some order of its own processes, is decided as
// others are, and is not repaired by it.
func TestRepairThatIsLetGo(t *testing.T) {
	dir := repairing(t, map[string]string{"n": "0\n"})
	for _, c := range []string{"exec 3>&-", ": >m & if [ -e m ]; then exec 3>&-; fi; wait"} {
		if strings.HasPrefix(c, ":") && !testmain.Long() {
			continue // TestThroughout has it, and it has many orders
		}
		got := run(t, "run", "--dir", dir, "--repair", "--property", "serializable", "--native", "off", "-n", "2",
			"--", "sh", "-c", c+"; read x <n; echo $((x+1)) >n")
		require.Contains(t, strings.Join(strings.Fields(got.stdout), " "),
			"tried flock(1) on a file of its own around each command: with 2 processes serializable is broken by ",
			got.stderr)
	}
}

// JSON has the fix and what was tried; where none is known it says why.
func TestRepairJSON(t *testing.T) {
	fixtures.OnlyAnswers(t)
	var out repaired
	got := run(t, "repair", "--json", "toy/look/contend")
	require.Equal(t, ExitAsClaimed, got.exit, got.stderr)
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &out))
	require.Equal(t, "toy/look/contend", out.Scenario)
	require.Contains(t, out.Fix.Text, "O_EXCL in open lock")
	require.Contains(t, out.Fix.Proof, "mutual-exclusion with 2 and 3 processes")
	require.Equal(t, *out.Fix, out.Tried[len(out.Tried)-1])
	got = run(t, "repair", "--json", "toy/look/contend", "--timeout", "1ns")
	require.Equal(t, ExitUnknown, got.exit, got.stderr)
	out = repaired{}
	require.NoError(t, json.Unmarshal([]byte(got.stdout), &out))
	require.Nil(t, out.Fix)
	require.NotEmpty(t, out.Unknown)
}

// A repair is tried on the machine as it is, with three processes: one that natively ends otherwise is none.
func TestRepairsAreTriedNatively(t *testing.T) {
	testmain.InRealTime(t, "./checker/cli")
	raceFile(t)
	testmain.Needs(t, "flock", "./checker/cli")
	for lock, want := range map[string]string{"flock l ": "natively, with 3 processes: ", "": "broken natively: "} {
		line := command.Line{Shell: lock + "sh -c 'read x <n; echo $((x+1)) >n'"}
		spec := command.Spec{Dir: "/data", Files: []command.File{{Name: "n", Content: "0\n"}},
			Commands: []command.Line{line, line}}
		tried := &trials{f: &runFlags{budget: 3 * time.Second}, spec: &spec, alone: map[string]bool{}}
		proof, why, err := tried.natively(t.Context(), &command.Repair{Spec: spec})
		require.NoError(t, err)
		testmain.Viewed(t, proof, "./checker/cli")
		require.Contains(t, proof+why, want)
		require.Equal(t, lock == "", proof == "")
	}
}
