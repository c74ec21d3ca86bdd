//go:build linux && amd64

package native

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A tick ends a wait for events, so that somebody looks whether the command waits itself. Who sleeps for long is looked
// at less often: of such commands many run side by side.
const (
	tick     = 500 * time.Microsecond
	longTick = 10 * time.Millisecond
	napTick  = 100 * time.Millisecond
)

// Looks at a command without an event, a tick apart, after which it counts as held, or as waiting: a task that was
// about to be woken looks as if it waited.
const (
	looksHeld    = 2
	looksWaiting = 16
	looksAsleep  = 20
	looksNapping = 70
)

// quiet prepares the process for waits: no handler runs at each stop of a task, and a tick interrupts a wait.
func quiet() {
	var a [4]uint64 // handler, flags, restorer, mask
	action := func(sig unix.Signal, set, old *[4]uint64) {
		_, _, _ = unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(sig), uintptr(unsafe.Pointer(set)),
			uintptr(unsafe.Pointer(old)), 8, 0, 0)
	}
	action(unix.SIGCHLD, &a, nil)
	action(unix.SIGALRM, nil, &a)
	const restart = 0x10000000
	a[1] &^= restart
	action(unix.SIGALRM, &a, nil)
}

// ticks begin or end.
func ticks(every time.Duration) {
	v := unix.NsecToTimeval(int64(every))
	_, _ = unix.Setitimer(unix.ITIMER_REAL, unix.Itimerval{Interval: v, Value: v})
}

// settle waits until the command that has the turn does not go on, and says why.
func (r *runner) settle(i int) rest {
	c := r.cmds[i]
	looks := 0 // at the same state, without an event
	again := func() {
		if looks >= looksAsleep {
			ticks(tick)
		}
		looks = 0
	}
	var was rest
	var since time.Time // the command sleeps
	var nap time.Time   // and nothing has happened since; a serial run wakes without being seen to run
	woke := func() {
		if !nap.IsZero() {
			r.res.Slept += time.Since(nap)
		}
		nap = time.Time{}
	}
	defer woke()
	ticks(tick)
	defer ticks(0)
	for came := true; ; came = r.collect(0) {
		switch {
		case len(c.tasks) == 0:
			return ended
		case r.allHeld(c):
			if !r.jitters(c) {
				return held
			}
			continue
		case came:
			woke()
			again()
			continue
		case time.Now().After(r.deadline):
			return unended
		}
		state := r.state(c)
		if state != was {
			again()
		}
		switch looks++; looks {
		case looksAsleep:
			ticks(longTick)
		case looksNapping:
			ticks(napTick)
		}
		was = state
		leftBehind := c.exit != "" && (state == waiting || state == asleep) // by its first process, which has ended
		if state == asleep {
			since, nap = cmp.Or(since, time.Now()), cmp.Or(nap, time.Now())
		}
		switch slept := time.Since(since); {
		case state == ended:
			return ended
		case state == held && looks > looksHeld:
			if !r.jitters(c) {
				return held
			}
			again()
		case state == waiting && looks > looksWaiting && !leftBehind:
			return waiting
		case leftBehind && (state == waiting && looks > looksWaiting || state == asleep && slept > 20*time.Millisecond):
			if c.spared < mostSpared && r.othersGoOn(c) {
				c.spared++
				return state
			}
			r.abandon(c)
			return ended
		case state == asleep && slept > r.job.Patience:
			return asleep
		case state == running:
			woke()
			since = time.Time{}
		}
	}
}

// allHeld reports whether each task of a command is held at a call, so that none of them goes on.
func (r *runner) allHeld(c *command) bool {
	return !slices.ContainsFunc(c.tasks, func(tid int) bool { return !r.tasks[tid].held })
}

// rankLost is the chance that the task that goes on is ranked behind others then, as in PCT (Burckhardt, Kothari,
// Musuvathi, Nagarakatti, ASPLOS 2010): an order that needs one task first for long is found by ranks, and hardly ever
// by a choice at each call.
const rankLost = 0.1

// jitters lets one held task of a command go on, where its tasks are to go in a drawn order.
func (r *runner) jitters(c *command) bool {
	if r.job.Jitter == 0 && !r.job.Ranked || r.left == 0 {
		return false
	}
	var list []*task
	for _, tid := range c.tasks {
		if t := r.tasks[tid]; t.held && r.script.allows(t.cmd, t.step) {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return false
	}
	next := list[r.rng.IntN(len(list))]
	if r.job.Ranked {
		next = slices.MaxFunc(list, func(a, b *task) int { return cmp.Compare(a.rank, b.rank) })
		if r.rng.Float64() < rankLost {
			next.rank -= float64(1 + r.rng.IntN(2))
		}
	}
	r.release(next)
	return true
}

// mostSpared is how often what a command has left behind is waited for, while others go on that it may wait for. It may
// as well be a loop that sleeps for ever.
const mostSpared = 8

// othersGoOn reports whether another command than this one has a task that is held, or has not ended.
func (r *runner) othersGoOn(but *command) bool {
	return slices.ContainsFunc(r.cmds, func(c *command) bool {
		return c != but && c.started && len(c.tasks) > 0 && (c.exit == "" ||
			slices.ContainsFunc(c.tasks, func(tid int) bool { return r.tasks[tid].held }))
	})
}

// abandon does not wait for what a command has left behind: it ends with the view.
func (r *runner) abandon(c *command) {
	for _, tid := range c.tasks {
		delete(r.tasks, tid)
	}
	r.abandoned += len(c.tasks)
	c.tasks = nil
}

// state says whether a command goes on, and why not.
func (r *runner) state(c *command) rest {
	if len(c.tasks) == 0 {
		return ended
	}
	isHeld, sleeps := false, len(c.timers) > 0
	for _, tid := range c.tasks {
		if r.tasks[tid].held {
			isHeld = true
			continue
		}
		switch waits(tid) {
		case running:
			return running
		case asleep:
			sleeps = true
		}
	}
	switch {
	case isHeld:
		return held
	case sleeps:
		return asleep
	}
	return waiting
}

// sets notes that a task is about to set a timer, or to stop one. What another thread stops is taken to run on.
func (c *command) sets(tid int, regs *unix.PtraceRegs) {
	is, at := [...]uint64{uint64(tid), regs.Orig_rax, regs.Rdi}, regs.Rdx
	var value [16]byte // behind the interval
	switch regs.Orig_rax {
	case unix.SYS_ALARM:
		is[2], at, value[0] = 0, 0, byte(min(regs.Rdi, 1))
	case unix.SYS_SETITIMER:
		at = regs.Rsi
	case unix.SYS_TIMER_DELETE:
		is[1], at = unix.SYS_TIMER_SETTIME, 0
	}
	_, err := unix.PtracePeekData(tid, uintptr(at)+16, value[:])
	c.timers = slices.DeleteFunc(c.timers, func(t [3]uint64) bool { return t == is })
	if value != [16]byte{} || err != nil && at != 0 {
		c.timers = append(c.timers, is)
	}
}

// readProc reads a file of a task's. It is read at each look: a descriptor that package os watches costs too much.
func readProc(buf []byte, tid int, name string) ([]byte, error) {
	fd, err := unix.Open("/proc/"+strconv.Itoa(tid)+name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	n, err := unix.Read(fd, buf)
	_ = unix.Close(fd)
	return buf[:max(n, 0)], err
}

// waits says whether a task waits for somebody, or for a time.
func waits(tid int) rest {
	var buf [1024]byte
	text, err := readProc(buf[:], tid, "/stat")
	after := bytes.LastIndexByte(text, ')') + 2
	if err != nil || after >= len(text) {
		return running
	}
	state := text[after]
	if state == 'Z' {
		return waiting
	}
	if state != 'S' && state != 'D' {
		return running
	}
	text, _ = readProc(buf[:], tid, "/syscall")
	f := strings.Fields(string(text))
	if len(f) < 7 {
		return running
	}
	nr, _ := strconv.Atoi(f[0])
	arg := func(n int) uint64 {
		x, _ := strconv.ParseUint(strings.TrimPrefix(f[n+1], "0x"), 16, 64)
		return x
	}
	timed := false
	switch nr {
	case unix.SYS_VFORK, unix.SYS_CLONE, unix.SYS_CLONE3:
		return waiting // until the child of vfork has gone on, in state D
	case unix.SYS_NANOSLEEP, unix.SYS_CLOCK_NANOSLEEP, unix.SYS_RESTART_SYSCALL:
		timed = true
	case unix.SYS_POLL:
		timed = int32(arg(2)) >= 0
	case unix.SYS_EPOLL_WAIT, unix.SYS_EPOLL_PWAIT:
		timed = int32(arg(3)) >= 0
	case unix.SYS_PPOLL, unix.SYS_RT_SIGTIMEDWAIT:
		timed = arg(2) != 0
	case unix.SYS_SELECT, unix.SYS_PSELECT6:
		timed = arg(4) != 0
	case unix.SYS_FUTEX, unix.SYS_SEMTIMEDOP, unix.SYS_EPOLL_PWAIT2:
		timed = arg(3) != 0
	}
	switch {
	case timed:
		return asleep
	case state == 'D': // for the disk
		return running
	}
	return waiting
}
