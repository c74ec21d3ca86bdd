//go:build linux && amd64

package tracer

import (
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"lockpick/internal/testmain"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A thread that computes without a call is poked, so that others may go on; one that does not
// have the CPU is not: which call comes first must not depend on how busy the machine is.
func TestWhoIsPoked(t *testing.T) {
	testmain.Slow(t, "it waits for what sleeps", "./fsfake/tracer")
	testmain.Needs(t, "sh", "./fsfake/tracer")
	for program, want := range map[string]string{"while :; do :; done": "T", "exec sleep 60": "S"} {
		cmd := exec.Command("sh", "-c", program)
		require.NoError(t, cmd.Start())
		r := &Run{over: make(chan struct{})}
		r.dog.begin(&thread{p: &process{real: cmd.Process.Pid}, tid: cmd.Process.Pid})
		go r.watch()
		state := func() string {
			b, err := os.ReadFile("/proc/" + strconv.Itoa(cmd.Process.Pid) + "/stat")
			require.NoError(t, err)
			return strings.Fields(string(b[strings.LastIndexByte(string(b), ')')+1:]))[0]
		}
		if want == "T" {
			require.Eventually(t, func() bool { return state() == want }, time.Minute, 10*time.Millisecond)
		} else {
			time.Sleep(450 * time.Millisecond) // four looks
			require.Equal(t, want, state())
		}
		close(r.over)
		require.NoError(t, cmd.Process.Kill())
		_ = cmd.Wait()
	}
}

// The time in which a program waits for the CPU, on a busy machine, does not count; that in which it sleeps does.
func TestWhoWaitsForTheCPUIsNotLate(t *testing.T) {
	testmain.Slow(t, "it waits for programs that hardly get the CPU", "./fsfake/tracer")
	var one unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &one))
	cpu := nthCPU(&one, 1)
	one.Zero()
	one.Set(cpu)
	start := func(program string) int {
		cmd := exec.Command("sh", "-c", program)
		require.NoError(t, cmd.Start())
		t.Cleanup(func() {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		})
		require.NoError(t, unix.SchedSetaffinity(cmd.Process.Pid, &one))
		return cmd.Process.Pid
	}
	busy := []int{start("while :; do :; done"), start("while :; do :; done"), start("while :; do :; done")}
	moved := func(pid int) (by, in time.Duration) {
		var d watchdog
		d.remember(pid)
		begun := time.Now()
		s := starvation{at: begun}
		s.look(&d)
		d.deadline.Store(1)
		time.Sleep(200 * time.Millisecond)
		s.look(&d)
		return time.Duration(d.deadline.Load() - 1), time.Since(begun)
	}
	by, in := moved(busy[0])
	require.Greater(t, by, 50*time.Millisecond, "each has a third of the CPU")
	require.LessOrEqual(t, by, in)
	sleeps := start("exec sleep 60")
	require.Eventually(t, func() bool { // until it does
		b, err := os.ReadFile("/proc/" + strconv.Itoa(sleeps) + "/stat")
		return err == nil && strings.Contains(string(b), "(sleep) S ")
	}, time.Minute, 10*time.Millisecond)
	by, _ = moved(sleeps)
	require.Less(t, by, 50*time.Millisecond)
}
