package fsfake

import (
	"fmt"
	"slices"
	"strings"
)

// Ways is in how many ways the call can go: which one it is, is a choice of the schedule. For
// all calls but [CallChoose] it is 1.
func (o *Op) Ways() int {
	if o.Call == CallChoose {
		return max(int(o.Len), 1)
	}
	return 1
}

// Way returns the call as it goes in one of its [Op.Ways], counted from 0.
func (o Op) Way(n int) Op {
	if o.Call == CallChoose {
		o.Off = int64(n)
	}
	return o
}

// A WayTaken is which of so many ways a call went. Those that were shut are bits.
type WayTaken struct {
	Which, Of int
	Shut      uint64
}

// NextWays are the ways after these that have the first so many in common with them; nil when there are none.
func NextWays(ways []WayTaken, common int) []WayTaken {
	for n := len(ways); n > common; n-- {
		last := ways[n-1]
		for last.Which++; last.Which < last.Of; last.Which++ {
			if last.Shut>>last.Which&1 == 0 {
				return append(append([]WayTaken{}, ways[:n-1]...), last)
			}
		}
	}
	return nil
}

// Converts is the Value of the answer to a [CallChoose] whose call waits, and gives back another lock of its
// description when it begins to.
type Converts struct{}

// MustWait is the Value of the answer to a [CallChoose] whose call waits for a record lock, of a process that has one:
// the kernel looks for a circle when it begins to, which may end it or the wait of another.
type MustWait struct{}

// WayThatWaits is the line of a [CallChoose] for a call of a task that waits, for a lock or to read a FIFO. It can be
// chosen only where it would be granted at once.
//
// So nobody ever begins to wait beside others of its command, and none of their orders is lost by that. Whatever
// happens until a lock is granted, the others can do before it is chosen. That somebody waits is seen by nobody,
// where nobody queues: a description without a lock has none to give back when it begins, and a process without
// record locks closes no circle.
func WayThatWaits(t Task, op Op) string {
	wait := 0
	if op.Wait {
		wait = 1
	}
	return fmt.Sprintf("%s\x00%d %d %d %d %d %d %d", op.String(), t.Pid, op.Call, op.FD, op.Flags, op.Off, op.Len, wait)
}

// WayOfTimer is the line of a [CallChoose] for a timer that goes off while calls wait. It can be chosen only where none
// of these calls would be granted at once: the lock is had before the time comes.
func WayOfTimer(op Op) string { return op.String() + whileAllWait }

const whileAllWait = "\x00timer"

// GoesOff reports whether a timer was chosen that goes off while calls wait ([WayOfTimer]).
func (o *Op) GoesOff() bool { return o.Call == CallChoose && strings.HasSuffix(o.line(), whileAllWait) }

// WayOfSignal is the line of a [CallChoose] for a signal that comes before the call of a task is made.
func WayOfSignal(t Task) string {
	return fmt.Sprintf("a signal that has come\x00signal %d %d", t.Pid, t.N)
}

// SignalFor is the task for which a signal comes first, if that was chosen ([WayOfSignal]).
func (o *Op) SignalFor() (t Task, is bool) {
	_, who, _ := strings.Cut(o.line(), "\x00signal ")
	n, _ := fmt.Sscan(who, &t.Pid, &t.N)
	return t, o.Call == CallChoose && n == 2
}

// WayThatLooks is the line of a [CallChoose] for a call of a process with one thread, of which no other process of its
// family can tell when it goes on, but by the calls that it makes; text tells of it. [Machine.LocalWay] says where it
// may go first.
func WayThatLooks(text string, t Task, op Op) string {
	return fmt.Sprintf("%s\x00looks %d %d %d %d %q", text, t.Pid, op.Call, op.FD, op.Flags, op.Path)
}

// looking is the call that a line of [WayThatLooks] is about; false for other lines.
func looking(line string) (t Task, op Op, is bool) {
	_, call, _ := strings.Cut(line, "\x00looks ")
	n, _ := fmt.Sscanf(call, "%d %d %d %d %q", &t.Pid, &op.Call, &op.FD, &op.Flags, &op.Path)
	t.N = 1
	return t, op, n == 5
}

// A WaitingCall is a call of a [CallChoose] that waits, and whose it is; of a thread the first of its process.
type WaitingCall struct {
	Task Task
	Op   Op
}

// waiting is the call that a line of [WayThatWaits] is about; false for other lines.
func waiting(line string) (w WaitingCall, is bool) {
	_, lock, is := strings.Cut(line, "\x00")
	if is {
		wait, o := 0, &w.Op
		_, err := fmt.Sscan(lock, &w.Task.Pid, &o.Call, &o.FD, &o.Flags, &o.Off, &o.Len, &wait)
		is, w.Task.N, o.Wait = err == nil, 1, wait == 1
	}
	return w, is
}

// Waiting lists the calls of a [CallChoose] that wait.
func (o *Op) Waiting() (all []WaitingCall) {
	if o.Call == CallChoose {
		for line := range strings.Lines(o.Data) {
			if w, is := waiting(strings.TrimSuffix(line, "\n")); is {
				all = append(all, w)
			}
		}
	}
	return all
}

func (m *Machine) choose(op *Op, r *Result) {
	if op.Off < 0 || op.Off >= op.Len {
		*r = unmodelled("the choice %d of %d calls", op.Off, op.Len)
		return
	}
	line := op.line()
	if w, waits := waiting(line); waits {
		m.try(&w, r)
	} else if op.GoesOff() {
		r.Blocked = slices.ContainsFunc(op.Waiting(), func(w WaitingCall) bool {
			var got Result
			m.try(&w, &got)
			return !got.Blocked
		})
	}
	if !r.Blocked {
		r.N = op.Off
	}
}

// try says what comes of a call that waits, and takes nothing.
func (m *Machine) try(w *WaitingCall, r *Result) {
	p := m.proc(w.Task.Pid)
	if p == nil {
		return // the call says what is wrong
	}
	d := m.descOf(p, w.Op.FD)
	switch {
	case d == nil:
	case w.Op.Call == CallOpenFIFO:
		r.Blocked = d.flags&fifoAlone != 0
	case w.Op.Call == CallTake:
		r.Blocked = !m.mayTake(d)
	case w.Op.Call == CallFlock:
		mode := flockMode(w.Op.Flags)
		switch held := int(d.flock); {
		case held == mode || !m.flockConflicts(d, mode):
		case held != 0:
			r.Value = Converts{}
		default:
			r.Blocked = true
		}
	default:
		owner := ownerOf(p.pid, &w.Op, d.id)
		want, e := rangeOf(owner, &w.Op)
		switch {
		case e != 0 || !d.mayLock(want.typ) || m.conflict(d.inode, want) == nil:
		case owner.pid != 0 && m.hasRecords(owner):
			r.Value = MustWait{}
		default:
			r.Blocked = true
		}
	}
}

// Shut are the ways of a call of a task that cannot be taken on the machine now, by bit.
func (m *Machine) Shut(t Task, op Op) (ways uint64) {
	if m.signalFor(t.Pid) >= 0 || op.Call != CallChoose || !strings.Contains(op.Data, "\x00") {
		return 0
	}
	for which := range op.Ways() {
		var r Result
		op.Off = int64(which)
		if m.choose(&op, &r); r.Blocked {
			ways |= 1 << which
		}
	}
	return ways
}

// line is the line of Data that is about the call that goes on.
func (o *Op) line() string {
	lines := strings.Split(o.Data, "\n")
	if o.Off < 0 || o.Off >= int64(len(lines)) {
		return ""
	}
	return lines[o.Off]
}

// chosenText is the call that goes on.
func chosenText(o *Op) string {
	if o.Data == "" {
		return fmt.Sprintf("%d of %d", o.Off+1, o.Len)
	}
	call, _, _ := strings.Cut(o.line(), "\x00")
	return call
}
