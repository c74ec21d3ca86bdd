package fsfake

import (
	"fmt"
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

// Converts is the Value of the answer to a [CallChoose] whose call waits, and gives back another lock of its
// description when it begins to.
type Converts struct{}

// WayThatWaits is the line of a [CallChoose] for a flock(2) of a task that waits. It can be chosen only where the lock
// would be granted at once.
//
// So nobody ever begins to wait beside others of its command, and none of their orders is lost by that. Whatever
// happens until a lock is granted, the others can do before it is chosen. That somebody waits is seen by nobody,
// where nobody queues: a description without a lock has none to give back when it begins.
func WayThatWaits(t Task, op Op) string {
	return fmt.Sprintf("%s\x00%d %d %d", op.String(), t.Pid, op.FD, op.Flags)
}

// A WaitingCall is a call of a [CallChoose] that waits, and whose it is; of a thread the first of its process.
type WaitingCall struct {
	Task Task
	Op   Op
}

// waiting is the call that a line of [WayThatWaits] is about; false for other lines.
func waiting(line string) (w WaitingCall, is bool) {
	_, lock, is := strings.Cut(line, "\x00")
	w.Task.N, w.Op.Call = 1, CallFlock
	if is {
		_, err := fmt.Sscan(lock, &w.Task.Pid, &w.Op.FD, &w.Op.Flags)
		is = err == nil
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
	r.N = op.Off
	w, waits := waiting(op.line())
	if !waits {
		return
	}
	p := m.proc(w.Task.Pid)
	if p == nil {
		return // the call says what is wrong
	}
	d := m.descOf(p, w.Op.FD)
	if mode := flockMode(w.Op.Flags); d == nil || int(d.flock) == mode || !m.flockConflicts(d, mode) {
		return
	}
	if d.flock != 0 {
		r.Value = Converts{}
		return
	}
	*r = Result{Blocked: true}
}

// Shut are the ways of a call that cannot be taken on the machine now, by bit.
func (m *Machine) Shut(op Op) (ways uint64) {
	if op.Call != CallChoose || !strings.Contains(op.Data, "\x00") {
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
