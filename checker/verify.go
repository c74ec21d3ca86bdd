package checker

import (
	"fmt"

	"lockpick/fsfake"
	"lockpick/scenarios"
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
		if err := a.verify(); err != nil {
			return err
		}
		if err := a.mixRounds(); err != nil {
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

// verify runs every learned path again. Paths that others go on from are run as a part
// of those.
func (a *automaton) verify() error {
	goesOn := make([]bool, len(a.nodes))
	for _, k := range a.order {
		goesOn[k.from] = true
	}
	for _, k := range a.order {
		e := a.edges[k]
		to := &a.nodes[e.to&^nodeBegun]
		if to.parent == k.from && to.via == k.result && goesOn[e.to&^nodeBegun] {
			continue
		}
		if err := a.repeat(k, e); err != nil {
			return err
		}
	}
	return nil
}

// repeat runs the program along one path and compares what it does with what it did.
func (a *automaton) repeat(k edgeKey, e edge) error {
	a.runs++
	port := &taskPort{}
	co := sched.Go(func(ask func(fsfake.Op) fsfake.Result) {
		port.ask = ask
		a.sc.Program(a.process, a.n)(scenarios.NewTask(port, a.process, a.n))
	})
	defer co.Stop()
	path := a.path(k.from)
	for i := 0; ; i++ {
		port.notes = port.notes[:0]
		if i > len(path) {
			return nil
		}
		var want node
		switch {
		case i < len(path):
			want = a.nodes[path[i]]
			if i > 0 {
				co.Answer(*want.via)
			}
		default:
			want = a.nodes[e.to&^nodeBegun]
			want.begins = e.effects
			co.Answer(*k.result)
		}
		op, more := co.Next()
		if more == want.ended || more && op != want.op {
			return a.indeterminate(i, want.op, op, more)
		}
		if did, err := digest(a.name, port.notes); err != nil || did != want.begins {
			return fmt.Errorf("checker: task %s of %s is not a function of its calls: after the same %d results it did first %s, then %s; does it range over a map, read time.Now, or run a goroutine outside its Proc?",
				a.name, a.sc.ID, i, want.begins.told(), did.told())
		}
	}
}

// told says what a task told its history between two calls.
func (e effects) told() string {
	s := ""
	if e.returned {
		s += fmt.Sprintf("return %v, ", e.output)
	}
	if e.invoked {
		s += fmt.Sprintf("invoke %v, ", e.input)
	}
	if s == "" {
		return "nothing"
	}
	return s[:len(s)-2]
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
				a.task, x.sc.ID, path, op.String(), told(a.op, !a.ended))
		}
	}
	return nil
}
