package learn

import (
	"context"
	"fmt"
)

// Verify runs every learned path again. Paths that others go on from are run as a part
// of those. When ctx ends first the error is that of ctx.
func (a *Automaton) Verify(ctx context.Context) error {
	goesOn := make([]bool, len(a.nodes))
	for _, k := range a.order {
		goesOn[k.from] = true
	}
	for _, k := range a.order {
		if ctx.Err() != nil {
			return ctx.Err()
		}
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
	a.runs++
	code, err := a.start(a.process, a.n)
	if err != nil {
		return err
	}
	defer code.Stop()
	path := a.path(k.from)
	for i := 0; ; i++ {
		if i > len(path) {
			return nil
		}
		want, via := a.nodes[e.To&^Begun], k.result
		if i < len(path) {
			want = a.nodes[path[i]]
			via = want.via
		} else {
			want.Begins = e.Effects
		}
		if via != nil {
			if err := code.Answer(*via); err != nil {
				return err
			}
		}
		op, more, notes, err := code.Next()
		if err != nil {
			return err
		}
		if more == want.Ended || more && op != want.Op {
			return a.indeterminate(i, want.Op, op, more)
		}
		if did, err := Digest(a.name, notes); err != nil || did != want.Begins {
			return fmt.Errorf("checker: task %s of %s is not a function of its calls: after the same %d results it did first %s, then %s; does it range over a map, read time.Now, or run a goroutine outside its Proc?",
				a.name, a.scenario, i, want.Begins.told(), did.told())
		}
	}
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
