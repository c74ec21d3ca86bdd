package fsfake

import "fmt"

// A StreamView is a descriptor that is open on a standard stream.
type StreamView struct {
	FD          int
	Stream      int // 0 to 2: which one it was when the process began, or its parent
	CloseOnExec bool
}

// Streams lists the descriptors of a process that are open on one of the standard streams
// it began with. What they lead to is outside of the machine.
func (m *Machine) Streams(pid int) []StreamView {
	p := m.proc(pid)
	if p == nil {
		return nil
	}
	var vs []StreamView
	for _, f := range p.fds {
		if f.outside() {
			vs = append(vs, StreamView{FD: int(f.fd), Stream: int(-f.desc), CloseOnExec: f.cloexec})
		}
	}
	return vs
}

// LossStates returns how many distinct states the disk may be in when the power is lost now: an error where there are
// too many.
func (m *Machine) LossStates() (int, error) {
	l, err := m.Losses(nil, 0)
	if err == nil && !l.Whole {
		err = fmt.Errorf("fsfake: a loss of power with more than %d combinations of what is kept is not modelled",
			maxLossStates)
	}
	return l.Len(), err
}

// LosePower cuts the power; the disk is in state k of [Machine.LossStates] then.
func (m *Machine) LosePower(k int) {
	l, err := m.Losses(nil, 0)
	if err != nil {
		panic(err)
	}
	m.Lose(l, k)
}

// Uses reports whether the call looks at all of these operands. The others must be zero in
// an Op of this call.
func (c Call) Uses(o Operand) bool { return c.row().uses&o == o }
