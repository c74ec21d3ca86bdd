//go:build linux

package kernel

import (
	"fmt"
	"runtime"

	"golang.org/x/sys/unix"
	"lockpick/fsfake"
)

// To execute the binary again costs several milliseconds, a hundred times what a call
// costs. Where workers make calls and nothing else ([Options.CallsOnly]), they are forked
// instead: the machine has a nursery, a worker without a simulated process, which forks one
// for every process that starts; and fork(2) is just that.
//
// The Go runtime does not know that it was forked. The child has one thread, and whatever
// the others did is never finished. What a worker does between two frames gets along with
// that: it runs on the one goroutine that is locked to the main thread, waits only in
// system calls, starts no goroutine, and collects no garbage (GOGC=off; a worker that has
// made many calls is not used again). What remains is the runtime's monitor, a thread that
// asks a goroutine that has run for 10 ms to let others run. A child that inherits this
// request would wait for a thread that it does not have. A forked process has no monitor;
// so the nursery is itself forked, and only a process that has made execve(2) is one whose
// children could inherit the request: see forkOnly. Such a one is not used again, either.

// maxCalls is how many calls a worker makes that collects no garbage.
const maxCalls = 20_000

// forkOnly makes a child that goes on as this process does, and serves another channel. In
// the child it returns as well; what the child then answers is hello.
func (t *thread) forkOnly(slot int) (int, error) {
	if t.env.Stage == stageExec {
		// The request to let others run, if there is one, is obeyed now; the monitor makes
		// none within the next 10 ms.
		runtime.Gosched()
	}
	pid, err := rawFork()
	if err == nil && pid == 0 {
		t.env.Stage, t.env.Slot = stageFork, slot
		t.channel, t.newborn = t.env.channel(slot), true
	}
	return pid, err
}

// forkNursery makes the nursery a fork of the process that was executed, which ends: see
// above.
func forkNursery() error {
	runtime.Gosched()
	pid, err := rawFork()
	if err != nil {
		return fmt.Errorf("kernel: forking the nursery: %w", err)
	}
	if pid > 0 {
		unix.Exit(0)
	}
	return nil
}

// spawn has the nursery fork a worker. It returns in the worker as well.
func (t *thread) spawn(d *decoder) (fsfake.Result, error) {
	slot, uid, gid, cwd := int(d.int()), int(d.int()), int(d.int()), d.string()
	pid, err := t.forkOnly(slot)
	if err != nil || pid > 0 {
		return number(pid, err), nil
	}
	t.env.UID, t.env.GID, t.env.Cwd = uid, gid, cwd
	return fsfake.Result{}, t.env.settleIn(true)
}
