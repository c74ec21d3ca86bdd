//go:build linux

package kernel

import (
	"fmt"
	"slices"

	"lockpick/fsfake"
)

// noSuchPid is above the highest pid that Linux ever gives.
const noSuchPid = 1<<22 + 1

// Do makes one call in a process. It returns when the call has returned or is blocked; a
// blocked call returns through [Machine.Woken].
func (m *Machine) Do(pid int, op fsfake.Op) (fsfake.Result, error) {
	s, err := m.find(pid)
	if err != nil {
		return fsfake.Result{}, err
	}
	if s.blocked != nil {
		return fsfake.Result{}, fmt.Errorf("kernel: %s by process %d, which is blocked in %s", op.Call, pid, s.blocked.Call)
	}
	if err := s.greet(); err != nil {
		return fsfake.Result{}, err
	}
	switch op.Call {
	case fsfake.CallExit:
		return fsfake.Result{}, m.exit(s)
	case fsfake.CallFork:
		return m.fork(s)
	case fsfake.CallSleep, fsfake.CallWork:
		return fsfake.Result{}, nil
	case fsfake.CallKill:
		if op.Pid, err = m.realPid(op.Pid); err != nil {
			return fsfake.Result{}, err
		}
	}
	r, err := s.call(&op)
	r.Lock.Pid = m.simulatedPid(r.Lock.Pid)
	return r, err
}

// realPid translates a pid that a process asks about.
func (m *Machine) realPid(pid int) (int, error) {
	if pid <= 1 {
		return pid, nil
	}
	s, err := m.find(pid)
	if err != nil {
		return noSuchPid, nil
	}
	return s.process.pid, s.greet() // before that it is still root's
}

// simulatedPid translates the pid of a lock's owner.
func (m *Machine) simulatedPid(real int) int {
	for _, s := range m.procs {
		if s.process.pid == real {
			return s.pid
		}
	}
	return real
}

// leave takes a process whose worker has ended out of the machine.
func (m *Machine) leave(s *simulated) {
	m.slots.free(s.slot)
	i, _ := m.at(s.pid)
	m.procs = slices.Delete(m.procs, i, i+1)
}

func (m *Machine) exit(s *simulated) error {
	var e encoder
	e.op(&fsfake.Op{Call: fsfake.CallExit})
	if err := s.send(frameOp, e.b); err != nil {
		return err
	}
	s.reaped()
	m.leave(s)
	return nil
}

// KillProc ends a process with SIGKILL, whatever it is doing.
func (m *Machine) KillProc(pid int) error {
	s, err := m.find(pid)
	if err != nil {
		return err
	}
	s.kill()
	m.leave(s)
	return nil
}

// fork gives the child the pid that the fake gives it.
func (m *Machine) fork(s *simulated) (fsfake.Result, error) {
	slot, err := m.takeSlot()
	if err != nil {
		return fsfake.Result{}, err
	}
	r, err := s.call(&fsfake.Op{Call: fsfake.CallFork, FD: slot})
	if err != nil || !r.OK() {
		m.slots.free(slot)
		return r, err
	}
	child := m.process(int(r.N), slot, s.uid, s.cwd)
	// The copies of the descriptors are there at once, but the child's close-on-exec
	// flags are set while it starts.
	if err := child.greet(); err != nil {
		return r, err
	}
	r.N = int64(m.maxPid + 1)
	m.enter(m.maxPid+1, child)
	return r, nil
}

// A Wake is a blocked call that has returned.
type Wake struct {
	Pid    int
	Op     fsfake.Op
	Result fsfake.Result
}

// Woken returns the blocked calls that have returned since it was last called, in the
// order of pids. Whoever is not among them is blocked still.
func (m *Machine) Woken() ([]Wake, error) {
	var ws []Wake
	for _, s := range m.procs {
		if s.blocked == nil {
			continue
		}
		if err := s.wake(); err != nil {
			return ws, err
		}
		if s.answered {
			ws = append(ws, Wake{s.pid, *s.blocked, s.result})
			s.blocked, s.answered = nil, false
		}
	}
	return ws, nil
}

// Blocked returns the call that a process is blocked in, as far as is known.
func (m *Machine) Blocked(pid int) (fsfake.Op, bool) {
	if s, err := m.find(pid); err == nil && s.blocked != nil {
		return *s.blocked, true
	}
	return fsfake.Op{}, false
}

// Interrupt sends a blocked process a signal that is caught without SA_RESTART. What the
// call answers comes through [Machine.Woken].
func (m *Machine) Interrupt(pid int) error {
	s, err := m.find(pid)
	if err != nil {
		return err
	}
	if s.blocked == nil {
		return fmt.Errorf("kernel: Interrupt of process %d, which is in no blocked call", pid)
	}
	return s.interrupt()
}
