//go:build linux && amd64

package tracer

import (
	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Descriptors of processes. That of a process of the run is real. That of a process of another run is a placeholder:
// it is sent signals by the fake, and other calls on it are faults. A pid that another process has
// got meanwhile is not noticed.

func (t *thread) pidfdOpen(c *call) {
	pid := c.int(0)
	own := t.r.leader(pid)
	switch {
	case pid <= 0 || c.args[1]&^(unix.O_NONBLOCK|unix.O_EXCL) != 0:
		t.fail(unix.EINVAL)
	case own != nil && (!own.gone || own.parent != nil && !own.reaped):
		t.instead(c.nr, uint64(own.real), c.args[1])
		t.passThen(nil)
	default:
		t.ask(fsfake.Op{Call: fsfake.CallStartTime, Pid: pid}, func(r fsfake.Result) {
			if r.Errno != 0 {
				t.fail(unix.ESRCH)
				return
			}
			t.instead(unix.SYS_EPOLL_CREATE1, unix.O_CLOEXEC)
			t.passThen(func(ret int64) {
				if ret >= 0 {
					t.p.fds[int(ret)] = &descriptor{fake: -1, process: pid}
				}
			})
		})
	}
}

func (t *thread) pidfdSendSignal(c *call) {
	d := t.p.fds[c.fd(0)]
	switch {
	case d == nil || d.process == 0:
		t.pass()
	case c.args[3] != 0:
		t.fail(unix.EINVAL)
	default:
		t.foreign(d.process, c.int(1))
	}
}

// awaits reports whether a descriptor that a call waits for is that of a process of another run, or a socket below the
// virtual directory, which is a fault.
func (t *thread) awaits(fd int) bool {
	if t.talks(fd) {
		return true
	}
	d := t.p.fds[fd]
	if d == nil || d.process == 0 {
		return false
	}
	t.unmodelled("waiting for the end of process %d, which is not one of its own, is not modelled", d.process)
	return true
}
