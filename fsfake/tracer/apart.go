//go:build linux && amd64

package tracer

import "golang.org/x/sys/unix"

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
	case unix.SYS_PIDFD_OPEN, unix.SYS_SHMAT:
		t.r.tied = true
	case unix.SYS_FCNTL:
		switch c.int(1) {
		case unix.F_SETOWN, unix.F_SETOWN_EX, unix.F_SETLEASE, unix.F_NOTIFY:
			t.r.tied = true
		}
	}
	if looks {
		t.r.looks++
		t.r.apart = nil
	}
}

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
	if root.gone || len(root.threads) != 1 || len(root.alarms) > 0 || r.c.Through != "" {
		return false
	}
	t := root.threads[0]
	files, err := root.sharesFiles()
	return t.state == inCall && !t.timed && (t.c.nr == unix.SYS_WAIT4 || t.c.nr == unix.SYS_WAITID) &&
		err == nil && len(files) == 0 && len(r.mirrors) == 0 && root.sharesMemory() == nil
}
