package command

import (
	"cmp"
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
	if s.ownOrders == 0 {
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

// fewOwnOrders is how many orders of its own calls a command has that has too many, by how many commands there are: the
// schedule chooses one for each.
func (s *Spec) fewOwnOrders() int {
	switch n := len(s.Commands); {
	case n > 2:
		return 2
	case s.record.dear():
		return 5 - n
	case n == 2:
		return 4
	}
	return 12
}

// ownOrders tells of the orders of its own calls in which a command may go on: the first that is followed, and others
// in which those races show that two children are most likely to have.
func ownOrders(n int) []string {
	out := []string{"the first of its own calls each time", "its processes and threads in turn",
		"the last of its own calls each time"}
	for len(out) < n {
		out = append(out, fmt.Sprintf("its own calls as drawn, %d", len(out)-2))
	}
	return out[:n]
}

// mixes takes the call that goes on in such an order, and else in one that is drawn: then a process or thread goes on
// for a while. One that has tried in vain to lock waits until another one has gone on; where all others have,
// a timer goes off, so many times.
func (d *driver) mixes(set []tracer.Pending) *tracer.Pending {
	isVain := func(p tracer.Pending) bool { return slices.Contains(d.vain, p.Task) }
	timers := slices.IndexFunc(set, func(p tracer.Pending) bool { return rank(p) == 2 })
	switch calls := set[:max(timers, 0)]; {
	case len(calls) == 0:
	case d.slept < mostRounds && !slices.ContainsFunc(calls, func(p tracer.Pending) bool { return !isVain(p) }):
		set, d.slept = set[timers:], d.slept+1
	default:
		set = calls
	}
	at := 0
	if d.order > 0 {
		slices.SortFunc(set, func(p, q tracer.Pending) int {
			return cmp.Or(cmp.Compare(p.Task.Pid, q.Task.Pid), cmp.Compare(p.Task.N, q.Task.N))
		})
	}
	switch {
	case d.spec.mixed > 0 && d.order%2 == 1:
		first := slices.MinFunc(set, func(p, q tracer.Pending) int {
			return cmp.Compare(rand.New(d.drawn(d.tag(p))).Uint64(), rand.New(d.drawn(d.tag(q))).Uint64())
		})
		at = slices.IndexFunc(set, func(p tracer.Pending) bool { return p.Task == first.Task })
	case d.order == 2:
		at = len(set) - 1
	case d.order == 1:
		at = max(0, slices.IndexFunc(set, func(p tracer.Pending) bool {
			return p.Task.Pid > d.went.Pid || p.Task.Pid == d.went.Pid && p.Task.N > d.went.N
		}))
	case d.order > 2:
		at = rand.New(d.drawn(0)).IntN(len(set))
	}
	for n := 0; n < len(set) && isVain(set[at]); n++ {
		at = (at + 1) % len(set)
	}
	return &set[at]
}

// drawn draws for a process or thread, by its tag: in every second order of those that are compared with, the one with
// the lowest number goes on. In the others one draw, for none of them, says which. After 6 calls of the command all are
// drawn anew.
func (d *driver) drawn(tag uint64) rand.Source {
	by := uint64(d.calls / drawnTurn)
	if d.spec.mixed > 0 { // equal commands do the same, but where all orders are drawn
		by |= uint64(d.process) << 32
	}
	return rand.NewPCG(d.order^tag<<16, by)
}

// tag tells the processes and threads of a command apart.
func (d *driver) tag(p tracer.Pending) uint64 {
	return uint64(p.Task.N)<<24 | uint64(max(d.number(p.Task.Pid), 0))
}

const drawnTurn = 6

// goesInTurn makes a call in such an order. Who would wait for a lock tries to have it, as long as another can go on.
func (d *driver) goesInTurn(p tracer.Pending) error {
	if d.order > 0 { // the first call in turn is that of the first process
		d.went = p.Task
	}
	if !p.Blocked && p.Op.MayBlock() && (tracer.Parks(p.Op) || p.Op.Call == fsfake.CallSetlk) &&
		!slices.Contains(d.vain, p.Task) {
		held, err := d.tries(p)
		if held {
			d.vain = append(slices.Clip(d.vain), p.Task)
		} else {
			d.vain = nil
		}
		return err
	}
	d.vain = nil
	return d.goOn(p)
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
	case s.ownOrders > 0:
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
