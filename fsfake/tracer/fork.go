//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// The beginning and the end of threads and processes.

func (t *thread) clone3(c *call) {
	b, err := readFull(t.tid, c.args[0], 64)
	if err != nil || c.args[1] < 64 {
		t.fail(unix.EINVAL)
		return
	}
	le := binary.LittleEndian
	t.fork(le.Uint64(b), le.Uint64(b[24:]), le.Uint64(b[16:]))
}

// fork makes a thread, for which nobody is asked, or a process, which is one of the fake.
func (t *thread) fork(flags, parentTid, childTid uint64) {
	const namespaces = unix.CLONE_NEWNS | unix.CLONE_NEWCGROUP | unix.CLONE_NEWUTS | unix.CLONE_NEWIPC |
		unix.CLONE_NEWUSER | unix.CLONE_NEWPID | unix.CLONE_NEWNET
	t.parentTid, t.childTid, t.child = 0, 0, nil
	if flags&unix.CLONE_PARENT_SETTID != 0 {
		t.parentTid = parentTid
	}
	if flags&unix.CLONE_CHILD_SETTID != 0 {
		t.childTid = childTid
	}
	switch {
	case flags&namespaces != 0:
		t.unmodelled("namespaces are not handled")
	case flags&(unix.CLONE_UNTRACED|unix.CLONE_PARENT|unix.CLONE_PTRACE) != 0:
		t.unmodelled("flags %#x are not handled", flags)
	case flags&unix.CLONE_THREAD != 0:
		t.newPid = 0
		t.passThen(t.forked)
	case flags&unix.CLONE_FILES != 0, flags&unix.CLONE_VM != 0 && flags&unix.CLONE_VFORK == 0:
		t.unmodelled("a process that shares memory or descriptors is not handled")
	case flags&unix.CLONE_FS != 0:
		t.unmodelled("a process that shares its working directory and umask is not handled")
	case t.newPid != 0: // a signal came before the kernel had made the process that was asked for: the call comes again
		t.passThen(t.forked)
	default:
		t.askThen(fsfake.Op{Call: fsfake.CallFork}, func(r fsfake.Result) {
			t.newPid = int(r.N)
			t.passThen(t.forked)
		})
	}
}

func (t *thread) forked(ret int64) {
	switch {
	case ret < 0 && t.newPid != 0:
		t.fault("it failed: %v", syscall.Errno(-ret))
	case ret > 0 && t.child != nil:
		t.setRax(int64(t.child.vtid()))
	}
	t.child, t.newPid = nil, 0
}

// exitThread is the end of one thread; of the last one it is that of the process.
func (t *thread) exitThread(c *call) {
	left := 0
	for _, o := range t.p.threads {
		if o.state != waiting {
			left++
		}
	}
	if left > 1 {
		t.pass()
		return
	}
	t.exitGroup(c)
}

func (t *thread) exitGroup(c *call) {
	t.exit = Exit{Status: c.int(0) & 0xff}
	t.ask(fsfake.Op{Call: fsfake.CallExit}, func(fsfake.Result) {
		t.die()
	})
}
