package fsfake

import (
	"errors"
	"fmt"
)

// Proc returns a Proc whose calls run on the machine at once: for setting a machine up,
// and for tests. Its task has the number 0. It panics when a call would block, and when
// a call is not modelled.
func (m *Machine) Proc(pid int) *Proc {
	return NewProc(directPort{m, Task{Pid: pid}}, pid, 0)
}

type directPort struct {
	m *Machine
	t Task
}

func (d directPort) Do(op Op) Result {
	r := d.m.Do(d.t, op)
	switch {
	case r.Blocked:
		panic(fmt.Sprintf("fsfake: %s of process %d blocks", op.Call, d.t.Pid))
	case r.Unmodelled != "":
		panic("fsfake: " + r.Unmodelled)
	}
	if d.m.preparing != nil && *d.m.preparing == nil && r.Errno != 0 && r.Errno != EEXIST && makes(&op) {
		*d.m.preparing = fmt.Errorf("fsfake: %s: %s", op, ErrnoName(r.Errno))
	}
	return r
}

// makes reports whether a call is there to make something: whoever sets a machine up and
// sees it fail has less than was wanted.
func makes(op *Op) bool {
	return op.Call.Is(Makes) || op.Call == CallOpen && op.Flags&(O_CREAT|O_WRONLY|O_RDWR) != 0
}

// Prepare lets f set the machine up by calls of its Procs. The error is a panic of f, or
// the first call that should have made something and failed, whether f looked at its answer
// or not; that a name exists already is no failure.
func (m *Machine) Prepare(f func(m *Machine)) (err error) {
	var failed error
	m.preparing = &failed
	defer func() {
		m.preparing = nil
		switch e := recover().(type) {
		case nil:
			err = failed
		case error:
			err = errors.Join(failed, e)
		default:
			err = errors.Join(failed, fmt.Errorf("fsfake: %v", e))
		}
	}()
	f(m)
	return nil
}

func (directPort) Note(any) {}
