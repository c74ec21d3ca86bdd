//go:build linux && amd64

package tracer

import (
	"slices"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Signals that are sent.

// kill with signal 0 asks the fake. Others reach processes of the run; of a signal for one that the run does not own
// the fake is told.
func (t *thread) kill(c *call) {
	pid, sig := c.int(0), c.int(1)
	switch {
	case sig == 0 && pid > 0:
		t.askZero(fsfake.Op{Call: fsfake.CallKill, Pid: pid})
	case pid == -1:
		t.unmodelled("a signal to all processes is not handled")
	case pid <= 0:
		t.killGroup(-pid, sig)
	default:
		t.killProcess(pid, sig)
	}
}

func (t *thread) killProcess(pid, sig int) {
	if p := t.r.leader(pid); p != nil {
		send := func(fsfake.Result) {
			t.instead(unix.SYS_KILL, uint64(p.real), uint64(sig))
			t.passThen(nil)
		}
		switch {
		case p == t.p:
			send(fsfake.Result{})
		case !p.gone: // a step, for what the other has done before it is another question; meanwhile it may have ended
			t.ask(fsfake.Op{Call: fsfake.CallKill, Pid: pid}, func(r fsfake.Result) {
				if p.reaped {
					t.fail(unix.ESRCH)
					return
				}
				send(r)
			})
		case p.reaped || p.parent == nil:
			t.fail(unix.ESRCH)
		default: // it waits to be reaped: a signal has no effect
			t.result(0)
		}
		return
	}
	t.foreign(pid, sig)
}

// foreign is a signal to a process that the run does not own. When it comes, whoever drives that run says by
// [Run.Signal].
func (t *thread) foreign(pid, sig int) {
	t.askZero(fsfake.Op{Call: fsfake.CallKill, Pid: pid, Flags: sig})
}

// killGroup is kill(0, …) and kill(-PGID, …). All processes of a group of the run are its own. A group that the
// run does not know is another's as long as the process lives that leads it; one that has outlived its leader is not
// noticed.
func (t *thread) killGroup(pgid, sig int) {
	if pgid == 0 {
		pgid = t.p.pgid
	}
	own := func(p *process) bool { return p.pgid == pgid || p.pid == pgid }
	if !slices.ContainsFunc(t.r.procs, own) {
		t.askThen(fsfake.Op{Call: fsfake.CallKill, Pid: pgid}, func(fsfake.Result) {
			t.unmodelled("a signal to process group %d, which is not one of its own, is not modelled", pgid)
		})
		return
	}
	var members []*process
	for _, p := range t.r.procs {
		if p.pgid == pgid && !p.gone {
			members = append(members, p)
		}
	}
	leader := t.r.leader(pgid)
	switch others := slices.DeleteFunc(slices.Clone(members), func(p *process) bool { return p == t.p }); {
	case len(members) > 0 && sig == 0:
		t.result(0)
		return
	case len(members) > 0 && leader != nil:
		send := func(fsfake.Result) {
			t.instead(unix.SYS_KILL, uint64(-int64(leader.real)), uint64(sig))
			t.passThen(nil)
		}
		if len(others) == 0 {
			send(fsfake.Result{})
			return
		}
		// A step, as a signal for one of them is. It is sent though that one has ended meanwhile, for others are left.
		t.ask(fsfake.Op{Call: fsfake.CallKill, Pid: others[0].pid}, send)
		return
	}
	t.fail(unix.ESRCH)
}

func (t *thread) tgkill(pid, id, sig int) {
	real, p := t.r.realID(id), t.r.process(pid)
	switch {
	case p == nil && t.r.leader(pid) == nil && pid > 0:
		t.foreign(pid, sig)
		return
	case real == 0 || p == nil:
		t.fail(unix.ESRCH)
		return
	}
	t.instead(unix.SYS_TGKILL, uint64(p.real), uint64(real), uint64(sig))
	t.passThen(nil)
}

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
