//go:build linux && amd64

package tracer_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/testmain"
)

// sleeps are the waits whose time was made to come, in order.
func sleeps(t *testing.T, m *fsfake.Machine, c tracer.Config) (outcome, []time.Duration) {
	t.Helper()
	run, err := tracer.Start(c)
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	var slept []time.Duration
	for {
		set, err := run.Next()
		require.NoError(t, err, "%s%s", run.Stdout(), run.Stderr())
		if len(set) == 0 {
			break
		}
		if len(slept) > 100 {
			require.Fail(t, "it sleeps for ever", "%v", set)
		}
		p, ok := pickOrInterrupt(m, set)
		require.True(t, ok, "all are blocked: %v", set)
		if p.Timer {
			slept = append(slept, time.Duration(p.Op.Time))
		}
		require.NoError(t, run.Answer(p.Task, answer(m, p)))
	}
	exit, _ := run.Exit(100)
	return outcome{Exit: exit.String(), Stdout: run.Stdout(), Stderr: run.Stderr()}, slept
}

// Waits take no time, and the clocks of the program agree with them.
func TestWaits(t *testing.T) {
	testmain.Slow(t, "it waits for programs that wait", "./fsfake/tracer")
	start := time.Now()
	python := python(t, "")[0]
	for _, c := range []struct {
		name, program, want string
		slept               []time.Duration
	}{
		{"sleep", `
import time # a look at a clock takes a microsecond
a, w = time.monotonic(), time.time(); time.sleep(7200)
print(round(time.monotonic() - a, 3), round(time.time() - w, 3))`,
			"7200.0 0.0\n", []time.Duration{2 * time.Hour}},
		{"select", `
import os, select, time
r, w = os.pipe(); a = time.monotonic()
print(select.select([r], [], [], 3), time.monotonic() - a)
os.write(w, b"x")
print(select.select([r], [], [], 3)[0] == [r])`,
			"([], [], []) 3.0\nTrue\n", []time.Duration{3 * time.Second}},
		{"poll", `
import os, select, time
r, w = os.pipe(); a = time.monotonic(); p = select.poll(); p.register(r, select.POLLIN)
print(p.poll(1500), time.monotonic() - a)
e = select.epoll(); e.register(r); print(e.poll(2), time.monotonic() - a)`,
			"[] 1.5\n[] 3.5\n", []time.Duration{1500 * time.Millisecond, 2 * time.Second}},
		{"threads", `
import threading, time
e = threading.Event(); a = time.monotonic()
print(e.wait(0.5), time.monotonic() - a)
t = threading.Timer(2, e.set); t.start(); print(e.wait(60), time.monotonic() - a)`,
			"False 0.5\nTrue 2.5\n", []time.Duration{500 * time.Millisecond, 2 * time.Second}},
		{"alarm", `
import signal, time
class Up(Exception): pass
def up(*a): raise Up
signal.signal(signal.SIGALRM, up); signal.alarm(7)
a = time.monotonic()
try: time.sleep(30)
except Up: print("up after", time.monotonic() - a)
signal.setitimer(signal.ITIMER_REAL, 2.5); print(signal.getitimer(signal.ITIMER_REAL))
try: signal.pause()
except Up: print("up after", time.monotonic() - a)`,
			"up after 7.0\n(2.5, 0.0)\nup after 9.5\n", []time.Duration{7 * time.Second, 2500 * time.Millisecond}},
		{"a child's sleep", `
import subprocess, time
a = time.monotonic(); subprocess.run(["sleep", "4"]); print(time.monotonic() - a)`,
			"4.0\n", []time.Duration{4 * time.Second}},
		{"a fork has a clock of its own", `
import os, time
a = time.monotonic()
if os.fork() == 0:
    time.sleep(3); print("child", time.monotonic() - a, flush=True); os._exit(0)
print("parent", time.monotonic() - a, flush=True); os.wait(); print(time.monotonic() - a)`,
			"parent 0.0\nchild 3.0\n3.0\n", []time.Duration{3 * time.Second}},
		{"timeout", `
import subprocess
try: subprocess.run(["sleep", "100"], timeout=1)
except subprocess.TimeoutExpired: print("too late")`,
			"too late\n", nil},
		{"a thread that only looks lets others go on", `
import os, select, threading
go, went = os.pipe(), os.pipe()
def other(): os.read(go[0], 1); os.write(went[1], b"x")
threading.Thread(target=other).start(); os.write(go[1], b"x")
while not select.select([went[0]], [], [], 0)[0]: pass
print("came")`,
			"came\n", nil},
		{"a file is ready", `
import select
f = open("f", "w"); p = select.poll(); p.register(f, select.POLLOUT); print(p.poll(1000)[0][1])`,
			"4\n", nil},
		{"now", `
import time, datetime
print(round(time.time(), 3), datetime.datetime.now().replace(microsecond=0), time.localtime().tm_year)`,
			"1767225600.0 2026-01-01 00:00:00 2026\n", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, slept := sleeps(t, newMachine(), config(python, "-c", c.program))
			require.Equal(t, outcome{Exit: "exit 0", Stdout: c.want}, got)
			if c.slept != nil {
				require.Equal(t, c.slept, slept)
			}
		})
	}
	require.Less(t, time.Since(start), time.Hour)
}

// holder is a process that holds a flock on a file.
func holder(m *fsfake.Machine, name string, pid int) *fsfake.File {
	m.AddProc(fsfake.ProcSpec{Pid: pid, Cwd: dir})
	f, err := m.Proc(pid).OpenFile(name, os.O_CREATE|os.O_RDWR, 0o666)
	must(err)
	must(f.Flock(fsfake.LOCK_EX))
	return f
}

// A blocked lock call stays blocked until the lock is free, or an alarm ends it.
func TestBlockedLocks(t *testing.T) {
	need(t, "flock")
	t.Run("granted", func(t *testing.T) {
		m := newMachine()
		f := holder(m, "lock", 50)
		run, err := tracer.Start(config("flock", "lock", "echo", "got it"))
		skipUntraceable(t, err)
		require.NoError(t, err)
		defer run.Stop()
		released := false
		for {
			set, err := run.Next()
			require.NoError(t, err)
			if len(set) == 0 {
				break
			}
			p, ok := pick(m, set)
			if !ok {
				require.Len(t, set, 1)
				require.True(t, set[0].Blocked)
				require.Equal(t, fsfake.CallFlock, set[0].Op.Call)
				require.False(t, released)
				released = true
				must(f.Flock(fsfake.LOCK_UN))
				continue
			}
			require.NoError(t, run.Answer(p.Task, m.Do(p.Task, p.Op)))
		}
		require.True(t, released)
		require.Equal(t, "got it\n", run.Stdout())
	})
	t.Run("timeout of python", func(t *testing.T) {
		m := newMachine()
		holder(m, "lock", 50)
		got, slept := sleeps(t, m, config(python(t, "")[0], "-c", `
import fcntl, signal
def up(*a): raise TimeoutError
signal.signal(signal.SIGALRM, up); signal.alarm(3)
f = open("lock", "w")
try: fcntl.flock(f, fcntl.LOCK_EX)
except TimeoutError: print("no lock")`))
		require.Equal(t, outcome{Exit: "exit 0", Stdout: "no lock\n"}, got)
		require.Equal(t, []time.Duration{3 * time.Second}, slept)
	})
	t.Run("timeout of flock(1)", func(t *testing.T) {
		m := newMachine()
		holder(m, "lock", 50)
		got, slept := sleeps(t, m, config("flock", "-w", "2", "lock", "true"))
		require.Equal(t, outcome{Exit: "exit 1"}, got)
		require.Equal(t, []time.Duration{2 * time.Second}, slept)
	})
	t.Run("a call that is made again", func(t *testing.T) {
		m := newMachine()
		f := holder(m, "lock", 50)
		run, err := tracer.Start(config(need(t, "perl"), "-e", `
use POSIX; use Fcntl ':flock';
sigaction(SIGALRM, POSIX::SigAction->new(sub { print "alarm\n" }, POSIX::SigSet->new, SA_RESTART)); alarm 1;
open(my $f, ">", "lock"); $| = 1; flock($f, LOCK_EX) or die; print "locked\n";`))
		skipUntraceable(t, err)
		require.NoError(t, err)
		defer run.Stop()
		interrupted, blocked := 0, 0
		for {
			set, err := run.Next()
			require.NoError(t, err)
			if len(set) == 0 {
				break
			}
			p, ok := pickOrInterrupt(m, set)
			switch {
			case !ok:
				blocked++
				require.Equal(t, 1, interrupted)
				must(f.Flock(fsfake.LOCK_UN))
			case p.Interrupted:
				interrupted++
				require.NoError(t, run.Answer(p.Task, m.Interrupt(p.Task)))
			default:
				require.NoError(t, run.Answer(p.Task, m.Do(p.Task, p.Op)))
			}
		}
		require.Equal(t, 1, blocked)
		require.Contains(t, run.Stdout(), "locked\n")
		require.Contains(t, run.Stdout(), "alarm\n")
	})
}

// Programs look at the monotonic clock without a stop, so it costs no more than without a tracer.
func TestMonotonicClockWithoutStop(t *testing.T) {
	m := newMachine()
	run, err := tracer.Start(config(python(t, "")[0], "-ISc", `
import time
for i in range(20000): time.monotonic()
print(time.monotonic(), time.clock_gettime(time.CLOCK_MONOTONIC_RAW), time.clock_gettime(time.CLOCK_BOOTTIME))`))
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	for {
		set, err := run.Next()
		require.NoError(t, err)
		if len(set) == 0 {
			break
		}
		require.NoError(t, run.Answer(set[0].Task, answer(m, set[0])))
	}
	require.Equal(t, "3600.000034143 3600.000034143 3600.000034143\n", run.Stdout(), run.Stderr())
	require.Less(t, run.Calls(), 10000)
}

// Reading the time of day is a call when the driver wants it, but not twice when nothing else can
// have changed. A look takes time.
func TestTimeOfDayIsAsked(t *testing.T) {
	m := newMachine()
	c := config(python(t, "")[0], "-c", `
import time, os
a = time.time(); b = time.time(); os.mkdir("d"); print(a < b < a + 1e-4, round(time.time() - a, 3))`)
	c.AskTime = true
	run, err := tracer.Start(c)
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	asked := 0
	for {
		set, err := run.Next()
		require.NoError(t, err)
		if len(set) == 0 {
			break
		}
		if set[0].Op.Call == fsfake.CallNow {
			asked++
		}
		require.NoError(t, run.Answer(set[0].Task, m.Do(set[0].Task, set[0].Op)))
		if set[0].Op.Call == fsfake.CallMkdir {
			m.Advance(90 * time.Second)
		}
	}
	require.Equal(t, "True 90.0\n", run.Stdout())
	require.Equal(t, 2, asked)
}

// A killed parent's child goes on, with its locks.
func TestKilledParent(t *testing.T) {
	need(t, "flock")
	m := newMachine()
	run, err := tracer.Start(config("flock", "lock", "sh", "-c", "mkdir in; sleep 1; echo still; rmdir in"))
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	killed := false
	for {
		set, err := run.Next()
		require.NoError(t, err)
		if len(set) == 0 {
			break
		}
		p, _ := pick(m, set)
		if p.Timer && !killed {
			killed = true
			m.KillProc(100)
			require.NoError(t, run.Kill(100))
			_, err := m.Proc(1).Stat(dir + "/in")
			require.NoError(t, err)
			require.Equal(t, 1, locksOn(m, dir+"/lock"), "the child has inherited the lock")
			continue
		}
		require.NoError(t, run.Answer(p.Task, m.Do(p.Task, p.Op)))
	}
	require.True(t, killed)
	exit, ok := run.Exit(100)
	require.True(t, ok)
	require.Equal(t, tracer.Exit{Signal: 9}, exit)
	require.Equal(t, "still\n", run.Stdout())
	require.Zero(t, locksOn(m, dir+"/lock"))
}

func locksOn(m *fsfake.Machine, name string) int {
	id, _ := m.Lookup(name)
	return len(m.View(id).Flocks)
}

// No two programs read their clocks at the same nanosecond, neither those of one run nor those of several; what one waits for
// is as long as it says.
func TestProgramsReadTheirClocksApart(t *testing.T) {
	python := python(t, "")[0]
	seen := map[string]bool{}
	for _, pid := range []int{100, 200} {
		c := config(python, "-c", `
import subprocess, sys, threading, time
told = "import threading, time; print(time.monotonic_ns(), time.time_ns(), flush=True); threading.Event().wait(2)"
exec(told)
for child in [subprocess.Popen([sys.executable, "-c", told]) for _ in range(2)]: child.wait()`)
		c.Pid = pid
		m := newMachine()
		if pid != 100 {
			m.AddProc(fsfake.ProcSpec{Pid: pid, Parent: 1, UID: uint32(os.Getuid()), GID: uint32(os.Getgid()), Cwd: dir})
		}
		got, slept := sleeps(t, m, c)
		require.Equal(t, []time.Duration{2 * time.Second, 2 * time.Second, 0}, slept, "the children sleep side by side")
		for _, n := range strings.Fields(got.Stdout) {
			require.False(t, seen[n], "%s twice", n)
			seen[n] = true
		}
	}
	require.Len(t, seen, 12)
}
