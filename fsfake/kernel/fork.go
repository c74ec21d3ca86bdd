//go:build linux

package kernel

import (
	"runtime"
	"syscall"

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
// system calls, starts no goroutine, and collects no garbage (GOGC=off; a nursery that has
// forked many is not used again).
//
// That holds for the children of a process with one thread. One that was executed has more:
// the runtime's monitor, which asks a goroutine that has run for 10 ms to let others run, and
// idle ones. Its child may inherit that request, or a lock that another thread held, and
// waits for ever then. So the nursery is itself a fork, the only one of a process with
// threads, and before it is used it tries what would wait: see [tryRuntime]. One that does
// not say that it is well is killed, and another made. A worker that has made execve(2) has
// threads again; it makes its children as those workers do that run programs.

// maxForks is how many workers a nursery forks, which collects no garbage.
const maxForks = 20_000

// forkOnly makes a child that goes on as this process does, and serves another channel. In
// the child it returns as well; what the child then answers is hello.
func (t *thread) forkOnly(slot, spaces int) (int, error) {
	pid, err := rawFork(spaces)
	if err == nil && pid == 0 {
		t.env.Stage, t.env.Slot = stageFork, slot
		t.channel, t.newborn = t.env.channel(slot), true
	}
	return pid, err
}

// forkNursery forks the nursery. The process that was executed says which process that is,
// and ends.
func (t *thread) forkNursery() error {
	pid, err := rawFork(0)
	if err == nil && pid == 0 {
		tryRuntime()
		return nil
	}
	r := number(pid, err)
	if err := t.answer(&r); err != nil {
		return err
	}
	unix.Exit(0)
	panic("unreachable")
}

// tryRuntime does what waits for ever where another thread has left the runtime's memory as
// it was in the middle of something: it lets itself be asked to let others run, takes the
// locks of the scheduler, of the heap, and that of execve(2).
func tryRuntime() {
	runtime.GOMAXPROCS(0)
	runtime.KeepAlive(make([]byte, 1<<20))
	_ = syscall.Exec("", nil, nil)
}

// spawn has the nursery fork a worker. It returns in the worker as well.
func (t *thread) spawn(d *decoder) (fsfake.Result, error) {
	slot, uid, gid, cwd := int(d.int()), int(d.int()), int(d.int()), d.string()
	spaces := 0
	if d.bool() {
		spaces = unix.CLONE_NEWPID
	}
	pid, err := t.forkOnly(slot, spaces)
	if err != nil || pid > 0 {
		return number(pid, err), nil
	}
	t.env.UID, t.env.GID, t.env.Cwd = uid, gid, cwd
	return fsfake.Result{}, t.env.settleIn(true)
}
