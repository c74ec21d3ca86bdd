package command_test

import (
	"context"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/checkertest"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// countsUnderMkdir adds one to n under a directory that is made and removed, as the script beside it does.
func countsUnderMkdir(t *scenarios.Task) {
	for retry := t.Retry(); retry.Next(); {
		if t.Mkdir("lock", 0o777) == nil {
			break
		}
		t.Sleep(1e9)
	}
	text, _ := t.ReadFile("n")
	n, _ := strconv.Atoi(string(text[:max(0, len(text)-1)]))
	_ = t.WriteFile("n", []byte(strconv.Itoa(n+1)+"\n"), 0o666)
	_ = t.Rmdir("lock")
}

const scriptUnderMkdir = `until mkdir lock 2>/dev/null; do sleep 1; done; read x < n; echo $((x+1)) > n; rmdir lock`

// scriptUnderFlock waits for its lock in one call: a loop need not be run for a hundred rounds, of which each
// starts two programs.
const scriptUnderFlock = `flock lock sh counter.sh`

// beside is a script beside a Go function that may refuse.
func beside(t *testing.T, script string, f command.Line, refused []int) scenarios.Scenario {
	t.Helper()
	needs, files := "sh", map[string]string{"n": "0\n"}
	if script == scriptUnderFlock {
		needs, files["lock"] = "flock", ""
	}
	return scenario(t, needs, []string{script}, files, "", func(s *command.Spec) {
		s.Commands = append(s.Commands, f)
		s.Refused = command.Refused{Declared: true, Statuses: refused}
	})
}

// Of two programs that try two locks in either order both may refuse. That is wrong unless it is declared, and what
// one does in spite of its refusal is wrong all the same.
func TestAllMayRefuse(t *testing.T) {
	tries := func(first, second string, spoils bool) command.Line {
		return command.Line{Shell: first, Func: func(t *scenarios.Task) {
			if t.Mkdir(first, 0o777) != nil {
				t.ExitWith(5)
				return
			}
			if t.Mkdir(second, 0o777) != nil {
				_ = t.Rmdir(first)
				if spoils {
					_ = t.WriteFile("spoilt", nil, 0o666)
				}
				t.ExitWith(5)
				return
			}
			_ = t.Rmdir(second)
			_ = t.Rmdir(first)
			t.Exit()
		}}
	}
	for name, c := range map[string]struct {
		all, spoils bool
		want        checker.Verdict
	}{"declared": {true, false, checker.Holds}, "not declared": {false, false, checker.Broken},
		"spoils": {true, true, checker.Broken}} {
		spec := command.Spec{Commands: []command.Line{tries("a", "b", c.spoils), tries("b", "a", c.spoils)},
			Refused: command.Refused{Declared: true, Statuses: []int{5}, All: c.all}}
		sc, err := spec.Scenario()
		testmain.Traced(t, err, "./scenarios/command")
		require.NoError(t, err)
		r, err := checker.Check(t.Context(), &sc, sc.Claims[0].Property, checker.Options{})
		require.NoError(t, err)
		require.Equal(t, c.want, r.Verdict, "%s: %s", name, r.Why)
	}
}

// A shell script and Go functions stand side by side in one scenario, and checkertest.Run decides it: a function
// that keeps to the protocol, one that removes the lock of somebody else, and one that refuses.
func TestCommandsBesideFunctions(t *testing.T) {
	testmain.Slow(t, "it runs scripts beside Go functions", "./scenarios/command")
	cleans := func(t *scenarios.Task) { _ = t.Rmdir("lock") }
	refuses := func(t *scenarios.Task) {
		f, err := t.OpenFile("lock", os.O_RDWR, 0)
		if err == nil && f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) != nil {
			t.ExitWith(75)
			return
		}
		_ = t.WriteFile("mine", nil, 0o666)
	}
	looks := func(t *scenarios.Task) {
		_, _ = t.Stat("n")
		t.Exit()
	}
	for name, c := range map[string]struct {
		script  string
		f       scenarios.Program
		refused []int
		verdict checker.Verdict
	}{
		"keeps to the protocol":          {scriptUnderMkdir, countsUnderMkdir, nil, checker.Holds},
		"does nothing":                   {scriptUnderMkdir, looks, nil, checker.Holds},
		"removes another's lock":         {scriptUnderMkdir, cleans, nil, checker.Broken},
		"refuses":                        {scriptUnderFlock, refuses, []int{75}, checker.Holds},
		"refuses, which is not declared": {scriptUnderFlock, refuses, nil, checker.Broken},
	} {
		t.Run(name, func(t *testing.T) {
			sc := beside(t, c.script, command.Line{Func: c.f, Shell: "in Go"}, c.refused)
			require.Equal(t, scenarios.Serializable.ID, sc.Claims[0].Property.ID)
			require.Contains(t, scenarios.Texts(sc.Assumes),
				"the fake machine answers B (in Go), run alone, as the kernel does, "+
					"which could not be compared: B is a Go function, which runs on the fake machine alone")
			sc.Claims = sc.Claims[:1]
			sc.Claims[0].Verdict = c.verdict
			checkertest.Run(t, sc)
		})
	}
}

// What the two do to each other is found, and told with the Go function's calls; the kernel is not asked.
func TestAFunctionThatBreaksACommand(t *testing.T) {
	blind := func(t *scenarios.Task) { // it looks for no lock
		text, _ := t.ReadFile("n")
		n, _ := strconv.Atoi(string(text[:max(0, len(text)-1)]))
		_ = t.WriteFile("n", []byte(strconv.Itoa(n+1)+"\n"), 0o666)
	}
	var spec command.Spec
	sc := scenario(t, "sh", []string{scriptUnderMkdir}, map[string]string{"n": "0\n"}, "refused none", func(s *command.Spec) {
		s.Commands = append(s.Commands, command.Line{Func: blind})
		spec = *s
	})
	r, err := checker.Check(t.Context(), &sc, sc.Claims[0].Property, checker.Options{})
	require.NoError(t, err)
	require.Equal(t, checker.Broken, r.Verdict)
	cx := r.Counterexample
	end := cx.Trace[len(cx.Trace)-1].After
	ended := []command.Step{{Process: 1, Op: fsfake.Op{Call: fsfake.CallEnd}}}
	carried := spec.Carry(context.Background(), ended, end, false)
	require.Equal(t, "not carried out on this kernel: B is a Go function, which runs on the fake machine alone", carried.String())
	_, err = spec.Format()
	require.ErrorContains(t, err, "a Go function is a Go function, which an archive cannot hold")
}

// Two functions are never taken for one, and a function has no arguments.
func TestFunctionsAreNoCommands(t *testing.T) {
	writes := func(t *scenarios.Task) { _ = t.WriteFile("n", nil, 0o666) }
	sc, err := command.Spec{Commands: []command.Line{{Func: writes}, {Func: writes}}}.Scenario()
	require.NoError(t, err)
	require.Equal(t, 0, sc.Same(0))
	require.Equal(t, 1, sc.Same(1))
	_, err = command.Spec{Commands: []command.Line{{Func: writes, Argv: []string{"ls"}}}}.Scenario()
	require.ErrorContains(t, err, "is a Go function and has arguments")
}
