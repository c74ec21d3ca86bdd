//go:build linux && amd64

package tracer_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/testmain"
)

// Two children make a file each. In whichever order they do, the run is in one state when both have done so; what
// they have put into a pipe, printed or remembered makes it another one, and the CPU that it is on does not.
func TestStateOfARun(t *testing.T) {
	const tail = "; : > end"
	files := "{ : > a; } & { : > b; } & wait" + tail
	pipe := "{ { : > a; echo a; } & { : > b; echo b; } & wait; : > c; } | { : > late; cat; }"
	printed := "{ : > a; echo a; } & { : > b; echo b; } & wait" + tail
	remembered := "{ : > a; } & { : > b; read x < n; : > c; } & wait" + tail
	// A child sends what its parent has blocked, where n holds 2.
	pending := `exec perl -MPOSIX -e 'sigprocmask(SIG_BLOCK, POSIX::SigSet->new(SIGUSR1)); if (!fork) {
		open F, "<n"; kill(USR1 => getppid) if <F> == 2; _exit(0) } wait; open F, ">end"'`
	both, one := [2]string{"a", "b"}, [2]string{"1\n", "1\n"}
	for _, c := range []struct {
		name, script, at string
		first, number    [2]string // who goes first, and what n holds
		same             bool
	}{
		{"files", files, "end", both, one, true},
		{"an order in a pipe", pipe, "c", both, one, false},
		{"an order of what is printed", printed, "end", both, one, false},
		{"what a child has read", remembered, "c", [2]string{"b", "b"}, [2]string{"1\n", "2\n"}, false},
		{"a signal that is blocked", pending, "end", [2]string{"n", "n"}, [2]string{"1\n", "2\n"}, false},
		{"no signal", pending, "end", [2]string{"n", "n"}, one, true},
		{"the same order again", remembered, "c", [2]string{"b", "b"}, one, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var states []string
			for i, first := range c.first {
				states = append(states, stateAt(t, i+1, c.script, c.number[i], first, c.at))
			}
			require.NotEmpty(t, states[0])
			require.NotEmpty(t, states[1])
			require.Equal(t, c.same, states[0] == states[1])
		})
	}
}

// Amid a call that takes several steps, as copy_file_range(2) does, each step has a state of its own, although the
// process remembers the same.
func TestStateAmidACall(t *testing.T) {
	m := newMachine()
	must(m.Proc(100).WriteFile(dir+"/n", []byte("1\n"), 0o644))
	run, err := tracer.Start(config("perl", "-e",
		`open F, "<n"; open G, ">a"; for (1, 2) { syscall(326, fileno F, 0, fileno G, 0, 10, 0) }`))
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	states := map[string]bool{}
	toItsEnd(t, m, run, func(p tracer.Pending, _ fsfake.Result) {
		sum := run.State()
		require.False(t, states[sum], p.Op)
		states[sum] = true
	})
	require.Greater(t, len(states), 6)
}

// What a process keeps in a file of its memory is in no sum.
func TestNoStateOfRealFiles(t *testing.T) {
	for script, known := range map[string]bool{
		`open F, ">a"`:                                   true,
		`open G, "<", "/dev/null"; open F, ">a"`:         true,
		`my $f = "f"; syscall(319, $f, 0); open F, ">a"`: false, // memfd_create(2)
		`open G, "+<", "/dev/ptmx"; open F, ">a"`:        false,
	} {
		run, err := tracer.Start(config("perl", "-e", script))
		skipUntraceable(t, err)
		require.NoError(t, err)
		_, err = run.Next()
		require.NoError(t, err)
		require.Equal(t, known, run.State() != "", script)
		require.Equal(t, known, run.Memory() != "", script)
		run.Stop()
	}
}

// stateAt is the state of a script, on one of the CPUs, that is about to open a file. Who opens the first goes before
// others.
func stateAt(t *testing.T, cpu int, script, number, first, at string) string {
	m := newMachine()
	must(m.Proc(100).WriteFile(dir+"/n", []byte(number), 0o644))
	c := config("sh", "-c", script)
	c.CPU = cpu
	run, err := tracer.Start(c)
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	for prefers := 0; ; {
		set, err := run.Next()
		require.NoError(t, err)
		which := func(f func(p tracer.Pending) bool) int { return slices.IndexFunc(set, f) }
		opens := func(name string) int {
			return which(func(p tracer.Pending) bool { return p.Op.Call == fsfake.CallOpen && p.Op.Path == name })
		}
		i := which(func(p tracer.Pending) bool { return p.Op.Call == fsfake.CallFork })
		if i < 0 && opens(first) >= 0 {
			i = opens(first)
			prefers = set[i].Task.Pid
		}
		if i < 0 {
			i = which(func(p tracer.Pending) bool { return p.Task.Pid == prefers && p.Op.Path != at })
		}
		if i < 0 {
			i = which(func(p tracer.Pending) bool { return p.Op.Path != "late" && p.Op.Path != at })
		}
		if i < 0 && opens(at) >= 0 {
			return run.State()
		}
		require.GreaterOrEqual(t, i, 0, "it has not opened %s", at)
		require.NoError(t, run.Answer(set[i].Task, answer(m, set[i])))
	}
}

// A close of a description that others have, too, is taken for one that commutes; that it does not, where one of them
// locks it later, is told with that call.
func TestCallsThatCommute(t *testing.T) {
	const script = "exec 9> l; { exec 9>&-; : > a; } & wait; flock 9; : > b"
	m := newMachine()
	c := config("sh", "-c", script)
	c.CPU = 1 // whose number is in what the loader remembers
	run, err := tracer.Start(c)
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	closes, missed := 0, 0
	toItsEnd(t, m, run, func(p tracer.Pending, _ fsfake.Result) {
		switch {
		case p.Op.Call == fsfake.CallClose && p.Task.Pid != 100 && p.Commutes:
			closes++
		case p.Op.Call == fsfake.CallOpen:
			require.False(t, p.Commutes)
		case p.Op.Call == fsfake.CallFlock && p.Missed:
			missed++
		}
	})
	require.Positive(t, closes)
	require.Equal(t, 1, missed)
}

// Each byte of memory that a program may rely on is in the sum: one that differs, in any page, makes another state.
func TestStateHasEachPage(t *testing.T) {
	testmain.OneWorker(t)
	run, err := tracer.Start(config("perl", "-e", `$x = "x" x 600000; open F, ">a"`))
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	_, err = run.Next()
	require.NoError(t, err)
	real := run.Real(100)
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", real))
	require.NoError(t, err)
	state, pages := run.State(), 0
	require.NotEmpty(t, state)
	for line := range strings.Lines(string(maps)) {
		var from, to uint64
		var may string
		_, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &may)
		require.NoError(t, err)
		if strings.HasSuffix(line, "[stack]\n") {
			from = to - 4096
		}
		for ; may[1] == 'w' && from < to; from += 4096 {
			b := []byte{0}
			at := []unix.RemoteIovec{{Base: uintptr(from + 4095), Len: 1}}
			local := []unix.Iovec{{Base: &b[0], Len: 1}}
			flips := func() {
				_, err := unix.ProcessVMReadv(real, local, at, 0)
				require.NoError(t, err)
				b[0] ^= 1
				_, err = unix.ProcessVMWritev(real, local, at, 0)
				require.NoError(t, err)
			}
			flips()
			require.NotEqual(t, state, run.State(), "%x of %s", from, line)
			flips()
			pages++
		}
		require.Equal(t, state, run.State(), line)
	}
	require.Greater(t, pages, 100)
}
