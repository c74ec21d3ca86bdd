package scenarios

import "lockpick/fsfake"

// A KillScope says what a kill ends of a program with several processes.
type KillScope uint8

const (
	// KillFirst ends the first process, as kill -9 PID does. The others go on, with what they have open.
	KillFirst KillScope = iota
	// KillGroup ends all of its processes at once, as kill -9 -PGID does, and whoever stops a service or a container.
	// When the first process has ended, the others are not killed: what is left then would be left without a kill.
	KillGroup
)

// A Family is which processes of a program live, as far as its calls tell.
type Family struct {
	// Children is how many processes beside the first one live.
	Children int
	// Ended: the first process has ended, by itself or because it was Killed.
	Ended, Killed bool
}

// Outlives reports whether a program goes on when it is killed.
func (s *Setting) Outlives(f Family) bool { return s.Kill == KillFirst && f.Children > 0 && !f.Ended }

// KillOn kills the process with a pid on a machine, and with KillGroup all that it has started.
func (s *Setting) KillOn(m *fsfake.Machine, pid int) {
	m.KillProc(pid)
	for _, child := range m.Pids() {
		if s.Kill == KillGroup && s.Machine.ChildPids > 0 && child/s.Machine.ChildPids == pid {
			m.KillProc(child)
		}
	}
}

// After is the family after a call and its answer.
func (f Family) After(op *fsfake.Op, r *fsfake.Result) Family {
	if _, killed := r.Value.(Killed); killed {
		f.Ended, f.Killed = true, true
		return f
	}
	switch op.Call {
	case fsfake.CallForkAs:
		if r.OK() {
			f.Children++
		}
	case fsfake.CallExit: // of a child: a program's first process makes a CallEnd
		f.Children = max(f.Children-1, 0)
	case fsfake.CallEnd:
		f.Ended = true
	}
	return f
}
