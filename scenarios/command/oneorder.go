package command

import (
	"fmt"
	"slices"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/scenarios"
)

// Where only one order of a command's own calls is followed, and why.

// oneOrder notes that of several calls only one order is followed.
func (d *driver) oneOrder(set []tracer.Pending) {
	d.note(scenarios.OneOrder)
	waits := slices.IndexFunc(set, func(p tracer.Pending) bool { return p.Missed || p.Signalled || rank(p) == 1 })
	waits = max(waits, 0)
	text := d.asks(set[waits])
	for i := range set {
		if i != waits {
			text += " beside " + d.asks(set[i])
			break
		}
	}
	d.spec.record.follows(text + d.oneOrderFor(&set[waits]))
}

// asks tells who makes a call, and which.
func (d *driver) asks(p tracer.Pending) string {
	who := scenarios.ProcessName(d.process)
	if p.Task.Pid != d.root {
		who = fmt.Sprintf("process %d of %s", p.Task.Pid, who)
	}
	if p.Task.N > 1 {
		who = fmt.Sprintf("thread %d of %s", p.Task.N, who)
	}
	return fmt.Sprintf("%s in %s", who, brief(p.Op.String()))
}

// oneOrderFor says why, and what one can do.
func (d *driver) oneOrderFor(p *tracer.Pending) string {
	s := d.spec
	switch {
	case p.Missed:
		return ", a lock that another process has closed a descriptor of: close it later, or open the file anew"
	case p.Signalled:
		return ", for which a signal has come: have the signal end the program, or wait with flock -w"
	case s.oneOrder:
		return "; the command has too many orders when it runs alone: let fewer of its processes run at once"
	case s.Inside != "":
		return ": ask without --inside"
	case s.FailingCalls > 0:
		return ": ask without --failing-calls"
	case s.lasting && p.Op.MayBlock():
		return ", where clocks move: let it wait in one process, or without reading a clock"
	case p.Op.Call == fsfake.CallSetlk && d.wentOff >= mostWentOff:
		return ", while timers go off again and again: use flock, or a timer that goes off once"
	case p.Op.Call == fsfake.CallSetlk:
		return ", while its process has another record lock: use flock, or one lock at a time"
	case p.Timer:
		return ", a loop that sleeps and finds everything as before: shorten the timeout beside it"
	}
	return ""
}
