package command_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

const sends = "[ -s pid ] && kill -USR1 $(cat pid) 2>/dev/null; exit 0"

// A command sends another one a signal. What comes of it was tried natively, see TestNativeConfirmsSignals in
// checker/cli.
func TestSignalsOfOthers(t *testing.T) {
	testmain.Slow(t, "it executes commands a hundred times", "./scenarios/command")
	for _, c := range []struct{ name, job, want string }{
		{"default", "echo $$ > pid; read v < n; echo $((v+1)) > n; rm pid", "broken"},
		{"ignored from the start", "trap '' USR1; echo $$ > pid; read v < n; echo $((v+1)) > n; rm pid", "holds"},
		{"ignored too late", "echo $$ > pid; trap '' USR1; read v < n; echo $((v+1)) > n; rm pid", "broken"},
		{"handled", "trap 'echo got > got' USR1; echo $$ > pid; read v < n; rm pid", "broken"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sc := scenario(t, "sh", []string{c.job, sends}, map[string]string{"n": "0\n"}, "refused none")
			r := decide(t, sc, serializable(t, sc), c.want)
			if c.name != "default" {
				return
			}
			var after []string // what the job does once the signal has come
			tr := r.Counterexample.Trace
			for _, st := range tr[slices.IndexFunc(tr, comes):] {
				after = append(after, st.Calls[0].Op.String())
			}
			require.Len(t, after, 2, "the call is not made, and no other one: %q", after)
			require.Equal(t, "end by signal 10", after[1])
		})
	}
}

// A first process that waits for a child may be killed there, by a signal or by a crash.
func TestSignalsBesideKills(t *testing.T) {
	sc := scenario(t, "sh", []string{"echo $$ > pid; (: >m); rm pid", sends}, map[string]string{"n": "0\n"},
		"refused none\ncrashes 1")
	decide(t, sc, serializable(t, sc), "broken")
	decide(t, sc, scenarios.Deadlock, "holds")
}

// Where the first process starts others beside each other, a signal may find some of them not started yet, which is not
// followed. Those that it waits for, one after the other, it has started or not.
func TestSignalsBesideForks(t *testing.T) {
	testmain.Slow(t, "it executes commands a hundred times", "./scenarios/command")
	const seesF = "[ -e f ] && [ -s pid ] && kill $(cat pid); exit 0"
	for job, want := range map[string]string{
		"echo $$ > pid; (: >f); (: >g); rm pid":         "holds",
		"echo $$ > pid; (: >f) & (: >g) & wait; rm pid": "unknown",
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			if want == "unknown" {
				testmain.OnlyLong(t, "it follows many orders", "./scenarios/command")
			}
			sc := scenario(t, "sh", []string{job, seesF}, map[string]string{"n": "0\n"}, "refused none")
			decide(t, sc, scenarios.Deadlock, want)
		})
	}
}

// comes reports whether a signal comes in a step.
func comes(st trace.Step) bool {
	_, is := st.Calls[0].Result.Interrupts()
	return is
}

// A signal that comes while its program waits for a lock ends the wait, has the call made anew, or does nothing. One
// that comes before, between the pid and the lock, ends no wait.
func TestSignalsEndWaits(t *testing.T) {
	bin := compiled(t, "gcc", "signal.c")
	const locked = "exec 9>>lock; flock 9; " + sends
	for how, want := range map[string]string{
		"ends": "broken", "restarts": "holds", "ignores": "holds", "none": "broken",
	} {
		t.Run(how, func(t *testing.T) {
			t.Parallel()
			sc := scenario(t, "flock", []string{bin + " " + how, locked}, map[string]string{"n": "0\n"}, "refused none")
			r := decide(t, sc, serializable(t, sc), want)
			decide(t, sc, scenarios.Deadlock, "holds")
			if how == "ends" {
				tr := r.Counterexample.Trace
				s, _ := tr[slices.IndexFunc(tr, comes)].Calls[0].Result.Interrupts()
				require.Equal(t, fsfake.Signalled{Pid: scenarios.Pid(0), Signal: 10, Begun: true}, s)
			}
		})
	}
}

// Signals that cannot be followed are errors, and no verdict.
func TestSignalsThatAreRefused(t *testing.T) {
	const job = "echo $$ > pid; read v < n; rm pid"
	for _, c := range []struct{ job, sends, setting, want string }{
		{job, "[ -s pid ] && kill -STOP $(cat pid); exit 0", "", "kill 101 SIGSTOP: job control is not modelled"},
		{"sleep 1 & echo $! > pid; wait; rm pid; exit 0", "[ -s pid ] && kill $(cat pid); exit 0", "",
			"a signal to process 101001, which is not the first of a command, is not modelled"},
		{job, "kill 99; exit 0", "living 99", "a signal to process 99, which is not the first of a command"},
		{"mkdir in; echo $$ > pid; rm pid; rmdir in", "mkdir in; " + sends + "; rmdir in", "inside in",
			"a signal to another command is not modelled with --inside"},
	} {
		t.Run(c.want, func(t *testing.T) {
			t.Parallel()
			err := refusedBy(t, []string{c.job, c.sends}, "refused none\n"+c.setting)
			require.ErrorContains(t, err, c.want)
		})
	}
}

// refusedBy is why there is no verdict on commands.
func refusedBy(t *testing.T, lines []string, setting string) error {
	t.Helper()
	testmain.Needs(t, "sh", "./scenarios/command")
	spec := command.Spec{Files: []command.File{{Name: "n", Content: "0\n"}}}
	sc, err := asked(t, spec, lines, setting)
	if err != nil {
		return err
	}
	_, err = checker.Check(t.Context(), &sc, sc.Claims[0].Property, checker.Options{Workers: 1, SkipOdds: true})
	return err
}

func serializable(t *testing.T, sc scenarios.Scenario) *scenarios.Property {
	t.Helper()
	p, err := scenarios.FindProperty("serializable", sc)
	require.NoError(t, err)
	return p
}
