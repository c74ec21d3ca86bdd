//go:build linux && amd64

package tracer_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
)

// hops runs a program as alone does, but goes on with a clone wherever it can be cloned. It returns
// how often that was, and the snapshots with the machines that they saw.
func hops(t testing.TB, m *fsfake.Machine, c tracer.Config) (is outcome, calls []string, clones int, why error) {
	t.Helper()
	run, err := tracer.Start(c)
	skipUntraceable(t, err)
	require.NoError(t, err)
	for {
		set, err := run.Next()
		require.NoError(t, err, "%s%s", run.Stdout(), run.Stderr())
		if len(set) == 0 {
			break
		}
		next, err := run.Clone()
		switch {
		case errors.Is(err, tracer.ErrNoClone):
			why = err
		default:
			require.NoError(t, err)
			defer run.Stop()
			clones++
			run = next
			again, err := run.Next()
			require.NoError(t, err)
			require.Equal(t, set, again)
		}
		p, ok := pickOrInterrupt(m, set)
		require.True(t, ok, "all are blocked: %v", set)
		r := answer(m, p)
		calls = append(calls, fmt.Sprintf("%v %v = %v", p.Task, p.Op, r))
		require.NoError(t, run.Answer(p.Task, r), "%v", calls)
	}
	defer run.Stop()
	exit, ok := run.Exit(100)
	require.True(t, ok)
	return outcome{Exit: exit.String(), Stdout: run.Stdout(), Stderr: run.Stderr(), Tree: machineTree(m, dir, "")}, calls, clones, why
}

// A program that is cloned before every call does what it does without.
func TestClonesGoOn(t *testing.T) {
	rows := [][]string{{"sh", "-c", "echo 1 > a; echo out; mkdir d; cd d; echo $$ >> ../a; cat ../a >&2; pwd; " +
		"exec 3>&1; echo three >&3; rm ../a; mv ../d ../e"}, {"sh", "-c", "exec 5>a; exec sh -c 'echo a >&5'"}}
	if out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output(); err == nil && !testing.Short() {
		rows = append(rows, []string{strings.TrimSpace(string(out)), "-c", `import os, random, signal, time
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTRAP])
counters = [os.eventfd(n, os.EFD_NONBLOCK) for n in (2, 3)]
signal.setitimer(signal.ITIMER_REAL, 60)
print('x', flush=True)
open('a','w').write(str(os.getpid()))
time.sleep(1)
print(random.random(), os.listdir('.'), os.getpgrp() == os.getpid())
os.rename('a', 'b')
os.eventfd_write(counters[0], 2)
print([os.eventfd_read(c) for c in counters], signal.getitimer(signal.ITIMER_REAL))
print(time.monotonic(), signal.pthread_sigmask(signal.SIG_BLOCK, []))`})
	}
	for _, argv := range rows {
		want, calls := alone(t, newMachine(), config(argv...))
		is, again, clones, why := hops(t, newMachine(), config(argv...))
		require.Equal(t, calls, again)
		require.Equal(t, want, is)
		require.Greater(t, 2*clones, len(calls), "%v", why)
	}
}

// One snapshot can be cloned more than once, and the clones go their own ways.
func TestClonesOfOneSnapshot(t *testing.T) {
	run, err := tracer.Start(config("sh", "-c", "mkdir d && echo made || echo refused"))
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	set, err := run.Next()
	require.NoError(t, err)
	for _, row := range []struct {
		r      fsfake.Result
		prints string
	}{{fsfake.Result{}, "made\n"}, {fsfake.Result{Errno: fsfake.EEXIST}, "refused\n"}, {fsfake.Result{}, "made\n"}} {
		clone, err := run.Clone()
		require.NoError(t, err)
		defer clone.Stop()
		again, err := clone.Next()
		require.NoError(t, err)
		require.Equal(t, set, again)
		for set := again; len(set) > 0; {
			r := fsfake.Result{N: 100_001} // the child's pid, where it forks
			if set[0].Op.Call == fsfake.CallMkdir {
				r = row.r
			}
			require.NoError(t, clone.Answer(set[0].Task, r))
			set, err = clone.Next()
			require.NoError(t, err)
		}
		require.Equal(t, row.prints, clone.Stdout())
	}
	_, err = run.Next()
	require.ErrorContains(t, err, "kept as a snapshot")
}

// A real file that is only read has a position of its own in each clone: that of the snapshot.
func TestClonesReadByThemselves(t *testing.T) {
	lines := filepath.Join(t.TempDir(), "lines")
	require.NoError(t, os.WriteFile(lines, []byte("one\ntwo\nthree\n"), 0o600))
	script := "exec 7< " + lines + "; read x <&7; test -e f; while read x <&7; do echo $x; done"
	run, err := tracer.Start(config("sh", "-c", script))
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	_, err = run.Next()
	require.NoError(t, err)
	for range 3 {
		clone, err := run.Clone()
		require.NoError(t, err)
		defer clone.Stop()
		set, err := clone.Next()
		for err == nil && len(set) > 0 {
			require.NoError(t, clone.Answer(set[0].Task, fsfake.Result{Errno: fsfake.ENOENT}))
			set, err = clone.Next()
		}
		require.NoError(t, err)
		require.Equal(t, "two\nthree\n", clone.Stdout())
	}
}

// What the second run would share, or lack, is a reason not to clone; and the first goes on.
func TestNoClone(t *testing.T) {
	for _, row := range []struct{ script, why string }{
		{"exec 5< /etc/passwd 6<&5; : > f", "is open on /etc/passwd"}, // one position
		{"exec 5< /proc/self/limits; : > f", "descriptor 5 is open on /proc/"},
		{"sleep 5 & : > f", "it has children"},
	} {
		run, err := tracer.Start(config("sh", "-c", row.script))
		skipUntraceable(t, err)
		require.NoError(t, err)
		defer run.Stop()
		set, err := run.Next()
		for err == nil && set[0].Op.Call == fsfake.CallFork {
			require.NoError(t, run.Answer(set[0].Task, fsfake.Result{N: 100_001}))
			set, err = run.Next()
		}
		require.NoError(t, err)
		require.Equal(t, fsfake.CallOpen, set[0].Op.Call)
		_, err = run.Clone()
		require.ErrorIs(t, err, tracer.ErrNoClone)
		require.ErrorContains(t, err, row.why)
		require.NoError(t, run.Answer(set[0].Task, fsfake.Result{Errno: fsfake.EACCES}))
		_, err = run.Next()
		require.NoError(t, err)
	}
}
