//go:build linux && amd64

package tracer

import (
	"encoding/binary"

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
