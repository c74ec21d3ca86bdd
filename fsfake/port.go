package fsfake

import "fmt"

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
	return r
}

func (directPort) Note(any) {}
