//go:build linux && amd64

package tracer

import (
	"golang.org/x/sys/unix"
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
		t.elapsed(func(ns int64) {
			if c.args[0] == 0 {
				t.result(ns / 1e7)
				return
			}
			t.put(c.args[0], make([]byte, 32), ns/1e7)
		})
	}},
	{unix.SYS_GETRUSAGE, "getrusage", 2, func(t *thread, c *call) { t.put(c.args[1], make([]byte, 144), 0) }},
	{unix.SYS_SYSINFO, "sysinfo", 1, (*thread).sysinfo},

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
		if d := t.p.fds[c.fd(2)]; d.isFake() {
			t.fail(unix.EPERM) // as for every regular file
			return
		}
		if d := t.p.fds[c.fd(0)]; d != nil && (d.fake >= 0 || d.process != 0) {
			t.fail(unix.EINVAL)
			return
		}
		if !t.awaits(c.fd(2)) {
			t.pass()
		}
	}},
	{unix.SYS_FUTEX, "futex", 6, (*thread).futex},
	{unix.SYS_RT_SIGTIMEDWAIT, "rt_sigtimedwait", 4, func(t *thread, c *call) {
		t.waitSpec(2, func(ns int64, i int, forever uint64) {
			t.timedThen(ns, i, forever, func() { t.fail(unix.EAGAIN) }, func(ret int64) {
				if ret > 0 {
					t.showInfo(c.args[1], 16, 32)
				}
			})
		})
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

var other = []spec{
	{unix.SYS_MPROTECT, "mprotect", 3, (*thread).protectMemory},
	{unix.SYS_PKEY_MPROTECT, "pkey_mprotect", 4, (*thread).protectMemory},
	{unix.SYS_MREMAP, "mremap", 5, (*thread).protectMemory},
	{unix.SYS_GETRANDOM, "getrandom", 3, func(t *thread, c *call) {
		n := int(min(c.args[1], maxTransfer))
		draw := t.p.random
		info, err := getSyscallInfo(t.tid)
		const libraries = 0x7f << 40 // they are mapped below the stack; variables of a program are not
		inLibrary := err == nil && c.args[0] >= libraries && c.args[0] < info.sp
		if n == 8 && c.args[2] == unix.GRND_NONBLOCK && !t.p.heap && inLibrary {
			draw, t.p.heap = t.p.unnoticed, true
		}
		t.put(c.args[0], draw(n), int64(n))
	}},
	{unix.SYS_SET_MEMPOLICY, "set_mempolicy", 3, (*thread).passCall},
	{unix.SYS_GET_MEMPOLICY, "get_mempolicy", 5, (*thread).passCall},
	{unix.SYS_MBIND, "mbind", 6, (*thread).passCall},
	{unix.SYS_SHMGET, "shmget", 3, func(t *thread, c *call) {
		if c.args[0] != 0 { // IPC_PRIVATE: it has no name by which another command finds it
			t.unmodelled("memory that commands share by a key is not modelled")
			return
		}
		t.pass()
	}},
	{unix.SYS_SHMAT, "shmat", 3, (*thread).passCall},
	{unix.SYS_SHMDT, "shmdt", 1, (*thread).passCall},
	{unix.SYS_SHMCTL, "shmctl", 3, func(t *thread, c *call) {
		t.passThen(func(ret int64) {
			if ret == 0 && c.int(1) == unix.IPC_STAT {
				t.showID(c.args[2] + 80) // shm_cpid
				t.showID(c.args[2] + 84) // shm_lpid
			}
		})
	}},
	{unix.SYS_SYSLOG, "syslog", 3, (*thread).passCall},
}
