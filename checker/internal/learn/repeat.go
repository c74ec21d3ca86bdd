package learn

import (
	"context"
	"fmt"
	"slices"

	"lockpick/sched"
)

// Repeats is how often the Go functions of a scenario are run again at least, all tasks and
// paths together: a choice that falls otherwise once in a hundred runs goes unnoticed once in
// 150 then.
const Repeats = 500

// Verify runs every learned path again, and goes round until that were so many runs, with those
// that were made before: what is asked of a program does not change it. Paths that others go on
// from are run as a part of those. When ctx ends first the error is that of ctx.
func (a *Automaton) Verify(ctx context.Context, tried *Tried, repeats int) error {
	task, before := a.task(), a.runs
	if err := a.verifyOnce(ctx); err != nil {
		return err
	}
	counted := a.runs // what is told of a check is one time round
	defer func() { a.runs = counted }()
	repeats -= tried.repeats(task)
	for once := counted - before; !a.external && once > 0 && a.runs-before < repeats; {
		if err := a.verifyOnce(ctx); err != nil {
			return err
		}
	}
	tried.repeated(task, a.runs-before)
	return nil
}

// task names the task whose code this is.
func (a *Automaton) task() sched.Task { return sched.Task{Process: a.process, N: a.n} }

// verifyOnce runs every learned path once.
func (a *Automaton) verifyOnce(ctx context.Context) error {
	goesOn := make([]bool, len(a.nodes))
	for _, k := range a.order {
		goesOn[k.from] = true
	}
	order := a.order
	if a.external {
		order = a.alongside()
	}
	for _, k := range order {
		e := a.edges[k]
		to := &a.nodes[e.To&^Begun]
		if to.parent == k.from && to.via == k.result && goesOn[e.To&^Begun] {
			continue
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := a.repeat(k, e); err != nil {
			return err
		}
	}
	return nil
}

// repeat runs the program along one path and compares what it does with what it did.
func (a *Automaton) repeat(k edgeKey, e Edge) error {
	code, op, more, notes, err := a.run(k.from, k.result, false)
	if code != nil {
		defer code.Stop()
	}
	if err != nil {
		return err
	}
	calls, want := len(a.path(k.from)), &a.nodes[e.To&^Begun]
	if more == want.Ended || more && op != want.Op {
		return a.indeterminate(calls, want.Op, op, more)
	}
	return a.sameNotes(calls, &e.Effects, notes)
}

// told says what a task told its history between two calls, and what it asserted.
func (e Effects) told() string {
	s := ""
	if e.Returned {
		s += fmt.Sprintf("return %v, ", e.Output)
	}
	if e.Invoked {
		s += fmt.Sprintf("invoke %v, ", e.Input)
	}
	if e.Failed != "" {
		s += fmt.Sprintf("fail the assertion %q, ", e.Failed)
	}
	if s == "" {
		return "nothing"
	}
	return s[:len(s)-2]
}

// alongside lists the edges so that paths that go the same way for long are next to each other: a program
// that keeps snapshots goes on from there. Neighbours that run the same spare each other half of it.
func (a *Automaton) alongside() []edgeKey {
	paths := make(map[edgeKey][]uint32, len(a.order))
	for _, k := range a.order {
		paths[k] = a.path(k.from)
	}
	order := slices.Clone(a.order)
	slices.SortStableFunc(order, func(x, y edgeKey) int { return slices.Compare(paths[x], paths[y]) })
	if a.process%2 == 1 {
		slices.Reverse(order)
	}
	return order
}
