//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"syscall"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Waiting for children.

// ours reports whether a child matches what wait4 or waitid ask for; eldest, whether the first one of these has ended.
func (p *process) ours(pid int) (living, dead, eldest bool) {
	for _, c := range p.r.procs {
		if c.parent != p || pid > 0 && c.pid != pid || pid == 0 && c.pgid != p.pgid || pid < -1 && c.pgid != -pid {
			continue
		}
		is := c.gone && !c.reaped
		eldest = eldest || is && !living
		living, dead = living || !c.gone, dead || is
	}
	return living, dead, eldest
}

// waitFor makes a call that waits for a child. It is a step when another process could change
// its answer by ending before.
func (t *thread) waitFor(pid int, nohang bool, make func()) {
	living, dead, _ := t.p.ours(pid)
	if t.waits = pid; living && (nohang || dead) {
		t.ask(fsfake.Op{Call: fsfake.CallWork}, func(fsfake.Result) { make() })
		return
	}
	make()
}

// reap translates what a call for a child returned.
func (t *thread) reap(real int, keep bool) int {
	c := t.r.processOf(real)
	if c == nil {
		return real
	}
	c.reaped = !keep
	return c.pid
}

func (t *thread) wait4(c *call) {
	pid, args := c.int(0), c.args
	real := t.realWait(pid)
	if real == 0 && pid != 0 {
		t.fail(unix.ECHILD)
		return
	}
	if pid != -1 && pid != 0 {
		t.instead(unix.SYS_WAIT4, uint64(int64(real)))
	}
	nohang := c.int(2)&unix.WNOHANG != 0
	t.waitFor(pid, nohang, func() {
		after := func(ret int64) {
			if ret <= 0 {
				return
			}
			if args[3] != 0 {
				_ = writeMem(t.tid, args[3], make([]byte, 144))
			}
			t.setRax(int64(t.reap(int(ret), false)))
		}
		if nohang {
			t.passThen(after)
			return
		}
		t.passWaiting(after)
	})
}

// realWait translates the first argument of wait4; 0 when there is no such child.
func (t *thread) realWait(pid int) int {
	switch {
	case pid == -1 || pid == 0:
		return pid
	case pid < -1:
		if p := t.r.leader(-pid); p != nil {
			return -p.real
		}
		return 0
	}
	if p := t.r.leader(pid); p != nil && p.parent == t.p && !p.reaped {
		return p.real
	}
	return 0
}

func (t *thread) waitid(c *call) {
	const pAll, pPid, pPgid = 0, 1, 2
	pid, args := -1, c.args
	switch c.int(0) {
	case pAll:
	case pPid:
		pid = c.int(1)
	case pPgid:
		pid = -c.int(1)
	default: // a pidfd
		if d := t.p.fds[c.fd(1)]; d != nil && d.process != 0 {
			t.fail(unix.ECHILD)
			return
		}
	}
	if c.int(0) == pPid || c.int(0) == pPgid && pid != 0 {
		real := t.realWait(pid)
		if real == 0 {
			t.fail(unix.ECHILD)
			return
		}
		t.instead(unix.SYS_WAITID, args[0], uint64(max(real, -real)))
	}
	nohang := c.int(3)&unix.WNOHANG != 0
	t.waitFor(pid, nohang, func() {
		after := func(ret int64) {
			if ret == 0 {
				t.waited(args)
			}
		}
		if nohang {
			t.passThen(after)
			return
		}
		t.passWaiting(after)
	})
}

// waited corrects the siginfo that waitid wrote: the pid, and times that differ from run to
// run.
func (t *thread) waited(args [6]uint64) {
	if args[4] != 0 {
		_ = writeMem(t.tid, args[4], make([]byte, 144))
	}
	b, err := readFull(t.tid, args[2], 48)
	if args[2] == 0 || err != nil {
		return
	}
	real := int(binary.LittleEndian.Uint32(b[16:]))
	if real == 0 {
		return
	}
	pid := t.reap(real, args[3]&unix.WNOWAIT != 0)
	_ = writeMem(t.tid, args[2]+16, binary.LittleEndian.AppendUint32(nil, uint32(pid)))
	_ = writeMem(t.tid, args[2]+32, make([]byte, 16))
}

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
