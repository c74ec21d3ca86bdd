//go:build linux

package real

import (
	"fmt"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
	"lockpick/scenarios"
	"lockpick/sched"
)

// call makes one call of a task on both machines. op is what the fake's run did.
func (r *run) call(t *task, op fsfake.Op, c sched.Choice) error {
	child := t.by != (fsfake.Task{})
	if op.Call.Ends() && t.ask.Ended {
		r.fake.Do(t.id, op)
		r.report.Compared++
		if _, err := r.real.Do(t.id, op); err != nil {
			return err
		}
		r.gone(t.task.Process)
		return nil
	}
	if t.ask.Ended || !sameOp(op, t.ask.Op.Way(c.Which)) {
		next := "nothing: the program has ended"
		if !t.ask.Ended {
			next = t.ask.Op.String()
		}
		r.differ("the next call", op.String(), next)
		return nil
	}
	if c.Fails != "" {
		return r.failing(t, op, c.Fails)
	}
	f := r.fake.Do(t.who(), op)
	if f.Unmodelled != "" {
		return fmt.Errorf("%s: %s", op.Call, f.Unmodelled)
	}
	shown := f
	switch {
	case op.Call.IsCell():
	case !kernel.Makes(op.Call) && !op.Call.Ends():
		r.report.Emulated[op.Call.String()]++
	default:
		real, err := r.doReal(t, op)
		if err != nil {
			return err
		}
		if !r.real.Rooted() { // everybody is the driver's user
			real.Stat.UID, real.Stat.GID = f.Stat.UID, f.Stat.GID
		}
		if r.compare(op, f, real); r.lost {
			return nil
		}
		shown = r.shown(f, real)
		if inode, times := f.Shows(op); inode || times {
			r.report.Emulated["inode number and times of "+op.Call.String()]++
		}
	}
	if t.waits = f.Blocked; f.Blocked {
		return nil
	}
	if op.Call.Ends() && !child {
		r.gone(t.task.Process)
		return nil
	}
	ask, err := r.real.Give(t.id, shown)
	t.take(ask)
	return err
}

// doReal makes a call on the real kernel, or looks how one that has been waiting ended.
func (r *run) doReal(t *task, op fsfake.Op) (fsfake.Result, error) {
	if !t.waits {
		r.report.Compared++
		return r.real.Do(t.who(), op)
	}
	if t.woken == nil {
		return fsfake.Result{Blocked: true}, nil
	}
	got := *t.woken
	t.woken = nil
	return got, nil
}

// sameOp compares a call with one that has come over a pipe, where values are text.
func sameOp(op, asked fsfake.Op) bool {
	if op.Value != nil {
		op.Value = fmt.Sprintf("%+v", op.Value)
	}
	return op == asked || op.Call.Ends() && asked.Call.Ends()
}

// shown is what the program sees of a real answer: in place of what depends on the machine
// that happens to run it, the fake's.
func (r *run) shown(f, real fsfake.Result) fsfake.Result {
	real.Stat.Ino, real.Stat.Dev = f.Stat.Ino, f.Stat.Dev
	real.Stat.Atime, real.Stat.Mtime = f.Stat.Atime, f.Stat.Mtime
	real.Stat.Ctime, real.Stat.Btime = f.Stat.Ctime, f.Stat.Btime
	return real
}

// compareNotes compares what the programs noted of their operations.
func (r *run) compareNotes(tr trace.Trace) {
	for _, t := range r.tasks {
		var want []string
		for _, s := range tr {
			if s.Choice.Task != t.task {
				continue
			}
			if s.Noted != nil {
				want = append(want, kernel.NoteText(scenarios.Invoked{Input: s.Noted}))
			}
			if s.Returned != nil {
				want = append(want, kernel.NoteText(scenarios.Returned{Output: s.Returned}))
			}
		}
		var got []string
		for _, n := range t.notes {
			if isOperation(n) {
				got = append(got, n)
			}
		}
		for i, w := range want {
			have := "nothing"
			if i < len(got) {
				have = got[i]
			}
			if have != w {
				r.now = t.task
				r.differ(fmt.Sprintf("what the program noted, %d", i+1), w, have)
				return
			}
		}
	}
}

// failing is a call that fails because the schedule says so. The real kernel is not made to
// fail: the program is told the error, and nothing happens. A wait is really interrupted
// by a signal, and a close that fails is really made.
func (r *run) failing(t *task, op fsfake.Op, name string) error {
	e, err := fsfake.FailingErrno(name)
	if err != nil {
		return err
	}
	f, ok := r.fake.Fail(t.who(), op, e)
	if !ok {
		return fmt.Errorf("real: %s cannot fail with %s here", op, name)
	}
	switch {
	case e == fsfake.EINTR:
		if err := r.interrupted(t, op, f); err != nil || r.lost {
			return err
		}
	case op.Call == fsfake.CallClose:
		if _, err := r.real.Do(t.who(), op); err != nil {
			return err
		}
		fallthrough
	default:
		r.report.Emulated["failing "+op.Call.String()]++
	}
	ask, err := r.real.Give(t.id, f)
	t.take(ask)
	return err
}

// interrupted lets a call wait on the real kernel, and ends the wait by a signal.
func (r *run) interrupted(t *task, op fsfake.Op, f fsfake.Result) error {
	r.report.Compared++
	real, err := r.real.Do(t.who(), op)
	if err != nil {
		return err
	}
	if real.Blocked {
		if err := r.real.Interrupt(t.who()); err != nil {
			return err
		}
		if err := r.wakes(); err != nil {
			return err
		}
		if t.woken != nil {
			real, t.woken = *t.woken, nil
		}
	}
	r.compare(op, f, real)
	return nil
}
