//go:build linux && amd64

package tracer

import (
	"slices"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Calls that commute with all calls of others. Whether one of them comes before what another process of the run asks,
// or after it, nobody can tell: so it need not be followed in both orders.
//
// A descriptor that is closed gives no lock back that nobody has asked for: of its description, or by its process. That
// a description which others have, too, is never locked later is a guess. Where it is, after all, [Pending.Missed]
// says so.

// commutes reports whether what a thread asks commutes with all that others may ask before it is answered. The other
// threads of its process share its descriptors.
func (t *thread) commutes() bool {
	if len(t.p.threads) > 1 || !t.op.Call.Is(fsfake.Own) {
		return false
	}
	closing := t.p.closing
	if d := t.p.ofFake(t.op.FD); t.op.Call.Is(fsfake.Closes) && d != nil {
		closing = []*description{d.file}
	}
	for _, f := range closing {
		if f.locks || t.p.locks {
			return false
		}
	}
	for _, f := range closing {
		f.early = f.early || t.shares(f)
	}
	return true
}

// kin reports whether a thread asks for the beginning or the end of a process, or is told that a child has ended, and
// only who looks at processes can tell what comes before it.
//
// A fork changes nothing that another process has. Of several children that have ended the kernel tells of the eldest,
// so no other changes that. An end changes what its parent is told, which may wait for another
// child as well; here it waits for this one, and does nothing else until then. No lock is given back: the parent
// has each description that somebody has locked, and keeps it at least as long. What was unlocked is as where a
// descriptor is closed.
func (t *thread) kin() bool {
	p := t.p
	switch {
	case len(p.threads) > 1:
		return false
	case t.op.Call == fsfake.CallFork:
		return true
	case t.op.Call == fsfake.CallWork:
		_, _, eldest := p.ours(t.waits)
		return eldest
	case t.op.Call != fsfake.CallExit || p.locks || p.parent == nil || !p.parent.waitsFor(p):
		return false
	}
	var closing []*description
	for _, d := range p.fds { // order does not matter: each is looked at
		switch {
		case !d.known() || p.parent.has(d.file):
		case d.file.locks:
			return false
		default:
			closing = append(closing, d.file)
		}
	}
	for _, f := range closing {
		f.early = f.early || t.shares(f)
	}
	return true
}

// waitsFor reports whether a process waits for the end of a child, and for nothing else.
func (p *process) waitsFor(child *process) bool {
	for _, c := range p.r.procs {
		if c.parent == child && !c.gone || c != child && c.parent == p && !(c.gone && c.reaped) {
			return false
		}
	}
	return p.isIn(unix.SYS_WAIT4, unix.SYS_WAITID, unix.SYS_RT_SIGSUSPEND)
}

// isIn reports whether a process waits in one of some calls, and does nothing else until that returns.
func (p *process) isIn(calls ...int) bool {
	if len(p.threads) != 1 || len(p.alarms) > 0 || p.threads[0].state != inCall || p.threads[0].timed {
		return false
	}
	return slices.Contains(calls, p.threads[0].c.nr)
}

// has reports whether a process has a description.
func (p *process) has(f *description) bool {
	for _, d := range p.fds { // order does not matter: whether there is one
		if d.known() && d.file == f {
			return true
		}
	}
	return false
}

// shares reports whether another process of the run has a description.
func (t *thread) shares(f *description) bool {
	return slices.ContainsFunc(t.r.procs, func(p *process) bool { return p != t.p && p.has(f) })
}

// missed notes which locks are asked for, and says by whom it is seen so that a guess was wrong.
func (r *Run) missed() map[*thread]bool {
	by := map[*thread]bool{}
	for _, p := range r.procs {
		for _, t := range p.threads {
			if t.state == asking {
				by[t] = t.locks()
			}
		}
	}
	return by
}

// locks is missed of one thread.
func (t *thread) locks() bool {
	d := t.p.ofFake(t.op.FD)
	if !t.op.Call.Is(fsfake.Locks) || d == nil {
		return false
	}
	if !t.op.Call.Is(fsfake.OfDescription) {
		t.p.locks = true
		return false
	}
	d.file.locks = true
	return d.file.early
}

// ofFake is the descriptor that is one of the fake, or nil.
func (p *process) ofFake(fake int) *descriptor {
	for _, d := range p.fds { // order does not matter: there is one at most
		if d.known() && d.fake == fake {
			return d
		}
	}
	return nil
}

// Whether the other processes of a run can tell that its root process has been killed.

// ties notes a call that ties a process to the root process: whatever that one asks, and what looks at another process,
// which may be it. A signal at the root's death, and a descriptor of a process, tie for good.
func (t *thread) ties() {
	c, first := &t.c, t.c.int(0)
	looks := t.p.parent == nil
	switch c.nr {
	case unix.SYS_GETPPID:
		looks = true
	case unix.SYS_KILL, unix.SYS_TKILL, unix.SYS_TGKILL, unix.SYS_RT_SIGQUEUEINFO, unix.SYS_RT_TGSIGQUEUEINFO:
		looks = looks || first != t.p.pid
	case unix.SYS_GETPGID, unix.SYS_GETSID, unix.SYS_SETPGID, unix.SYS_SCHED_GETAFFINITY, unix.SYS_SCHED_SETAFFINITY,
		unix.SYS_SCHED_GETPARAM, unix.SYS_SCHED_SETPARAM, unix.SYS_SCHED_GETSCHEDULER, unix.SYS_SCHED_SETSCHEDULER,
		unix.SYS_GET_ROBUST_LIST, unix.SYS_PRLIMIT64, unix.SYS_CAPGET:
		looks = looks || first != 0
	case unix.SYS_GETPRIORITY, unix.SYS_SETPRIORITY:
		looks = looks || first != unix.PRIO_PROCESS || c.int(1) != 0
	case unix.SYS_PRCTL:
		t.r.tied = t.r.tied || first == unix.PR_SET_PDEATHSIG
	case unix.SYS_PIDFD_OPEN:
		looks, t.r.tied = true, true
	}
	if looks {
		t.r.looks++
		t.r.apart = nil
	}
	if t.peeks() {
		t.r.peeks, t.r.peeked = true, t.r.peeked || t.r.eofs
	}
}

// peeks reports whether a call may tell that a pipe is at its end, or make other calls do so, where reading it would
// wait for that.
func (t *thread) peeks() bool {
	const flags = unix.O_NONBLOCK | unix.O_ASYNC
	c := &t.c
	switch c.nr {
	case unix.SYS_POLL, unix.SYS_PPOLL:
		return c.args[1] > 0
	case unix.SYS_SELECT, unix.SYS_PSELECT6:
		return c.int(0) > 0
	case unix.SYS_EPOLL_WAIT, unix.SYS_EPOLL_PWAIT, unix.SYS_EPOLL_PWAIT2, unix.SYS_PREADV2, unix.SYS_SPLICE,
		unix.SYS_TEE, unix.SYS_VMSPLICE:
		return true
	case unix.SYS_IOCTL:
		req := uint32(c.args[1])
		return req == fioNRead || req == fioNBIO || req == fioASync
	case unix.SYS_FCNTL:
		return c.int(1) == unix.F_SETFL && c.args[2]&flags != 0
	case unix.SYS_OPEN, unix.SYS_OPENAT:
		at := int(bit(c.nr == unix.SYS_OPENAT, 1))
		if c.args[at+1]&(flags|unix.O_DIRECTORY) != unix.O_NONBLOCK {
			return false
		}
		name, err := readString(t.tid, c.args[at], unix.PathMax)
		return err != nil || name != "/dev/tty" // which bash opens so
	}
	return c.nr == unix.SYS_OPENAT2
}

// Peeked reports whether a process has looked at a pipe without waiting, when the end of another one was said to
// commute with its calls.
func (r *Run) Peeked() bool { return looked(r, func() bool { return r.peeked }) }

// Apart reports whether the root process, at rest, only waits for children, and holds nothing by which they would
// notice that it is killed: the other end of a pipe, shared memory, a timer. As long as [Run.Looks] stays as it is, all
// others go on then as if the root process had been killed.
func (r *Run) Apart() bool {
	return looked(r, func() bool {
		if r.apart == nil {
			is := r.isApart()
			r.apart = &is
		}
		return *r.apart && !r.tied
	})
}

// Looks counts what the root process has asked so far, and how often another one has looked at processes.
func (r *Run) Looks() int { return looked(r, func() int { return r.looks }) }

func (r *Run) isApart() bool {
	root := r.procs[0]
	if r.c.Through != "" || len(r.mirrors) > 0 || !root.isIn(unix.SYS_WAIT4, unix.SYS_WAITID) {
		return false
	}
	_, err := root.sharesFiles()
	return err == nil && root.sharesMemory("smaps") == nil
}
