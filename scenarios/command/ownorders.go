package command

import (
	"errors"
	"math/rand/v2"
	"slices"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/outcome"
	"lockpick/scenarios"
)

// A command whose children or threads have too many orders is compared with serial runs that follow one order. An end
// that no such run has may still be that of a serial run in another order. So before a verdict, the commands
// run one after the other in drawn orders of their own calls. Ends that are found so are serial from then on.

// drawnOrders is how many are drawn, dearOrders how many of commands whose executions take long, and fewOrders how many
// before a violation is shown for the time being: two children that race end otherwise in every second one.
const drawnOrders, dearOrders, fewOrders = 24, 8, 4

// reconsider makes [scenarios.Property.Reconsider] of a property that accepts the ends of serial runs and can be
// given more of them; nil where all own orders were followed.
func (s *Spec) reconsider(
	sc *scenarios.Scenario, accepts func(scenarios.View) bool, add func(outcome.Order),
) func(scenarios.View, bool) (bool, error) {
	if !s.oneOrder {
		return nil
	}
	drawn := uint64(0)
	return func(end scenarios.View, quickly bool) (bool, error) {
		for ; drawn < s.record.draws(quickly); drawn++ {
			if accepts(end) {
				return true, nil
			}
			orders, err := s.drawnOrder(sc, drawn+1)
			if err != nil {
				return false, err
			}
			for _, k := range orders {
				add(k)
			}
		}
		return accepts(end), nil
	}
}

// draws is how many orders are drawn.
func (r *record) draws(quickly bool) uint64 {
	switch {
	case quickly:
		return fewOrders
	case r.dear():
		return dearOrders
	}
	return drawnOrders
}

// drawnOrder runs the commands in every serial order, their own calls in one that is drawn.
func (s *Spec) drawnOrder(sc *scenarios.Scenario, seed uint64) ([]outcome.Order, error) {
	once := *s
	once.record, once.shared, once.early, once.mixed = newRecord(len(s.Commands)), nil, nil, seed
	all := *sc
	all.Program = once.program
	o := &ordering{s: &once, sc: &all}
	err := o.run(all.NewMachine(), nil, nil, nil, 0)
	if errors.As(err, new(stuck)) { // in this order it makes no end, which tells nothing
		err = nil
	}
	return o.out, err
}

// A mixer draws an order of a command's own calls. Each of its processes and threads has a rank, and the first that
// can go on does. Now and then the one whose turn it is becomes the last.
type mixer struct {
	r     *rand.Rand
	ranks map[fsfake.Task]float64
}

// mixes takes the call that goes on in a drawn order.
func (d *driver) mixes(set []tracer.Pending) *tracer.Pending {
	if d.mix == nil {
		d.mix = &mixer{rand.New(rand.NewPCG(d.spec.mixed, uint64(d.process))), map[fsfake.Task]float64{}}
	}
	if timers := slices.IndexFunc(set, func(p tracer.Pending) bool { return rank(p) == 2 }); timers > 0 {
		set = set[:timers]
	}
	best := 0
	for i := range set {
		if _, known := d.mix.ranks[set[i].Task]; !known {
			d.mix.ranks[set[i].Task] = d.mix.r.Float64()
		}
		if d.mix.ranks[set[i].Task] < d.mix.ranks[set[best].Task] {
			best = i
		}
	}
	if len(set) > 1 && d.mix.r.IntN(10) == 0 {
		d.mix.ranks[set[best].Task]++
	}
	return &set[best]
}
