package command

import (
	"errors"
	"fmt"
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
	once.record, once.shared, once.early, once.mixed = newRecord(), nil, nil, seed
	all := *sc
	all.Program = once.program
	o := once.ordering(&all)
	defer o.close()
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

// Where only one order of a command's own calls is followed, and why.

// oneOrder notes that of several calls only one order is followed.
func (d *driver) oneOrder(set []tracer.Pending) {
	d.note(scenarios.OneOrder)
	waits := slices.IndexFunc(set, func(p tracer.Pending) bool { return p.Missed || rank(p) == 1 })
	waits = max(waits, 0)
	text := d.asks(set[waits])
	for i := range set {
		if i != waits {
			text += " beside " + d.asks(set[i])
			break
		}
	}
	d.spec.record.follows(text + d.oneOrderFor(&set[waits]))
}

// asks tells who makes a call, and which.
func (d *driver) asks(p tracer.Pending) string {
	who := scenarios.ProcessName(d.process)
	if p.Task.Pid != d.root {
		who = fmt.Sprintf("process %d of %s", p.Task.Pid, who)
	}
	if p.Task.N > 1 {
		who = fmt.Sprintf("thread %d of %s", p.Task.N, who)
	}
	return fmt.Sprintf("%s in %s", who, brief(p.Op.String()))
}

// oneOrderFor says why, and what one can do.
func (d *driver) oneOrderFor(p *tracer.Pending) string {
	s := d.spec
	switch {
	case p.Missed:
		return ", a lock that another process has closed a descriptor of: close it later, or open the file anew"
	case p.Signalled:
		return ", for which a signal has come: have the signal end the program, or wait with flock -w"
	case s.oneOrder:
		return "; the command has too many orders when it runs alone: let fewer of its processes run at once"
	case s.Inside != "":
		return ": ask without --inside"
	case s.FailingCalls > 0:
		return ": ask without --failing-calls"
	case s.Stalls > 0 && !p.Op.MayBlock():
		return ", a timer that may have gone off where the clock has jumped: have the command wait in one process"
	case s.lasting && p.Op.MayBlock():
		return ", where clocks move: let it wait in one process, or without reading a clock"
	case p.Op.Call == fsfake.CallSetlk && d.wentOff >= mostWentOff:
		return ", while timers go off again and again: use flock, or a timer that goes off once"
	case p.Op.Call == fsfake.CallSetlk:
		return ", while its process has another record lock: use flock, or one lock at a time"
	case p.Timer:
		return ", a loop that sleeps and finds everything as before: shorten the timeout beside it"
	}
	return ""
}
