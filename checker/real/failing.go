//go:build linux

package real

import (
	"fmt"

	"lockpick/fsfake"
)

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
