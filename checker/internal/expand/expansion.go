package expand

import (
	"fmt"
	"slices"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/search"
	"lockpick/checker/trace"
	"lockpick/sched"
)

// A Traveller is a state as it travels between processes: the choices that lead there from the
// start. Whoever takes it up goes there on its own, and finds that it is the state meant.
type Traveller struct {
	Key      learn.Fingerprint
	Cost     trace.Cost
	Schedule sched.Schedule
}

// An Expansion expands states that travel. It keeps where it has been last, so states whose
// schedules begin alike are quick to take up one after the other. It is for one goroutine.
type Expansion struct {
	X *search.Explorer
	// InOrder: a state is one together with who stepped last, so that it has the costs of the
	// smallest schedule that leads there.
	InOrder bool
	// Violated is what was broken, Bad the smallest of the schedules that break it, at BadCost.
	Violated engine.Violated
	Bad      sched.Schedule
	BadCost  trace.Cost
	// Transitions counts the successors, and Contended those that met somebody else's lock.
	Transitions, Contended int

	w     *engine.Expander
	namer *engine.Namer
	way   []sched.Choice
	stops []stop // the states along the way: one more than it has choices
}

// A stop is a state on the way to another.
type stop struct {
	row  []uint32
	last uint32 // who stepped last, from 1, and 0 where a switch costs nothing
	cost trace.Cost
}

// New returns an expansion of the states of a space.
func New(x *search.Explorer, inOrder bool) *Expansion {
	return &Expansion{
		X: x, InOrder: inOrder, Violated: engine.Violated{}, w: engine.NewExpander(x.Space), namer: engine.NewNamer(x.Space),
		stops: []stop{{row: slices.Clone(x.Initial)}},
	}
}

// First is the state where everything begins.
func (e *Expansion) First() Traveller { return e.traveller(&e.stops[0], nil) }

func (e *Expansion) traveller(at *stop, way sched.Schedule) Traveller {
	last := uint32(0)
	if e.InOrder {
		last = at.last
	}
	return Traveller{Key: e.namer.Name(at.row, last), Cost: at.cost, Schedule: way}
}

// Expand calls visit with each successor of a state; schedules are valid until it returns. The
// error says that the state is none of this scenario's.
func (e *Expansion) Expand(t *Traveller, visit func(*Traveller) error) error {
	if err := e.goTo(t.Schedule); err != nil {
		return err
	}
	at := e.stops[len(e.stops)-1]
	if got := e.traveller(&at, t.Schedule); got.Key != t.Key {
		return fmt.Errorf("checker: %s: the state after %q is not the one that was meant: it comes from another version of lockpick or of the scenario, or from another setting", e.X.Sc.ID, t.Schedule)
	}
	if err := e.w.Expand(at.row); err != nil {
		return err
	}
	if bad, _, err := e.X.BadEnd(e.w, at.row); err != nil {
		return err
	} else if bad {
		e.breaks(at.row, at.cost, t.Schedule)
	}
	could := e.could(at.last)
	for i := range e.w.Out {
		s := &e.w.Out[i]
		e.Transitions++
		if s.Contended {
			e.Contended++
		}
		next := e.after(&at, i, could)
		way := append(slices.Clip(t.Schedule), s.Choice)
		if s.Bad {
			e.breaks(next.row, next.cost, way)
			continue
		}
		to := e.traveller(&next, way)
		if err := visit(&to); err != nil {
			return err
		}
	}
	return nil
}

// could reports whether who stepped last could take the next step in the state expanded last.
func (e *Expansion) could(last uint32) bool {
	for i := range e.w.Out {
		if last > 0 && e.w.Out[i].Slot == int(last)-1 {
			return true
		}
	}
	return false
}

// after is the stop to which a successor leads. Its row is the expander's.
func (e *Expansion) after(at *stop, i int, could bool) stop {
	s := &e.w.Out[i]
	next := stop{row: e.w.State(s), last: at.last, cost: at.cost}
	next.cost.Add(s.Choice, could && s.Slot >= 0 && s.Slot != int(at.last)-1)
	switch {
	case s.Asleep:
		next.last = 0
	case s.Slot >= 0:
		next.last = uint32(s.Slot) + 1
	}
	return next
}

// breaks remembers a violation, and the smallest way to any.
func (e *Expansion) breaks(row []uint32, cost trace.Cost, way sched.Schedule) {
	e.Violated[e.X.Violation(row)] = struct{}{}
	if e.Bad == nil || cost.Less(e.BadCost) || !e.BadCost.Less(cost) && slices.CompareFunc(way, e.Bad, search.CompareChoices) < 0 {
		e.Bad, e.BadCost = slices.Clone(way), cost
	}
}

// goTo walks to the state after a schedule, from where the way there parts from the last.
func (e *Expansion) goTo(s sched.Schedule) error {
	n := 0
	for n < len(s) && n < len(e.way) && s[n] == e.way[n] {
		n++
	}
	e.way, e.stops = e.way[:n], e.stops[:n+1]
	for _, c := range s[n:] {
		at := &e.stops[len(e.stops)-1]
		if err := e.w.Expand(at.row); err != nil {
			return err
		}
		i := 0
		for i < len(e.w.Out) && (e.w.Out[i].Choice != c || e.w.Out[i].Bad) {
			i++
		}
		if i == len(e.w.Out) {
			return fmt.Errorf("checker: %s: after %q there is no %q: the state comes from another version of lockpick or of the scenario, or from another setting", e.X.Sc.ID, sched.Schedule(e.way), c)
		}
		next := e.after(at, i, e.could(at.last))
		next.row = slices.Clone(next.row)
		e.way, e.stops = append(e.way, c), append(e.stops, next)
	}
	return nil
}
