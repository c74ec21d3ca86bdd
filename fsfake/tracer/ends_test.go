//go:build linux && amd64

package tracer_test

import (
	"path"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/testmain"
)

// A first process is apart while it only waits for children and has nothing in common with them. What it did before
// does not count, and what it does afterwards does.
func TestApart(t *testing.T) {
	testmain.Needs(t, "perl", "./fsfake/tracer")
	for script, apart := range map[string]map[string]bool{
		`if (!fork) { stat "x"; exit } wait`:                                     {"x": true},
		`stat "z"; if (!fork) { stat "x"; exit } wait; stat "y"`:                 {"z": false, "x": true, "y": false},
		`alarm 9; if (!fork) { stat "x"; exit } wait`:                            {"x": false},
		`if (!fork) { stat "x"; exit } sleep 9`:                                  {"x": false},
		`use POSIX; if (!fork) { stat "x"; kill 9, getppid; exit } pause`:        {"x": false},
		`pipe R, W; if (!fork) { stat "x"; exit } wait`:                          {"x": false},
		`if (!fork) { exit } if (!fork) { stat "x"; exit } wait; stat "y"; wait`: {"x": true, "y": false},
		`if (!fork) { getppid; stat "x"; exit } wait`:                            {"x": true},
		`if (!fork) { if (!fork) { stat "x"; exit } wait; stat "z"; exit } wait`: {"x": true, "z": true},
	} {
		run, err := tracer.Start(config("perl", "-e", script))
		skipUntraceable(t, err)
		require.NoError(t, err)
		is := map[string]bool{}
		for m := newMachine(); ; {
			set, err := run.Next()
			require.NoError(t, err)
			if len(set) == 0 {
				break
			}
			p, ok := pickOrInterrupt(m, set)
			require.True(t, ok)
			if apart := run.Apart(); p.Op.Path != "" {
				is[p.Op.Path[len(p.Op.Path)-1:]] = apart
			}
			require.NoError(t, run.Answer(p.Task, answer(m, p)))
		}
		run.Stop()
		require.Equal(t, apart, is, script)
	}
}

// What a process has open, has mapped and is to be told is looked at anew where it may have changed, also by others.
func TestUnseen(t *testing.T) {
	testmain.Needs(t, "perl", "./fsfake/tracer")
	testmain.Needs(t, "python3", "./fsfake/tracer")
	for _, c := range []struct {
		program, script string
		unseen          map[string]bool
	}{
		{"perl", `pipe R, W; if (!fork) { stat "x"; exit } stat "y"; close R; close W; stat "z"; wait`,
			map[string]bool{"x": true, "y": false, "z": true}},
		{"perl", `use Fcntl; pipe R, W; if (!fork) {
			stat "x"; fcntl R, F_SETFL, O_NONBLOCK; close R; close W; stat "y"; exit } wait`,
			map[string]bool{"x": true, "y": false}},
		{"perl", `stat "x"; alarm 9; stat "y"`, map[string]bool{"x": true, "y": false}},
		{"perl", `use POSIX; sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGUSR1)); stat "x"; kill "USR1", $$; stat "y"`,
			map[string]bool{"x": true, "y": false}},
		{"python3", `import mmap, os
for name in "xyz":
    os.access(name, 0)
    m = mmap.mmap(-1, 9) if name == "x" else m.close()`, map[string]bool{"x": true, "y": false, "z": true}},
	} {
		flag := map[string]string{"perl": "-e", "python3": "-c"}[c.program]
		run, err := tracer.Start(config(c.program, flag, c.script))
		skipUntraceable(t, err)
		require.NoError(t, err)
		is := map[string]bool{}
		for m := newMachine(); ; {
			set, err := run.Next()
			require.NoError(t, err)
			if len(set) == 0 {
				break
			}
			unseen := map[int]bool{}
			for _, p := range set {
				unseen[p.Task.Pid] = run.Unseen(p.Task.Pid)
			}
			p, ok := pickOrInterrupt(m, set)
			require.True(t, ok)
			if name := path.Base(p.Op.Path); len(name) == 1 && name != "." && name != "/" {
				is[name] = unseen[p.Task.Pid]
			}
			require.NoError(t, run.Answer(p.Task, answer(m, p)))
		}
		run.Stop()
		require.Equal(t, c.unseen, is, c.script)
	}
}

// A signal for a group is sent, and goes to the others, though the process that was asked about has ended meanwhile.
func TestSignalForAGroupOfWhichOneEnds(t *testing.T) {
	testmain.Needs(t, "perl", "./fsfake/tracer")
	run, err := tracer.Start(config("perl", "-e", `setpgrp; if (!fork) { exit } if (!($b = fork)) { sleep 99; exit }
		$SIG{TERM} = "IGNORE"; $got = kill TERM => -$$; wait; waitpid $b, 0; print "$got $?"`))
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	for m, ended := newMachine(), false; ; {
		set, err := run.Next()
		require.NoError(t, err)
		if len(set) == 0 {
			require.True(t, ended)
			break
		}
		p, ok := pickOrInterrupt(m, set)
		require.True(t, ok)
		if p.Op.Call == fsfake.CallKill && !ended {
			i := slices.IndexFunc(set, func(q tracer.Pending) bool { return q.Task.Pid == p.Op.Pid })
			require.Equal(t, fsfake.CallExit, set[i].Op.Call)
			p, ended = set[i], true
		}
		require.NoError(t, run.Answer(p.Task, answer(m, p)))
	}
	require.Equal(t, "1 15", run.Stdout())
}
