//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"slices"

	"golang.org/x/sys/unix"
)

// Alarm clocks: alarm(2), setitimer(2), and the timers of timer_create(2). They go by the
// monotonic clock of the process, whatever clock they name.

var aboutAlarms = []spec{
	{unix.SYS_ALARM, "alarm", 1, func(t *thread, c *call) {
		a := t.p.alarm(realTimer)
		left := (a.left(t.p) + 1e9 - 1) / 1e9
		a.set(t.p, int64(uint32(c.args[0]))*1e9, 0)
		t.result(left)
	}},
	{unix.SYS_GETITIMER, "getitimer", 2, func(t *thread, c *call) {
		if t.isRealTimer(c.int(0)) {
			t.put(c.args[1], t.p.alarm(realTimer).bytes(t.p, 1000), 0)
		}
	}},
	{unix.SYS_SETITIMER, "setitimer", 3, func(t *thread, c *call) {
		if t.isRealTimer(c.int(0)) {
			t.setAlarm(t.p.alarm(realTimer), c.args[1], c.args[2], 1000, 0)
		}
	}},
	{unix.SYS_TIMER_CREATE, "timer_create", 3, (*thread).timerCreate},
	{unix.SYS_TIMER_SETTIME, "timer_settime", 4, func(t *thread, c *call) {
		if a := t.p.alarm(c.int(0)); a != nil {
			now := int64(0)
			if c.int(1)&unix.TIMER_ABSTIME != 0 {
				now = t.p.monotonic()
				if a.wall {
					now = t.r.now + t.p.ahead
				}
			}
			t.setAlarm(a, c.args[2], c.args[3], 1, now)
			return
		}
		t.fail(unix.EINVAL)
	}},
	{unix.SYS_TIMER_GETTIME, "timer_gettime", 2, func(t *thread, c *call) {
		if a := t.p.alarm(c.int(0)); a != nil {
			t.put(c.args[1], a.bytes(t.p, 1), 0)
			return
		}
		t.fail(unix.EINVAL)
	}},
	{unix.SYS_TIMER_GETOVERRUN, "timer_getoverrun", 1, func(t *thread, c *call) { t.result(0) }},
	{unix.SYS_TIMER_DELETE, "timer_delete", 1, func(t *thread, c *call) {
		if a := t.p.alarm(c.int(0)); a != nil && a.id != realTimer {
			t.p.alarms = slices.DeleteFunc(t.p.alarms, func(b *alarm) bool { return a == b })
			t.result(0)
			return
		}
		t.fail(unix.EINVAL)
	}},
}

// realTimer is the id of the timer of alarm(2) and setitimer(2).
const realTimer = -1

// An alarm is one alarm clock of a process.
type alarm struct {
	id       int
	on       bool
	deadline int64 // on the monotonic clock
	tied     int64 // see thread
	interval int64
	wall     bool // its absolute times are times of day
	signal   unix.Signal
	value    uint64 // what the signal carries
	thread   int    // the thread that gets it, or 0
	silent   bool   // it sends no signal
}

// alarm returns an alarm clock; the one of setitimer(2) is there always.
func (p *process) alarm(id int) *alarm {
	for _, a := range p.alarms {
		if a.id == id {
			return a
		}
	}
	if id != realTimer {
		return nil
	}
	a := &alarm{id: id, signal: unix.SIGALRM}
	p.alarms = append(p.alarms, a)
	return a
}

// nextAlarm is the alarm clock that goes off next, or nil.
func (p *process) nextAlarm() *alarm {
	var first *alarm
	for _, a := range p.alarms {
		if a.on && (first == nil || a.deadline < first.deadline) {
			first = a
		}
	}
	return first
}

// ring makes an alarm clock go off. Its signal says that a timer has sent it.
func (p *process) ring(a *alarm) {
	if a.on = a.interval > 0; a.on {
		a.deadline += a.interval
	}
	if a.silent {
		return
	}
	const siTimer = -2
	info := siginfo{signo: int32(a.signal), code: siTimer, pid: int32(a.id)} // pid: the timer's id
	binary.LittleEndian.PutUint64(info.value[:], a.value)
	sendSignal(p.real, p.r.realID(a.thread), &info)
}

func (a *alarm) left(p *process) int64 {
	if !a.on {
		return 0
	}
	return max(a.deadline-p.mono, 1000)
}

func (a *alarm) set(p *process, ns, interval int64) {
	a.on, a.deadline, a.interval = ns > 0, p.mono+ns, interval
}

// bytes is struct itimerval or itimerspec, whose unit is 1000 or 1 ns.
func (a *alarm) bytes(p *process, unit int64) []byte {
	left := a.left(p)
	return putUint64s(uint64(a.interval/1e9), uint64(a.interval%1e9/unit), uint64(left/1e9), uint64(left%1e9/unit))
}

// setAlarm reads the new setting at one address and writes the old one to another. Times are
// counted from now.
func (t *thread) setAlarm(a *alarm, from, to uint64, unit, now int64) {
	old := a.bytes(t.p, unit)
	if from != 0 {
		b, err := readFull(t.tid, from, 32)
		if err != nil {
			t.failErr(err)
			return
		}
		at := func(i int) int64 {
			return int64(binary.LittleEndian.Uint64(b[i:]))*1e9 + int64(binary.LittleEndian.Uint64(b[i+8:]))*unit
		}
		value := at(16)
		if value > 0 && now != 0 {
			value = max(value-now, 1)
		}
		a.set(t.p, value, at(0))
	}
	if to == 0 {
		t.result(0)
		return
	}
	t.put(to, old, 0)
}

func (t *thread) isRealTimer(which int) bool {
	if which != unix.ITIMER_REAL {
		t.unmodelled("timers of CPU time are not handled")
	}
	return which == unix.ITIMER_REAL
}

func (t *thread) timerCreate(c *call) {
	const none, byThread = 1, 4 // SIGEV_NONE, SIGEV_THREAD_ID
	a := &alarm{signal: unix.SIGALRM, wall: c.int(0) == unix.CLOCK_REALTIME}
	for t.p.alarm(a.id) != nil {
		a.id++
	}
	if clock := c.int(0); clock < 0 || clock == unix.CLOCK_PROCESS_CPUTIME_ID || clock == unix.CLOCK_THREAD_CPUTIME_ID {
		t.unmodelled("timers of CPU time are not handled")
		return
	}
	if c.args[1] != 0 {
		b, err := readFull(t.tid, c.args[1], 20)
		if err != nil {
			t.failErr(err)
			return
		}
		le := binary.LittleEndian
		a.value, a.signal = le.Uint64(b), unix.Signal(le.Uint32(b[8:]))
		switch how := le.Uint32(b[12:]); how {
		case 0:
		case none:
			a.silent = true
		case byThread:
			a.thread = int(le.Uint32(b[16:]))
		default:
			t.unmodelled("notification %d is not handled", how)
			return
		}
	}
	t.p.alarms = append(t.p.alarms, a)
	t.put(c.args[2], binary.LittleEndian.AppendUint32(nil, uint32(a.id)), 0)
}
