//go:build linux && amd64

package tracer

import (
	"bytes"
	"encoding/binary"
	"os"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Calls about processes and threads, whose ids are virtual.

var aboutProcesses = []spec{
	{unix.SYS_FORK, "fork", 0, func(t *thread, c *call) { t.fork(0, 0, 0) }},
	{unix.SYS_VFORK, "vfork", 0, func(t *thread, c *call) { t.fork(unix.CLONE_VM|unix.CLONE_VFORK, 0, 0) }},
	{unix.SYS_CLONE, "clone", 5, func(t *thread, c *call) { t.fork(c.args[0]&^0xff, c.args[2], c.args[3]) }},
	{unix.SYS_CLONE3, "clone3", 2, (*thread).clone3},
	{unix.SYS_EXECVE, "execve", 3, func(t *thread, c *call) { t.exec(unix.AT_FDCWD, 0, 0) }},
	{unix.SYS_EXECVEAT, "execveat", 5, func(t *thread, c *call) { t.exec(c.fd(0), 1, c.int(4)) }},
	{unix.SYS_EXIT, "exit", 1, (*thread).exitThread},
	{unix.SYS_EXIT_GROUP, "exit_group", 1, (*thread).exitGroup},
	{unix.SYS_WAIT4, "wait4", 4, (*thread).wait4},
	{unix.SYS_WAITID, "waitid", 5, (*thread).waitid},

	{unix.SYS_GETPID, "getpid", 0, func(t *thread, c *call) { t.result(int64(t.p.pid)) }},
	{unix.SYS_GETPPID, "getppid", 0, (*thread).getppid},
	{unix.SYS_GETTID, "gettid", 0, func(t *thread, c *call) { t.result(int64(t.vtid())) }},
	{unix.SYS_SET_TID_ADDRESS, "set_tid_address", 1, func(t *thread, c *call) {
		t.clears = c.args[0]
		t.passThen(func(int64) { t.setRax(int64(t.vtid())) })
	}},
	{unix.SYS_GETPGRP, "getpgrp", 0, func(t *thread, c *call) { t.result(int64(t.p.pgid)) }},
	{unix.SYS_GETPGID, "getpgid", 1, func(t *thread, c *call) { t.about(func(p *process) int { return p.pgid }) }},
	{unix.SYS_GETSID, "getsid", 1, func(t *thread, c *call) { t.about(func(p *process) int { return p.sid }) }},
	{unix.SYS_SETPGID, "setpgid", 2, (*thread).setpgid},
	{unix.SYS_SETSID, "setsid", 0, func(t *thread, c *call) {
		t.passThen(func(ret int64) {
			if ret > 0 {
				t.p.sid, t.p.pgid = t.p.pid, t.p.pid
				t.setRax(int64(t.p.pid))
			}
		})
	}},
	{unix.SYS_KILL, "kill", 2, (*thread).kill},
	{unix.SYS_TKILL, "tkill", 2, func(t *thread, c *call) { t.tgkill(t.p.pid, c.int(0), c.int(1)) }},
	{unix.SYS_TGKILL, "tgkill", 3, func(t *thread, c *call) { t.tgkill(c.int(0), c.int(1), c.int(2)) }},
	{unix.SYS_RT_SIGQUEUEINFO, "rt_sigqueueinfo", 3, func(t *thread, c *call) {
		if t.r.leader(c.int(0)) == nil && c.int(0) > 0 {
			t.foreign(c.int(0), c.int(1))
			return
		}
		ownPid(0)(t, c)
	}},
	{unix.SYS_PIDFD_OPEN, "pidfd_open", 2, (*thread).pidfdOpen},
	{unix.SYS_PIDFD_SEND_SIGNAL, "pidfd_send_signal", 4, (*thread).pidfdSendSignal},
	{unix.SYS_RT_SIGACTION, "rt_sigaction", 4, (*thread).sigaction},

	{unix.SYS_SCHED_GETAFFINITY, "sched_getaffinity", 3, ownPid(0)},
	{unix.SYS_SCHED_SETAFFINITY, "sched_setaffinity", 3, (*thread).setAffinity},
	{unix.SYS_SCHED_GETPARAM, "sched_getparam", 2, ownPid(0)},
	{unix.SYS_SCHED_SETPARAM, "sched_setparam", 2, ownPid(0)},
	{unix.SYS_SCHED_GETSCHEDULER, "sched_getscheduler", 1, ownPid(0)},
	{unix.SYS_SCHED_SETSCHEDULER, "sched_setscheduler", 3, ownPid(0)},
	{unix.SYS_GETPRIORITY, "getpriority", 2, ownPid(1)},
	{unix.SYS_SETPRIORITY, "setpriority", 3, ownPid(1)},
	{unix.SYS_PRLIMIT64, "prlimit64", 4, (*thread).prlimit},
	{unix.SYS_SETRLIMIT, "setrlimit", 2, (*thread).setrlimit},
	{unix.SYS_GET_ROBUST_LIST, "get_robust_list", 3, ownPid(0)},
	{unix.SYS_UMASK, "umask", 1, (*thread).setUmask},

	{unix.SYS_SETUID, "setuid", 1, sameUser},
	{unix.SYS_SETREUID, "setreuid", 2, sameUser},
	{unix.SYS_SETRESUID, "setresuid", 3, sameUser},
	{unix.SYS_SETFSUID, "setfsuid", 1, sameUser},
	{unix.SYS_SETGID, "setgid", 1, sameGroup},
	{unix.SYS_SETREGID, "setregid", 2, sameGroup},
	{unix.SYS_SETRESGID, "setresgid", 3, sameGroup},
	{unix.SYS_SETFSGID, "setfsgid", 1, sameGroup},
	{unix.SYS_SETGROUPS, "setgroups", 2, (*thread).passCall},
	{unix.SYS_CAPGET, "capget", 2, func(t *thread, _ *call) { t.capabilities(t.passThen) }},
	{unix.SYS_CAPSET, "capset", 2, (*thread).capset},
	{unix.SYS_PERSONALITY, "personality", 1, (*thread).passCall},
	{unix.SYS_PRCTL, "prctl", 5, func(t *thread, c *call) {
		switch c.int(0) {
		case unix.PR_SET_DUMPABLE: // or nobody could look at it any more
			t.result(0)
		case unix.PR_SET_NAME:
			t.title, t.r.renamed = "", t.r.renamed || t.p.parent == nil && t.n == 1 && t.r.answers > 0
			t.pass()
		case unix.PR_SET_CHILD_SUBREAPER:
			t.p.adopts = c.args[1] != 0
			t.pass()
		case unix.PR_SET_SECCOMP:
			t.unmodelled("its own seccomp filter is not handled")
		default:
			t.pass()
		}
	}},
}

// getppid: the child of a dead process is init's.
func (t *thread) getppid(*call) {
	if up := t.p.parent; up != nil && up.gone {
		t.result(1)
		return
	}
	t.result(int64(t.p.ppid))
}

// about answers a question about a process of the run.
func (t *thread) about(f func(*process) int) {
	p := t.p
	if pid := t.c.int(0); pid != 0 {
		p = t.r.process(pid)
	}
	if p == nil {
		t.stranger(t.c.int(0))
		return
	}
	t.result(int64(f(p)))
}

// stranger answers a question about a process that does not run, or that the run does not own: whether that one runs the fake knows,
// and nothing else of it.
func (t *thread) stranger(pid int) {
	if pid <= 0 || t.r.leader(pid) != nil {
		t.fail(unix.ESRCH)
		return
	}
	t.askThen(fsfake.Op{Call: fsfake.CallKill, Pid: pid}, func(fsfake.Result) {
		t.unmodelled("a question about process %d, which is not one of its own, is not modelled", pid)
	})
}

func (t *thread) setpgid(c *call) {
	p, pgid := t.p, c.int(1)
	if pid := c.int(0); pid != 0 {
		p = t.r.process(pid)
	}
	if p == nil {
		t.fail(unix.ESRCH)
		return
	}
	if pgid == 0 {
		pgid = p.pid
	}
	group := t.r.leader(pgid)
	if group == nil {
		t.fail(unix.EPERM)
		return
	}
	t.instead(unix.SYS_SETPGID, uint64(p.real), uint64(group.real))
	t.passThen(func(ret int64) {
		if ret == 0 {
			p.pgid = pgid
		}
	})
}

// leader is the process whose pid is a group's; it may be dead.
func (r *Run) leader(pgid int) *process {
	for i := len(r.procs) - 1; i >= 0; i-- {
		if r.procs[i].pid == pgid {
			return r.procs[i]
		}
	}
	return nil
}

// ownPid is a real call whose argument i is the id of a process or thread, or 0.
func ownPid(i int) func(*thread, *call) {
	return func(t *thread, c *call) {
		id := c.int(i)
		if id == 0 || c.nr == unix.SYS_GETPRIORITY && c.int(0) != unix.PRIO_PROCESS {
			t.pass()
			return
		}
		real := t.r.realID(id)
		if real == 0 {
			t.stranger(id)
			return
		}
		args := c.args
		args[i] = uint64(real)
		t.instead(c.nr, args[:]...)
		t.passThen(nil)
	}
}

// prlimit gets and sets limits. That of the size of files is not modelled where a file of the fake could meet it.
func (t *thread) prlimit(c *call) {
	if !t.limitsFiles(c.int(1), c.args[2]) {
		ownPid(0)(t, c)
	}
}

func (t *thread) setrlimit(c *call) {
	if !t.limitsFiles(c.int(0), c.args[1]) {
		t.pass()
	}
}

// limitsFiles reports whether the size of files is limited below what the fake has, which is a fault.
func (t *thread) limitsFiles(resource int, addr uint64) bool {
	t.p.limited = t.p.limited || resource == unix.RLIMIT_NOFILE && addr != 0
	if resource != unix.RLIMIT_FSIZE || addr == 0 {
		return false
	}
	limit, err := readUint64(t.tid, addr)
	if err != nil || limit >= maxTransfer {
		return false
	}
	t.unmodelled("a limit of %d bytes for the size of files (RLIMIT_FSIZE, ulimit -f) is not modelled", limit)
	return true
}

// realID is the real id of a thread or process, or 0.
func (r *Run) realID(id int) int {
	for _, p := range r.procs {
		for _, t := range p.threads {
			if t.vtid() == id {
				return t.tid
			}
		}
		if p.pid == id && !p.gone {
			return p.real
		}
	}
	return 0
}

// setUmask: the mask is the process's own affair, and the tracer applies it.
func (t *thread) setUmask(c *call) {
	mask := uint32(c.args[0]) & 0o777
	t.passThen(func(int64) { t.p.umask = mask })
}

// setAffinity answers as the kernel does, but changes nothing: all processes of a run stay on one CPU.
func (t *thread) setAffinity(c *call) {
	id := c.int(0)
	if id != 0 && t.r.realID(id) == 0 {
		t.stranger(id)
		return
	}
	mask, err := readFull(t.tid, c.args[2], int(min(c.args[1], 128)))
	switch {
	case err != nil:
		t.failErr(err)
	case len(bytes.Trim(mask, "\x00")) == 0:
		t.fail(unix.EINVAL)
	default:
		t.result(0)
	}
}

// capabilities makes a call whose first argument is a struct __user_cap_header_struct, with the real pid in it.
func (t *thread) capabilities(make func(func(int64))) {
	at := t.c.args[0] + 4
	b, err := readFull(t.tid, at, 4)
	if err != nil {
		t.pass() // EFAULT
		return
	}
	id := int(int32(binary.LittleEndian.Uint32(b)))
	real := t.r.realID(id)
	switch {
	case id <= 0:
		make(nil)
	case real == 0:
		t.stranger(id)
	default:
		t.writeTid(at, real)
		make(func(int64) { t.writeTid(at, id) })
	}
}

// capset is capset(2). The fake knows root as one who may do all with its files.
func (t *thread) capset(c *call) {
	const files = 1<<unix.CAP_CHOWN | 1<<unix.CAP_DAC_OVERRIDE | 1<<unix.CAP_DAC_READ_SEARCH | 1<<unix.CAP_FOWNER |
		1<<unix.CAP_FSETID
	if b, err := readFull(t.tid, c.args[1], 4); err == nil && os.Getuid() == 0 &&
		binary.LittleEndian.Uint32(b)&files != files {
		t.unmodelled("a superuser who gives up capabilities for files is not modelled")
		return
	}
	t.capabilities(t.passThen)
}

// sameUser is a change of the user that is none.
func sameUser(t *thread, c *call) { t.same(os.Getuid()) }

func sameGroup(t *thread, c *call) { t.same(os.Getgid()) }

func (t *thread) same(id int) {
	for i := range t.c.spec.args {
		if v := t.c.int(i); v != -1 && v != id {
			t.unmodelled("another user or group is not handled")
			return
		}
	}
	t.pass()
}
