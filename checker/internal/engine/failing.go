package engine

import (
	"syscall"

	"lockpick/fsfake"
)

// Calls that fail, live and on numbers. A setting may let some calls fail although nothing stands
// in their way; which call, and with which error, is a choice of the schedule. The machine knows
// what can fail how ([fsfake.Machine.CanFail]). The call is a step like others, which the
// program goes on from with the error; in a [trace.Cost] it also counts as a crash does. The
// fresh process that probes for a wedge is not struck.

// failing lists the names of the errors with which a task's next call can fail now. It appends to
// names.
func (w *World) failing(a *actor, names []string) []string {
	if w.fails == 0 || a.blocked || !w.enabled(a) || w.exits(a) {
		return names
	}
	for _, e := range w.sc.MayFail(a.op.Call) {
		if w.M.CanFail(a.who(), a.op, e) {
			names = append(names, fsfake.ErrnoName(e))
		}
	}
	return names
}

// do makes a task's call, which fails with an error where one is named.
func (w *World) do(a *actor, op fsfake.Op, fails string) fsfake.Result {
	if fails == "" {
		return w.M.Do(a.who(), op)
	}
	w.fails--
	e, err := fsfake.FailingErrno(fails)
	if err != nil {
		w.fail("%s: %s: %w", a.task, op.Call, err)
		return fsfake.Result{}
	}
	r, ok := w.M.Fail(a.who(), op, e)
	if !ok {
		w.fail("%s: %s cannot fail with %s now", a.task, op.Call, fails)
	}
	return r
}

// opFail is the operation on a machine of a call that fails. It comes to a transition that is
// blocked when the call cannot fail so. By, unless it is zero, makes the call, as with opBy.
type opFail struct {
	op fsfake.Op
	e  syscall.Errno
	by fsfake.Task
}

// A failingWay is one way in which a call can fail: the error's name, and the number of its opFail.
type failingWay struct {
	name string
	op   uint32
}

// failures are those of a call, of a task's own where by is zero.
func (x *Space) failures(op fsfake.Op, by fsfake.Task) []failingWay {
	var out []failingWay
	for _, e := range x.Sc.MayFail(op.Call) {
		out = append(out, failingWay{fsfake.ErrnoName(e), x.machines.op(opFail{op, e, by})})
	}
	return out
}
