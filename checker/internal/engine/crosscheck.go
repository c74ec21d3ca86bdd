package engine

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"

	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/parallel"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// That a program is a function of what its calls answer is checked, not assumed: while
// it is learned, since every path begins with one learned before; and once more when
// the space is covered. Then every path that was learned is run a second time, to its
// end, until that were enough runs, and some drawn schedules are run live, all tasks together, next to the graph. A
// verdict is only given when nothing differs.

// crossChecks is how many drawn schedules are run live, and crossCheckSteps how long each
// may get.
const (
	crossChecks     = 16
	crossCheckSteps = 300
	// externalChecks is how many are run of programs that take long to start.
	externalChecks = 2
)

// Verify reports a program that is not a function of its calls, or that ctx ended first. The
// expander is one that knows the space. What was tried out before is passed over.
func (x *Space) Verify(ctx context.Context, g *Expander, tried *learn.Tried) error {
	if err := x.verifyInvariant(ctx); err != nil {
		return err
	}
	if err := x.verifyCode(ctx, tried); err != nil {
		return err
	}
	n := uint64(crossChecks)
	if x.Sc.External {
		n = externalChecks
	}
	for seed := range n {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := x.crossCheck(g, seed); err != nil {
			return err
		}
	}
	return nil
}

// verifyCode runs the tasks' programs again: those that take long to start side by side.
func (x *Space) verifyCode(ctx context.Context, tried *learn.Tried) error {
	verify := func(a *learn.Automaton) error {
		if err := a.Verify(ctx, tried, learn.Repeats/len(x.automata)); err != nil {
			return err
		}
		return a.FuzzLoops(ctx, tried)
	}
	if x.Sc.External {
		return x.eachAutomaton(min(runtime.GOMAXPROCS(0), parallel.MaxWorkers), verify)
	}
	for _, a := range x.automata {
		if err := verify(a); err != nil {
			return err
		}
	}
	return nil
}

// eachAutomaton does something with each task's program, with so many workers, and returns the error
// of the first in order.
func (x *Space) eachAutomaton(workers int, f func(*learn.Automaton) error) error {
	errs := make([]error, len(x.automata))
	var taken atomic.Int64
	parallel.Together(min(workers, len(errs)), func(int) {
		for i := int(taken.Add(1)) - 1; i < len(errs); i = int(taken.Add(1)) - 1 {
			errs[i] = f(x.automata[i])
		}
	})
	return cmp.Or(errs...)
}

// verifyInvariant reports an invariant that judges a machine otherwise than it did before,
// or otherwise with processes in each other's place, where states that differ in that are one.
func (x *Space) verifyInvariant(ctx context.Context) error {
	t := x.machines
	if t.invariant == nil {
		return nil
	}
	differs := func(m *fsfake.Machine, bad bool, how string) error {
		said := t.invariant(scenarios.NewView(m))
		if (said != "") == bad {
			return nil
		}
		return fmt.Errorf("checker: %s: the invariant of %s says %q of a state of which it said otherwise %s (empty is that all is well)", x.Sc.ID, x.Property, said, how)
	}
	s := NewSymmetry(x)
	room := &fsfake.Machine{}
	for id := range uint32(t.len()) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		m := t.load(id, room)
		if err := differs(m, t.bad[id], "before: it must be a pure function of its View"); err != nil {
			return err
		}
		if s == nil {
			continue
		}
		for _, perm := range s.perms {
			other := m.Clone()
			other.Permute(s.ids, perm)
			if err := differs(other, t.bad[id], "with processes in each other's place: it is not symmetric"); err != nil {
				return err
			}
		}
	}
	return nil
}

// Unroll reports a retry loop that does something else after many rounds. It is for spaces in
// which nothing is broken: a schedule that breaks something is believed when it was replayed.
// What was tried out before is passed over; where processes are verified to be interchangeable, by any of them.
func (x *Space) Unroll(ctx context.Context, workers int, tried *learn.Tried) error {
	if x.alike && !slices.ContainsFunc(x.automata, (*learn.Automaton).SeesPid) {
		for _, a := range x.automata {
			if err := a.Unroll(ctx, tried, true); err != nil {
				return err
			}
		}
		return nil
	}
	return x.eachAutomaton(workers, func(a *learn.Automaton) error { return a.Unroll(ctx, tried, false) })
}

// Outlast says what a real program did otherwise after many rounds that were all the same; "" for nothing.
// See [learn.Automaton.Outlast].
func (x *Space) Outlast(ctx context.Context, tried *learn.Tried) (why string, err error) {
	for i, a := range x.automata {
		of := sched.Task{Process: x.Slots[i].process, N: 1}
		if x.Sc.Same != nil {
			of.Process = x.Sc.Same(of.Process)
		}
		if why, err = a.Outlast(ctx, tried, of); err != nil || why != "" {
			return why, err
		}
	}
	return "", nil
}

// Joins reports whether somewhere a round of polling was taken to carry nothing over.
func (x *Space) Joins() bool { return slices.ContainsFunc(x.automata, (*learn.Automaton).Joins) }

// TryRounds tries that out for each program. after says whether the task of a slot, once it has been at one node, may
// come to another one later. Several may ask side by side, each for a slot of its own.
func (x *Space) TryRounds(ctx context.Context, after func(slot int, was, is uint32) bool) error {
	ways := make([][]string, len(x.automata))
	for i, a := range x.automata {
		ways[i] = a.Ways()
	}
	return x.eachAutomaton(min(runtime.GOMAXPROCS(0), parallel.MaxWorkers), func(a *learn.Automaton) error {
		slot := slices.Index(x.automata, a)
		var alike []int // the slots whose programs are the same, and have shown the same
		for i := range ways {
			if i == slot || x.Sc.Same != nil && x.Sc.Same(x.Slots[i].process) == x.Sc.Same(x.Slots[slot].process) && slices.Equal(ways[i], ways[slot]) {
				alike = append(alike, i)
			}
		}
		mine := func(way string) bool { return alike[int(way[0])%len(alike)] == slot }
		return a.TryRounds(ctx, mine, func(was, is uint32) bool { return after(slot, was, is) })
	})
}

// NodeOf is the node of a slot's task in a state, without what has begun there.
func (x *Space) NodeOf(row []uint32, slot int) uint32 { return row[wordNodes+slot] &^ learn.Begun }

// crossCheck makes one live run and follows it through the graph.
func (x *Space) crossCheck(g *Expander, seed uint64) error {
	w := NewWorld(x.Sc, x.Property, x.Sc.NewMachine())
	defer w.Stop()
	st := sched.NewRandom(seed)
	row := append([]uint32(nil), x.Initial...)
	var path sched.Schedule
	for range crossCheckSteps {
		if err := x.sameCalls(w, row, path); err != nil {
			return err
		}
		w.Look()
		c, err := st.Next(&w.View)
		if err != nil {
			return nil // the run has ended
		}
		if err := g.Expand(row); err != nil {
			return err
		}
		k := 0
		for k < len(g.Out) && g.Out[k].Choice != c {
			k++
		}
		w.Apply(c, nil)
		path = append(path, c)
		switch {
		case w.Err != nil:
			return w.Err
		case k == len(g.Out):
			return fmt.Errorf("checker: %s: a live run can make the schedule %q, the graph cannot: this is a fault of lockpick", x.Sc.ID, path)
		case g.Out[k].Bad:
			return nil
		}
		row = append(row[:0], g.State(&g.Out[k])...)
	}
	return nil
}

// sameCalls compares the calls that live tasks make next with what was learned.
func (x *Space) sameCalls(w *World, row []uint32, path sched.Schedule) error {
	for i, a := range w.actors {
		if w.finished(a) || w.exits(a) {
			continue
		}
		if op := x.Op(row, i); a.ended || a.op != op {
			return fmt.Errorf("checker: task %s of %s is not a function of its calls: after the schedule %q its next call is %q when it runs alone, and %q when it runs among the others; do tasks share memory that is no fsfake.Cell?",
				a.task, x.Sc.ID, path, op.String(), learn.Told(a.op, !a.ended))
		}
	}
	return nil
}
