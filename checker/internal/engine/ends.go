package engine

import (
	"slices"
	"sync/atomic"

	"lockpick/checker/internal/learn"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// States that break a property by themselves: a deadlock, or a wedge; live and on numbers.

// Deadlocked reports whether somebody is unfinished and nobody can ever move again, or somebody
// holds up the event loop of its process for ever.
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
		if w.enabled(a) {
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
		if !w.unfinished || len(w.Out) > 0 && w.Out[0].Slot >= 0 {
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
		m, err := x.machines.get(s[wordMachine])
		if err != nil {
			return false, nil, err
		}
		return len(x.remainder.left(m)) > 0, nil, nil
	}
	return false, nil, nil
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
		m, err := x.machines.get(id)
		if err != nil {
			return scenarios.NoKind, err
		}
		k = x.Property.Kind(scenarios.NewView(m))
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
	m, err := x.machines.get(row[wordMachine])
	if err != nil {
		return false, nil, err
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.prober.Wedged(m)
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
