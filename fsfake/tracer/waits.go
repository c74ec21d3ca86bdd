//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Clocks, and calls that wait. A wait with a timeout is made without one, and its time comes
// when the driver says so.

var aboutTime = []spec{
	{unix.SYS_CLOCK_GETTIME, "clock_gettime", 2, (*thread).clockGettime},
	{unix.SYS_GETTIMEOFDAY, "gettimeofday", 2, func(t *thread, c *call) {
		t.wall(func(ns int64) {
			if c.args[0] == 0 {
				t.result(0)
				return
			}
			sec, nsec := seconds(ns)
			t.put(c.args[0], putUint64s(uint64(sec), uint64(nsec/1000)), 0)
		})
	}},
	{unix.SYS_TIME, "time", 1, func(t *thread, c *call) {
		t.wall(func(ns int64) {
			sec, _ := seconds(ns)
			if c.args[0] == 0 {
				t.result(sec)
				return
			}
			t.put(c.args[0], putUint64s(uint64(sec)), sec)
		})
	}},
	{unix.SYS_TIMES, "times", 1, func(t *thread, c *call) {
		ticks := t.p.mono / 1e7
		if c.args[0] == 0 {
			t.result(ticks)
			return
		}
		t.put(c.args[0], make([]byte, 32), ticks)
	}},
	{unix.SYS_GETRUSAGE, "getrusage", 2, func(t *thread, c *call) { t.put(c.args[1], make([]byte, 144), 0) }},
	{unix.SYS_SYSINFO, "sysinfo", 1, (*thread).passCall},

	{unix.SYS_NANOSLEEP, "nanosleep", 2, func(t *thread, c *call) {
		if ns, ok := t.timespec(c.args[0]); ok {
			t.nap(ns, c.args[1])
		}
	}},
	{unix.SYS_CLOCK_NANOSLEEP, "clock_nanosleep", 4, (*thread).clockNanosleep},
	{unix.SYS_POLL, "poll", 3, func(t *thread, c *call) { t.poll(millis(c.int(2)), 2, ^uint64(0)) }},
	{unix.SYS_PPOLL, "ppoll", 5, func(t *thread, c *call) { t.waitSpec(2, t.poll) }},
	{unix.SYS_SELECT, "select", 5, func(t *thread, c *call) { t.waitVal(4, t.selectOn) }},
	{unix.SYS_PSELECT6, "pselect6", 6, func(t *thread, c *call) { t.waitSpec(4, t.selectOn) }},
	{unix.SYS_EPOLL_WAIT, "epoll_wait", 4, func(t *thread, c *call) { t.timedCall(millis(c.int(3)), 3, ^uint64(0), 0) }},
	{unix.SYS_EPOLL_PWAIT, "epoll_pwait", 6, func(t *thread, c *call) { t.timedCall(millis(c.int(3)), 3, ^uint64(0), 0) }},
	{unix.SYS_EPOLL_PWAIT2, "epoll_pwait2", 6, func(t *thread, c *call) {
		t.waitSpec(3, func(ns int64, i int, forever uint64) { t.timedCall(ns, i, forever, 0) })
	}},
	{unix.SYS_EPOLL_CTL, "epoll_ctl", 4, func(t *thread, c *call) {
		if d := t.p.fds[c.fd(2)]; d != nil && d.fake >= 0 {
			t.fail(unix.EPERM) // as for every regular file
			return
		}
		if d := t.p.fds[c.fd(0)]; d != nil && d.fake >= 0 {
			t.fail(unix.EINVAL)
			return
		}
		t.pass()
	}},
	{unix.SYS_FUTEX, "futex", 6, (*thread).futex},
	{unix.SYS_FUTEX_WAITV, "futex_waitv", 5, func(t *thread, c *call) { t.fail(unix.ENOSYS) }},
	{unix.SYS_RT_SIGTIMEDWAIT, "rt_sigtimedwait", 4, func(t *thread, c *call) {
		t.waitSpec(2, func(ns int64, i int, forever uint64) { t.timedCall(ns, i, forever, -int64(unix.EAGAIN)) })
	}},
	{unix.SYS_RT_SIGSUSPEND, "rt_sigsuspend", 2, func(t *thread, c *call) { t.passWaiting(nil) }},
	{unix.SYS_PAUSE, "pause", 0, func(t *thread, c *call) { t.passWaiting(nil) }},
	{unix.SYS_SCHED_YIELD, "sched_yield", 0, func(t *thread, c *call) {
		t.result(0)
		if n := t.r.next(); n != nil {
			t.r.cur = n
		}
	}},
	{unix.SYS_RESTART_SYSCALL, "restart_syscall", 0, func(t *thread, c *call) {
		t.timed = t.expired != nil
		t.passWaiting(t.after)
	}},
}

var aboutSockets = []spec{
	{unix.SYS_CONNECT, "connect", 3, socketAddress},
	{unix.SYS_BIND, "bind", 3, socketAddress},
	{unix.SYS_ACCEPT, "accept", 3, waits},
	{unix.SYS_ACCEPT4, "accept4", 4, waits},
	{unix.SYS_SENDTO, "sendto", 6, waits},
	{unix.SYS_RECVFROM, "recvfrom", 6, waits},
	{unix.SYS_SENDMSG, "sendmsg", 3, waits},
	{unix.SYS_RECVMSG, "recvmsg", 3, waits},
	{unix.SYS_SENDMMSG, "sendmmsg", 4, waits},
	{unix.SYS_RECVMMSG, "recvmmsg", 5, fault("it is not handled")},
	{unix.SYS_GETSOCKNAME, "getsockname", 3, realOnly},
	{unix.SYS_GETPEERNAME, "getpeername", 3, realOnly},
	{unix.SYS_GETSOCKOPT, "getsockopt", 5, realOnly},
	{unix.SYS_SETSOCKOPT, "setsockopt", 5, realOnly},
	{unix.SYS_SHUTDOWN, "shutdown", 2, realOnly},
	{unix.SYS_LISTEN, "listen", 2, realOnly},
}

var other = []spec{
	{unix.SYS_GETRANDOM, "getrandom", 3, func(t *thread, c *call) {
		n := int(min(c.args[1], maxTransfer))
		t.put(c.args[0], t.p.random(n), int64(n))
	}},
	{unix.SYS_IO_URING_SETUP, "io_uring_setup", 2, noSuchCall},
	{unix.SYS_IO_SETUP, "io_setup", 2, noSuchCall},
	{unix.SYS_BPF, "bpf", 3, noSuchCall},
	{unix.SYS_PERF_EVENT_OPEN, "perf_event_open", 5, noSuchCall},
	{unix.SYS_USERFAULTFD, "userfaultfd", 1, noSuchCall},
	{unix.SYS_SET_MEMPOLICY, "set_mempolicy", 3, (*thread).passCall},
	{unix.SYS_GET_MEMPOLICY, "get_mempolicy", 5, (*thread).passCall},
	{unix.SYS_MBIND, "mbind", 6, (*thread).passCall},
	{unix.SYS_SHMGET, "shmget", 3, (*thread).passCall},
	{unix.SYS_SHMAT, "shmat", 3, (*thread).passCall},
	{unix.SYS_SHMDT, "shmdt", 1, (*thread).passCall},
	{unix.SYS_SHMCTL, "shmctl", 3, (*thread).passCall},
	{unix.SYS_SYSLOG, "syslog", 3, (*thread).passCall},
}

func noSuchCall(t *thread, _ *call) { t.fail(unix.ENOSYS) }

// waits is a call on a real descriptor that may wait.
func waits(t *thread, c *call) {
	if d := t.p.fds[c.fd(0)]; d != nil && d.fake >= 0 {
		t.fail(unix.ENOTSOCK)
		return
	}
	t.passWaiting(nil)
}

// socketAddress is connect(2) or bind(2): no socket is below the virtual directory.
func socketAddress(t *thread, c *call) {
	n := int(min(c.args[2], 128))
	b, err := readFull(t.tid, c.args[1], n)
	if err == nil && n > 3 && binary.LittleEndian.Uint16(b) == unix.AF_UNIX && b[2] != 0 {
		name := b[2:]
		for i := range name {
			if name[i] == 0 {
				name = name[:i]
				break
			}
		}
		if pl, err := t.locate(unix.AT_FDCWD, string(name), true); err == nil && pl.virtual {
			t.fault("a socket below the virtual directory (%s) is not modelled", name)
			return
		}
	}
	waits(t, c)
}

// wall gives the time of day to f. Asking for it is a step only when the answer may be another
// than the last one.
func (t *thread) wall(f func(ns int64)) {
	r := t.r
	if !r.c.AskTime || r.nowKnown && r.nowIs == r.answers {
		f(r.now)
		return
	}
	t.askThen(fsfake.Op{Call: fsfake.CallNow}, func(res fsfake.Result) {
		r.now, r.nowIs, r.nowKnown = res.N, r.answers, true
		f(res.N)
	})
}

func (t *thread) clockGettime(c *call) {
	show := func(ns int64) {
		sec, nsec := seconds(ns)
		t.put(c.args[1], putUint64s(uint64(sec), uint64(nsec)), 0)
	}
	switch id := c.int(0); {
	case id == unix.CLOCK_REALTIME || id == unix.CLOCK_REALTIME_COARSE || id == unix.CLOCK_TAI:
		t.wall(show)
	case id == unix.CLOCK_PROCESS_CPUTIME_ID || id == unix.CLOCK_THREAD_CPUTIME_ID || id < 0:
		show(1e6)
	case id <= unix.CLOCK_BOOTTIME_ALARM:
		show(t.p.mono)
	default:
		t.fail(unix.EINVAL)
	}
}

// timespec reads a struct timespec; when it is false the call has been answered.
func (t *thread) timespec(addr uint64) (ns int64, ok bool) {
	b, err := readFull(t.tid, addr, 16)
	if err != nil {
		t.failErr(err)
		return 0, false
	}
	sec, nsec := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
	if sec < 0 || nsec < 0 || nsec >= 1e9 {
		t.fail(unix.EINVAL)
		return 0, false
	}
	return min(sec, int64(1<<33))*1e9 + nsec, true
}

func (t *thread) clockNanosleep(c *call) {
	ns, ok := t.timespec(c.args[2])
	if !ok {
		return
	}
	if c.int(1)&unix.TIMER_ABSTIME == 0 {
		t.nap(ns, c.args[3])
		return
	}
	if c.int(0) == unix.CLOCK_REALTIME {
		t.nap(ns-t.r.now, 0)
		return
	}
	t.nap(ns-t.p.mono, 0)
}

// nap sleeps. When a signal ends it, what is left is written to rem.
func (t *thread) nap(ns int64, rem uint64) {
	if ns <= 0 {
		t.result(0)
		return
	}
	t.state, t.timed, t.deadline, t.rem = napping, true, t.p.mono+ns, rem
	t.expired = func() { t.result(0) }
}

// wake ends a sleep because of a signal.
func (t *thread) wake() {
	t.timed, t.expired = false, nil
	if t.rem != 0 {
		left := max(t.deadline-t.p.mono, 0)
		_ = writeMem(t.tid, t.rem, putUint64s(uint64(left/1e9), uint64(left%1e9)))
	}
	t.fail(unix.EINTR)
}

// wakeSleepers ends the sleeps for which a signal has come, and reports whether there was one.
func (r *Run) wakeSleepers() bool {
	any := false
	for _, p := range r.procs {
		for _, t := range p.threads {
			if t.state == napping && t.signalled() {
				t.wake()
				any = true
			}
		}
	}
	return any
}

// forever is the timeout that is none.
const forever = int64(-1)

func millis(ms int) int64 {
	if ms < 0 {
		return forever
	}
	return int64(ms) * int64(time.Millisecond)
}

// waitSpec calls f with the timeout in the struct timespec that argument i points to, and with
// how to say that there is none.
func (t *thread) waitSpec(i int, f func(ns int64, i int, none uint64)) {
	if t.c.args[i] == 0 {
		f(forever, i, 0)
		return
	}
	if ns, ok := t.timespec(t.c.args[i]); ok {
		f(ns, i, 0)
	}
}

// waitVal is waitSpec for a struct timeval.
func (t *thread) waitVal(i int, f func(ns int64, i int, none uint64)) {
	if t.c.args[i] == 0 {
		f(forever, i, 0)
		return
	}
	b, err := readFull(t.tid, t.c.args[i], 16)
	if err != nil {
		t.failErr(err)
		return
	}
	sec, usec := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
	if sec < 0 || usec < 0 {
		t.fail(unix.EINVAL)
		return
	}
	f(min(sec, int64(1<<33))*1e9+usec*1e3, i, 0)
}

// timedCall makes a call that may wait for ns nanoseconds, with argument i set to none, which
// is forever; it returns ret when its time has come.
func (t *thread) timedCall(ns int64, i int, none uint64, ret int64) {
	t.timedThen(ns, i, none, func() { t.result(ret) }, nil)
}

func (t *thread) timedThen(ns int64, i int, none uint64, expired func(), after func(int64)) {
	switch {
	case ns == 0:
		t.passThen(after)
	case ns < 0:
		t.passWaiting(after)
	default:
		args := t.c.args
		args[i] = none
		t.instead(t.c.nr, args[:]...)
		t.timed, t.deadline, t.expired = true, t.p.mono+ns, expired
		t.passWaiting(after)
	}
}

// poll is poll and ppoll. A file of the fake is always ready, as every regular file is.
func (t *thread) poll(ns int64, i int, none uint64) {
	n := int(uint32(t.c.args[1]))
	if n > 1<<16 {
		t.fail(unix.EINVAL)
		return
	}
	b, err := readFull(t.tid, t.c.args[0], 8*n)
	if err != nil {
		t.failErr(err)
		return
	}
	le := binary.LittleEndian
	const always = unix.POLLIN | unix.POLLOUT | 0x40 | 0x100 // POLLRDNORM, POLLWRNORM
	readyAt := map[int]uint16{}
	real := append([]byte(nil), b...)
	for k := range n {
		d := t.p.fds[int(int32(le.Uint32(b[8*k:])))]
		if d == nil || d.fake < 0 {
			continue
		}
		le.PutUint32(real[8*k:], ^uint32(0)) // a negative descriptor is left out
		if events := le.Uint16(b[8*k+4:]) & always; events != 0 {
			readyAt[k] = events
		}
	}
	if string(real) == string(b) || t.r.c.Through != "" {
		t.timedCall(ns, i, none, 0)
		return
	}
	if len(readyAt) == 0 {
		t.fault("waiting for a file of the fake is not modelled")
		return
	}
	if err := writeMem(t.tid, t.c.args[0], real); err != nil {
		t.failErr(err)
		return
	}
	// Something is ready: look at the real ones without waiting.
	addr := t.c.args[0]
	t.instead(unix.SYS_POLL, addr, uint64(n), 0)
	t.passThen(func(ret int64) {
		now, err := readFull(t.tid, addr, 8*n)
		if err != nil || ret < 0 {
			return
		}
		for k := range n {
			copy(now[8*k:8*k+4], b[8*k:8*k+4])
			if events := readyAt[k]; events != 0 {
				le.PutUint16(now[8*k+6:], events)
				ret++
			}
		}
		_ = writeMem(t.tid, addr, now)
		t.setRax(ret)
	})
}

// selectOn is select and pselect6.
func (t *thread) selectOn(ns int64, i int, none uint64) {
	n := t.c.int(0)
	if n < 0 || n > 1<<16 {
		t.fail(unix.EINVAL)
		return
	}
	size := (n + 63) / 64 * 8
	var sets []uint64
	for _, addr := range t.c.args[1:4] {
		if addr == 0 || size == 0 {
			continue
		}
		sets = append(sets, addr)
		b, err := readFull(t.tid, addr, size)
		if err != nil {
			t.failErr(err)
			return
		}
		for fd := range n {
			if d := t.p.fds[fd]; d != nil && d.fake >= 0 && b[fd/8]&(1<<(fd%8)) != 0 {
				t.fault("waiting for a file of the fake (%s) is not modelled", d.path)
				return
			}
		}
	}
	t.timedThen(ns, i, none, func() {
		for _, addr := range sets {
			_ = writeMem(t.tid, addr, make([]byte, size))
		}
		t.result(0)
	}, nil)
}

// Operations of futex(2).
const (
	futexWait       = 0
	futexWaitBitset = 9
	futexRealtime   = 256
)

func (t *thread) futex(c *call) {
	op := c.int(1)
	switch op & 0x7f {
	case futexWait, futexWaitBitset:
	case 6, 7, 8, 11, 12, 13:
		t.fault("mutexes with priority inheritance are not handled")
		return
	default:
		t.pass()
		return
	}
	if c.args[3] == 0 {
		t.passWaiting(nil)
		return
	}
	ns, ok := t.timespec(c.args[3])
	if !ok {
		return
	}
	if op&0x7f == futexWaitBitset { // absolute
		if op&futexRealtime != 0 {
			ns -= t.r.now
		} else {
			ns -= t.p.mono
		}
	}
	if ns <= 0 {
		b, err := readFull(t.tid, c.args[0], 4)
		switch {
		case err != nil:
			t.failErr(err)
		case binary.LittleEndian.Uint32(b) != uint32(c.args[2]):
			t.fail(unix.EAGAIN)
		default:
			t.fail(unix.ETIMEDOUT)
		}
		return
	}
	t.timedCall(ns, 3, 0, -int64(unix.ETIMEDOUT))
}

// soonest is the wait of a process whose time comes next, or nil.
func (p *process) soonest() *Pending {
	if p.gone || p.dying || p.held {
		return nil
	}
	var first *Pending
	var at int64
	offer := func(n int, deadline int64) {
		if first == nil || deadline < at {
			at = deadline
			first = &Pending{
				Task: fsfake.Task{Pid: p.pid, N: n}, Timer: true,
				Op: fsfake.Op{Call: fsfake.CallSleep, Time: max(deadline-p.mono, 0)},
			}
		}
	}
	for _, t := range p.threads {
		if t.timed && !t.firing {
			offer(t.n, t.deadline)
		}
	}
	if a := p.nextAlarm(); a != nil {
		offer(0, a.deadline)
	}
	return first
}

// fire makes the time of the soonest wait come.
func (p *process) fire() {
	timer := p.soonest()
	p.mono += timer.Op.Time
	p.r.moved = true
	if timer.Task.N == 0 {
		p.ring(p.nextAlarm())
		return
	}
	for _, t := range p.threads {
		if t.n != timer.Task.N {
			continue
		}
		if t.state == napping {
			expired := t.expired
			t.timed, t.expired = false, nil
			expired()
			return
		}
		t.firing = true
		if err := unix.PtraceInterrupt(t.tid); err != nil && err != unix.ESRCH {
			t.fault("ptrace: %v", err)
		}
	}
}
