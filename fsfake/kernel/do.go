//go:build linux

package kernel

import (
	"fmt"
	"slices"

	"lockpick/fsfake"
)

// noSuchPid is above the highest pid that Linux ever gives.
const noSuchPid = 1<<22 + 1

// Do makes one call of a task. It returns when the call has returned or is blocked; a
// blocked call returns through [Machine.Woken]. The first task of a process is its main
// thread.
func (m *Machine) Do(t fsfake.Task, op fsfake.Op) (fsfake.Result, error) {
	s, err := m.find(t.Pid)
	if err != nil {
		return fsfake.Result{}, err
	}
	p, err := m.thread(s, t.N)
	if err != nil {
		return fsfake.Result{}, err
	}
	if p.blocked != nil {
		return fsfake.Result{}, fmt.Errorf("kernel: %s by task %d of process %d, which is blocked in %s", op.Call, t.N, t.Pid, p.blocked.Call)
	}
	switch {
	case op.Call.Ends(): // with which status, no process here sees
		return fsfake.Result{}, m.exit(s)
	case op.Call == fsfake.CallFork:
		return m.fork(s)
	case op.Call == fsfake.CallSleep || op.Call == fsfake.CallWork:
		return fsfake.Result{}, nil
	case op.Call == fsfake.CallKill:
		if s.inside {
			break // a pid is what it is in there
		}
		if op.Pid, err = m.realPid(op.Pid); err != nil {
			return fsfake.Result{}, err
		}
	}
	r, err := p.call(&op)
	r.Lock.Pid = m.simulatedPid(r.Lock.Pid)
	return r, err
}

// realPid translates a pid that a process asks about.
func (m *Machine) realPid(pid int) (int, error) {
	if pid <= 1 {
		return pid, nil
	}
	if _, err := m.find(pid); err != nil {
		return noSuchPid, nil
	}
	return m.RealPid(pid) // before it is ready it is still root's
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
	for _, p := range s.more {
		p.forget()
		m.slots.free(p.slot)
	}
	i, _ := m.at(s.pid)
	m.procs = slices.Delete(m.procs, i, i+1)
}

func (m *Machine) exit(s *simulated) error {
	e := s.body()
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
	slot, err := m.slots.take()
	if err != nil {
		return fsfake.Result{}, err
	}
	r, err := s.call(&fsfake.Op{Call: fsfake.CallFork, FD: slot})
	if err != nil || !r.OK() {
		m.slots.free(slot)
		return r, err
	}
	child := m.process(int(r.N), slot)
	// The copies of the descriptors are there at once, but where the child executes the
	// binary again, their close-on-exec flags are set while it starts.
	child.execed = s.execed
	if !m.options.CallsOnly || s.execed {
		if err := child.greet(); err != nil {
			return r, err
		}
	}
	r.N = int64(m.maxPid + 1)
	m.enter(m.maxPid+1, child)
	return r, nil
}

// A Wake is a blocked call that has returned.
type Wake struct {
	Task   fsfake.Task
	Op     fsfake.Op
	Result fsfake.Result
}

// Woken returns the blocked calls that have returned since it was last called, in the
// order of tasks. Whoever is not among them is blocked still.
func (m *Machine) Woken() ([]Wake, error) {
	if err := m.settle(); err != nil {
		return nil, err
	}
	var ws []Wake
	for t, p := range m.threads {
		if p.answered {
			ws = append(ws, Wake{t, *p.blocked, p.result})
			p.blocked, p.answered = nil, false
		}
	}
	return ws, nil
}

// settle waits until everybody who is blocked has answered or is blocked for good. Who goes
// on may let another go on: so all of them must have been asleep in one round of looks.
func (m *Machine) settle() error {
	for {
		before := m.runs()
		for _, p := range m.threads {
			if err := p.wake(); err != nil {
				return err
			}
		}
		if slices.Equal(m.runs(), before) {
			return nil
		}
	}
}

// runs says of everybody who is blocked how often they were put on a CPU.
func (m *Machine) runs() []string {
	var all []string
	for t, p := range m.threads {
		if p.blocked != nil && !p.answered {
			all = append(all, fmt.Sprint(t, " ", p.watch.runs()))
		}
	}
	return all
}

// threads lists the threads of all processes, in the order of tasks.
func (m *Machine) threads(yield func(fsfake.Task, *process) bool) {
	for _, s := range m.procs {
		if !yield(fsfake.Task{Pid: s.pid, N: 1}, s.process) {
			return
		}
		for i, p := range s.more {
			if !yield(fsfake.Task{Pid: s.pid, N: i + 2}, p) {
				return
			}
		}
	}
}

// Interrupt sends a blocked task a signal that is caught without SA_RESTART. What the call
// answers comes through [Machine.Woken].
func (m *Machine) Interrupt(t fsfake.Task) error {
	s, err := m.find(t.Pid)
	if err != nil {
		return err
	}
	p, err := m.thread(s, t.N)
	if err != nil {
		return err
	}
	if p.blocked == nil {
		return fmt.Errorf("kernel: Interrupt of task %d of process %d, which is in no blocked call", t.N, t.Pid)
	}
	return p.interrupt()
}
