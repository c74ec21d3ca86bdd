package checker

import (
	"fmt"

	"lockpick/checker/internal/learn"
	"lockpick/sched"
)

// That a program is a function of what its calls answer is checked, not assumed: while
// it is learned, since every path begins with one learned before; and once more when
// the space is covered. Then every path that was learned is run a second time, to its
// end, and some drawn schedules are run live, all tasks together, next to the graph. A
// verdict is only given when nothing differs.

// rehearsals is how many drawn schedules are run live, and rehearsalSteps how long each
// may get.
const (
	rehearsals     = 16
	rehearsalSteps = 300
)

// verify reports a program that is not a function of its calls. The worker is one that
// knows the space.
func (x *explorer) verify(g *worker) error {
	for _, a := range x.automata {
		if err := a.Verify(); err != nil {
			return err
		}
		if err := a.FuzzLoops(); err != nil {
			return err
		}
	}
	for seed := range uint64(rehearsals) {
		if err := x.rehearse(g, seed); err != nil {
			return err
		}
	}
	return nil
}

// rehearse makes one live run and follows it through the graph.
func (x *explorer) rehearse(g *worker, seed uint64) error {
	w := newWorld(x.sc, x.property, x.sc.NewMachine())
	defer w.stop()
	st := sched.NewRandom(seed)
	row := append([]uint32(nil), x.initial...)
	var path sched.Schedule
	for range rehearsalSteps {
		if err := x.sameCalls(w, row, path); err != nil {
			return err
		}
		w.look()
		c, err := st.Next(&w.view)
		if err != nil {
			return nil // the run has ended
		}
		if err := g.expand(row); err != nil {
			return err
		}
		k := 0
		for k < len(g.out) && g.out[k].choice != c {
			k++
		}
		w.apply(c, nil)
		path = append(path, c)
		switch {
		case w.err != nil:
			return w.err
		case k == len(g.out):
			return fmt.Errorf("checker: %s: a live run can make the schedule %q, the graph cannot: this is a fault of lockpick", x.sc.ID, path)
		case g.out[k].bad:
			return nil
		}
		row = append(row[:0], g.state(&g.out[k])...)
	}
	return nil
}

// sameCalls compares the calls that live tasks make next with what was learned.
func (x *explorer) sameCalls(w *world, row []uint32, path sched.Schedule) error {
	for i, a := range w.actors {
		if w.finished(a) || w.exits(a) {
			continue
		}
		if op := x.op(row, i); a.ended || a.op != op {
			return fmt.Errorf("checker: task %s of %s is not a function of its calls: after the schedule %q its next call is %q when it runs alone, and %q when it runs among the others; do tasks share memory that is no fsfake.Cell?",
				a.task, x.sc.ID, path, op.String(), learn.Told(a.op, !a.ended))
		}
	}
	return nil
}
