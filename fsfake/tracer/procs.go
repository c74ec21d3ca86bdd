//go:build linux && amd64

package tracer

import (
	"bufio"
	"encoding/binary"
	"os"
	"strconv"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

type unixStat = syscall.Stat_t

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
			t.foreign(c.int(0))
			return
		}
		ownPid(0)(t, c)
	}},
	{unix.SYS_PIDFD_OPEN, "pidfd_open", 2, (*thread).pidfdOpen},
	{unix.SYS_PIDFD_SEND_SIGNAL, "pidfd_send_signal", 4, (*thread).passCall},
	{unix.SYS_RT_SIGACTION, "rt_sigaction", 4, (*thread).sigaction},

	{unix.SYS_SCHED_GETAFFINITY, "sched_getaffinity", 3, ownPid(0)},
	{unix.SYS_SCHED_SETAFFINITY, "sched_setaffinity", 3, func(t *thread, c *call) { t.result(0) }},
	{unix.SYS_SCHED_GETPARAM, "sched_getparam", 2, ownPid(0)},
	{unix.SYS_SCHED_SETPARAM, "sched_setparam", 2, ownPid(0)},
	{unix.SYS_SCHED_GETSCHEDULER, "sched_getscheduler", 1, ownPid(0)},
	{unix.SYS_SCHED_SETSCHEDULER, "sched_setscheduler", 3, ownPid(0)},
	{unix.SYS_GETPRIORITY, "getpriority", 2, ownPid(1)},
	{unix.SYS_SETPRIORITY, "setpriority", 3, ownPid(1)},
	{unix.SYS_PRLIMIT64, "prlimit64", 4, ownPid(0)},
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
	{unix.SYS_CAPSET, "capset", 2, (*thread).passCall},
	{unix.SYS_PERSONALITY, "personality", 1, (*thread).passCall},
	{unix.SYS_PRCTL, "prctl", 5, func(t *thread, c *call) {
		switch c.int(0) {
		case unix.PR_SET_DUMPABLE: // or nobody could look at it any more
			t.result(0)
		case unix.PR_SET_SECCOMP:
			t.fault("its own seccomp filter is not handled")
		default:
			t.pass()
		}
	}},
	{unix.SYS_SECCOMP, "seccomp", 3, fault("its own seccomp filter is not handled")},
	{unix.SYS_PTRACE, "ptrace", 4, func(t *thread, c *call) { t.fail(unix.EPERM) }},
	{unix.SYS_UNSHARE, "unshare", 1, fault("namespaces are not handled")},
	{unix.SYS_SETNS, "setns", 2, fault("namespaces are not handled")},
	{unix.SYS_CHROOT, "chroot", 1, fault("another root directory is not handled")},
	{unix.SYS_PIVOT_ROOT, "pivot_root", 2, fault("another root directory is not handled")},
	{unix.SYS_MOUNT, "mount", 5, fault("mounts are not handled")},
	{unix.SYS_UMOUNT2, "umount2", 2, fault("mounts are not handled")},
}

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
	t.parentTid, t.childTid, t.newPid, t.child = 0, 0, 0, nil
	if flags&unix.CLONE_PARENT_SETTID != 0 {
		t.parentTid = parentTid
	}
	if flags&unix.CLONE_CHILD_SETTID != 0 {
		t.childTid = childTid
	}
	switch {
	case flags&namespaces != 0:
		t.fault("namespaces are not handled")
	case flags&(unix.CLONE_UNTRACED|unix.CLONE_PARENT|unix.CLONE_PTRACE) != 0:
		t.fault("flags %#x are not handled", flags)
	case flags&unix.CLONE_THREAD != 0:
		t.passThen(t.forked)
	case flags&unix.CLONE_FILES != 0, flags&unix.CLONE_VM != 0 && flags&unix.CLONE_VFORK == 0:
		t.fault("a process that shares memory or descriptors is not handled")
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
		t.fail(unix.ESRCH)
		return
	}
	t.result(int64(f(p)))
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
			t.fail(unix.ESRCH)
			return
		}
		args := c.args
		args[i] = uint64(real)
		t.instead(c.nr, args[:]...)
		t.passThen(nil)
	}
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

// kill with signal 0 asks the fake. Others reach processes of the run; a signal for one that
// the run does not own is not modelled, unless that one is dead.
func (t *thread) kill(c *call) {
	pid, sig := c.int(0), c.int(1)
	switch {
	case sig == 0 && pid > 0:
		t.askZero(fsfake.Op{Call: fsfake.CallKill, Pid: pid})
	case pid == -1:
		t.fault("a signal to all processes is not handled")
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
		case !p.gone: // a step, for what the other has done before it is another question
			t.askThen(fsfake.Op{Call: fsfake.CallKill, Pid: pid}, send)
		case p.reaped || p.parent == nil:
			t.fail(unix.ESRCH)
		default: // it waits to be reaped: a signal has no effect
			t.result(0)
		}
		return
	}
	t.foreign(pid)
}

// foreign is a signal to a process that the run does not own: the fake knows whether it runs,
// but not what the signal does.
func (t *thread) foreign(pid int) {
	t.askThen(fsfake.Op{Call: fsfake.CallKill, Pid: pid}, func(fsfake.Result) {
		t.fault("a signal to process %d, which is not one of its own, is not modelled", pid)
	})
}

// killGroup is kill(0, …) and kill(-PGID, …). All processes of a group of the run are its own.
func (t *thread) killGroup(pgid, sig int) {
	if pgid == 0 {
		pgid = t.p.pgid
	}
	for _, p := range t.r.procs {
		if p.pgid != pgid || p.gone {
			continue
		}
		if sig == 0 {
			t.result(0)
			return
		}
		leader := t.r.leader(pgid)
		if leader == nil {
			break
		}
		t.instead(unix.SYS_KILL, uint64(-int64(leader.real)), uint64(sig))
		t.passThen(nil)
		return
	}
	t.fail(unix.ESRCH)
}

func (t *thread) tgkill(pid, id, sig int) {
	real, p := t.r.realID(id), t.r.process(pid)
	switch {
	case p == nil && t.r.leader(pid) == nil && pid > 0:
		t.foreign(pid)
		return
	case real == 0 || p == nil:
		t.fail(unix.ESRCH)
		return
	}
	t.instead(unix.SYS_TGKILL, uint64(p.real), uint64(real), uint64(sig))
	t.passThen(nil)
}

func (t *thread) pidfdOpen(c *call) {
	if p := t.r.process(c.int(0)); p != nil {
		t.instead(c.nr, uint64(p.real), c.args[1])
		t.passThen(nil)
		return
	}
	t.askThen(fsfake.Op{Call: fsfake.CallKill, Pid: c.int(0)}, func(fsfake.Result) {
		t.fault("a descriptor of process %d, which is not one of its own, is not modelled", c.int(0))
	})
}

// sigaction notes which handlers want interrupted calls to be made again.
func (t *thread) sigaction(c *call) {
	if sig := c.int(0); sig > 0 && sig <= 64 {
		if b, err := readFull(t.tid, c.args[1], 16); err == nil {
			flags := binary.LittleEndian.Uint64(b[8:])
			t.passThen(func(ret int64) {
				if ret == 0 {
					t.p.handlers[sig] = flags
				}
			})
			return
		}
	}
	t.pass()
}

// signals are sets of signals, by bit; signal 1 is bit 0.
type signals struct{ own, shared, blocked, ignored, caught uint64 }

// signals reads /proc.
func (t *thread) signals() (s signals) {
	f, err := os.Open("/proc/" + strconv.Itoa(t.p.real) + "/task/" + strconv.Itoa(t.tid) + "/status")
	if err != nil {
		return s
	}
	defer f.Close()
	fields := map[string]*uint64{"SigPnd": &s.own, "ShdPnd": &s.shared, "SigBlk": &s.blocked, "SigIgn": &s.ignored, "SigCgt": &s.caught}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if name, v, ok := strings.Cut(lines.Text(), ":\t"); ok && fields[name] != nil {
			*fields[name], _ = strconv.ParseUint(v, 16, 64)
		}
	}
	return s
}

// arrived returns a signal that interrupts what the thread waits for, or 0.
func (t *thread) arrived() int {
	const byDefaultIgnored = 1<<(unix.SIGCHLD-1) | 1<<(unix.SIGURG-1) | 1<<(unix.SIGWINCH-1) | 1<<(unix.SIGCONT-1)
	s := t.signals()
	set := (s.own | s.shared) &^ s.blocked &^ s.ignored &^ (byDefaultIgnored &^ s.caught)
	for sig := 1; sig <= 64; sig++ {
		if set&(1<<(sig-1)) != 0 {
			return sig
		}
	}
	return 0
}

func (t *thread) signalled() bool { return t.arrived() != 0 }

// restarts reports whether the handler of the signal that has come wants the call to be made
// again.
func (t *thread) restarts() bool {
	const saRestart = 0x10000000
	sig := t.arrived()
	return sig != 0 && t.p.handlers[sig]&saRestart != 0
}

// again makes the thread, after the handler of a signal, make its call anew.
func (t *thread) again() {
	var regs unix.PtraceRegs
	if unix.PtraceGetRegs(t.tid, &regs) == nil {
		regs.Rax, regs.Orig_rax = uint64(t.c.nr), ^uint64(0)
		regs.Rip -= 2 // the syscall instruction
		_ = unix.PtraceSetRegs(t.tid, &regs)
	}
	t.pass()
}

// ours reports whether a child matches what wait4 or waitid ask for.
func (p *process) ours(pid int) (living, dead bool) {
	for _, c := range p.r.procs {
		if c.parent != p || pid > 0 && c.pid != pid || pid == 0 && c.pgid != p.pgid || pid < -1 && c.pgid != -pid {
			continue
		}
		living = living || !c.gone
		dead = dead || c.gone && !c.reaped
	}
	return living, dead
}

// waitFor makes a call that waits for a child. It is a step when another process could change
// its answer by ending before.
func (t *thread) waitFor(pid int, nohang bool, make func()) {
	living, dead := t.p.ours(pid)
	if living && (nohang || dead) {
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
	t.p.mono = max(t.p.mono, c.mono) // it has waited as long as the child has slept
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
	default: // a pidfd: real
		pid = -1
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

// setUmask: the mask is the process's own affair, and the tracer applies it.
func (t *thread) setUmask(c *call) {
	mask := uint32(c.args[0]) & 0o777
	t.passThen(func(int64) { t.p.umask = mask })
}

// sameUser is a change of the user that is none.
func sameUser(t *thread, c *call)  { t.same(os.Getuid()) }
func sameGroup(t *thread, c *call) { t.same(os.Getgid()) }

func (t *thread) same(id int) {
	for i := range t.c.spec.args {
		if v := t.c.int(i); v != -1 && v != id {
			t.fault("another user or group is not handled")
			return
		}
	}
	t.pass()
}
