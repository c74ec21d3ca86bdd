package engine

import (
	"fmt"
	"slices"
	"sync/atomic"

	"lockpick/checker/internal/learn"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// States that break a property by themselves: a deadlock, or a wedge; live and on numbers.

// Deadlocked reports whether somebody is unfinished and nobody can ever move again, or somebody
// holds up the event loop of its process for ever. Who waits while a timer runs ([scenarios.TimedWait]) moves again.
func (w *World) Deadlocked() (bool, []trace.Wait) {
	if w.spins != nil {
		return true, []trace.Wait{{How: trace.Spins, Task: w.spins.task, Call: w.spins.op}}
	}
	if !w.Unfinished() {
		return false, nil
	}
	var waits []trace.Wait
	for _, a := range w.actors {
		if w.finished(a) || w.interrupted(a) {
			continue
		}
		if w.enabled(a) || a.timed {
			return false, nil
		}
		waits = append(waits, trace.Wait{How: trace.WaitsInCall, Task: a.task, Call: a.op})
	}
	return true, waits
}

// BadEnd reports whether the state that w expanded last breaks a property of the graph
// by itself: a deadlock, or a wedge; with what everybody waits for.
func (x *Space) BadEnd(w *Expander, s []uint32) (bool, []trace.Wait, error) {
	switch x.Property.Question {
	case scenarios.LockedOut:
		if w.unfinished {
			return false, nil, nil
		}
		return x.LockedOut(s)
	case scenarios.Stuck:
		if !w.unfinished || len(w.Out) > 0 && w.Out[0].Slot >= 0 || w.InTime(s) {
			return false, nil, nil
		}
		var waits []trace.Wait
		for i := range x.Slots {
			if finished, _ := w.status(s, i); !finished && !w.interrupted(s, i) {
				waits = append(waits, trace.Wait{How: trace.WaitsInCall, Task: x.Slots[i].Task, Call: x.Op(s, i)})
			}
		}
		return true, waits, nil
	case scenarios.Leaves:
		if left := unpackBudgets(s[len(s)-1]); w.unfinished || left.crashes < x.Sc.Setting.Crashes || left.losses < x.Sc.Setting.PowerLosses {
			return false, nil, nil
		}
		return len(x.remainder.left(x.machines.get(s[wordMachine]))) > 0, nil, nil
	}
	return false, nil, nil
}

// InTime reports whether somebody waits in a state while a timer runs which ends the wait if nothing else does. Nobody
// sees that he waits, so the state comes to the same as one in which the timer was chosen in place of the wait, and
// that is another state of the space.
func (w *Expander) InTime(s []uint32) bool {
	for i := range w.X.Slots {
		if n := s[wordNodes+i] &^ learn.Begun; n != learn.Gone && w.node(i, n).timed {
			return true
		}
	}
	return false
}

// KindOf grades a state that breaks the property.
func (x *Space) KindOf(row []uint32) (scenarios.Kind, error) {
	if x.Property.Kind == nil {
		return scenarios.NoKind, nil
	}
	id := row[wordMachine]
	x.mu.Lock()
	defer x.mu.Unlock()
	k, known := x.kinds[id]
	if !known {
		k = x.Property.Kind(scenarios.NewView(x.machines.get(id)))
		x.kinds[id] = k
	}
	return k, nil
}

// A Remainder looks at what is left when all have ended, and remembers that they have.
type Remainder struct {
	of   *scenarios.Remainder
	seen atomic.Bool
}

// NewRemainder returns what may be left by a scenario that starts on a machine, or nil where the
// property does not ask.
func NewRemainder(sc *scenarios.Scenario, p *scenarios.Property, start *fsfake.Machine) *Remainder {
	if p.Question != scenarios.Leaves {
		return nil
	}
	return &Remainder{of: sc.Remainder(start)}
}

func (r *Remainder) left(m *fsfake.Machine) []string {
	r.seen.Store(true)
	return r.of.Left(m)
}

// Seen reports whether all had ended in some state that was asked. r may be nil.
func (r *Remainder) Seen() bool { return r != nil && r.seen.Load() }

// LeftBehind says what should not be there although everybody has ended, and nobody was killed; ""
// for nothing.
func (w *World) LeftBehind(r *Remainder) string {
	if w.Unfinished() || w.crashes < w.sc.Setting.Crashes || w.Losses < w.sc.Setting.PowerLosses {
		return ""
	}
	return scenarios.LeftText(r.left(w.M))
}

// TrapText says what is wrong of a trap that breaks the property.
func TrapText(p *scenarios.Property) string {
	const goes = "whoever is left goes on for ever"
	switch {
	case p.Question != scenarios.LockedOut:
		return goes + ", and nobody can ever end"
	case p.Within > 0:
		return goes + " in vain, and a fresh process is kept out for more than " + p.Within.String()
	}
	return goes + " in vain, and nobody can ever acquire again"
}

// LockedOut probes the machine of a state.
func (x *Space) LockedOut(row []uint32) (bool, []trace.Wait, error) {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.prober.Wedged(x.machines.get(row[wordMachine]))
}

// Outlived is that of the space's prober: see [Prober.Outlived].
func (x *Space) Outlived() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.prober.Outlived()
}

// Unfinished reports whether somebody is not finished in the state that was expanded last.
func (w *Expander) Unfinished() bool { return w.unfinished }

// Repeats reports whether anything was learned that can go on for ever: a loop, or a call
// that may wait. Nobody may learn meanwhile.
func (x *Space) Repeats() bool { return slices.ContainsFunc(x.automata, (*learn.Automaton).Repeats) }

// A task that goes round over cells without an await never ends its turn: under an event loop
// nothing else of its process can run any more, so nobody can change what it waits for. That is
// a deadlock, whatever other processes do. For other properties it is an error: their verdicts
// would rest on a process that has stopped.

// turnCalls is after how many accesses to cells, without a system call between them, a turn is
// believed to be endless: as many rounds of a retry loop are tried out.
const turnCalls = 10_000

// spunCalls is how many of the calls of such a turn a trace shows.
const spunCalls = 4

// spins is the error for a task that spins on a cell, or nil where that is an answer.
func spins(sc *scenarios.Scenario, p *scenarios.Property, task sched.Task, op fsfake.Op) error {
	if p.Question == scenarios.Stuck {
		return nil
	}
	return fmt.Errorf("checker: task %s of %s goes round over the cell %s without an await, for ever: that blocks "+
		"the event loop, so nothing else of its process can run, and only the property %s can be asked; let the loop "+
		"wait for the cell (Cell.Wait), or sleep in each round",
		task, sc.ID, op.Cell, scenarios.Deadlock)
}

// Spins reports whether a task holds up the event loop of its process for ever.
func (w *World) Spins() bool { return w.spins != nil }

// Processes without a program, which live on when all others have ended: nobody knows what they let go.

// Outlived returns an error where it could not be said of some machine whether it is wedged. p may be nil.
func (p *Prober) Outlived() error {
	if p == nil || p.outlived == 0 {
		return nil
	}
	return outlives(p.sc, p.outlived)
}

// Unsaid says why it could not be said of a machine that was probed; "" where it was.
func (p *Prober) Unsaid(m *fsfake.Machine) string {
	r := p.seen[string(m.AppendKey(nil))]
	if r.outlived == 0 {
		return ""
	}
	return fmt.Sprintf("whether a fresh process is locked out for good was not decided, since the process with pid "+
		"%d lives on, and nobody knows what it lets go later", r.outlived)
}

// orphan returns the pid of a process without a program that lives on a machine, 0 for none. What it holds
// it holds for ever, since nobody has said what it does. What a command has started does what the command
// does, as long as that lives.
func (p *Prober) orphan(m *fsfake.Machine) int {
	at, pids := p.sc.NewMachine().Pids(), m.Pids() // others may be there from the beginning, as owners of locks
	for _, pid := range pids {
		if p.sc.External {
			if by, ok := scenarios.StartedBy(pid); ok && slices.Contains(pids, scenarios.Pid(by)) {
				continue
			}
		}
		if i, ok := scenarios.ProcessOf(pid); !(ok && i < p.sc.Setting.Processes) && !slices.Contains(at, pid) {
			return pid
		}
	}
	return 0
}

// outlives is the error for a process without a program that lives on.
func outlives(sc *scenarios.Scenario, pid int) error {
	const said = "checker: wedge cannot be said to hold for %s: nobody is locked out where all have ended, but "
	if sc.External {
		return fmt.Errorf(said+"elsewhere "+
			"process %d, which a killed command has started, outlives all others. Nobody knows what it lets go later: "+
			"ask the other properties (--property)", sc.ID, pid)
	}
	return fmt.Errorf(said+"elsewhere process %d (a fork) outlives all others and has no program, so nobody "+
		"knows what it lets go. Make it a process of the scenario (Setting.Processes), which opens what it would "+
		"inherit",
		sc.ID, pid)
}
