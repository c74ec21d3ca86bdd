package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A command whose first process is killed while that only waits for others, as flock(1) does, needs no execution of its
// own for each of their calls. They go on as if nobody had been killed, up to the first that looks at other processes
// ([tracer.Run.Apart]), and what they do then is known. The answers are those of the machine, which knows of the kill:
// where one differs from all that were seen, the command is executed, and killed. What it does must be the same.

// again is where a command goes on whose first process is killed at a place: it asks the same once more, or chooses
// once more. A wait that a timer may end is tried once more before that.
func (p *place) again() *place {
	if p.before != nil && p.before.op.Call == fsfake.CallChoose {
		p = p.before
	}
	if p.before != nil && p.op.Call == fsfake.CallChoose && strings.HasSuffix(p.op.Data, goesOffMeanwhile) {
		p = p.before
	}
	return p
}

// alike is where an answer leads when the first process was killed before, nil where that is not known.
func (r *record) alike(at *place, answer fsfake.Result, learns bool) *place {
	if at == nil {
		return nil
	}
	if next := r.after(at, answer, learns); next != nil && !next.looked {
		return next
	}
	return nil
}

// bereft follows the record from a place on at which the first process was killed, as far as it goes: to the end of the
// last process, or to a place of executions that were killed. killed is the first of these, if it is known.
func (d *driver) bereft(at, killed *place, learns bool) (next *place, whole bool) {
	rec := d.spec.record
	d.serves = &place{} // of which no memory is known
	for {
		for _, v := range at.notes {
			d.t.Note(v)
		}
		if at.chooser != (fsfake.Task{}) {
			d.t.Note(scenarios.By{Task: at.chooser})
		}
		r := d.lets(at.op)
		d.told = append(d.told, r)
		if at.op.Call == fsfake.CallExit && at.children == 1 {
			return nil, true
		}
		if killed != nil {
			killed = rec.after(killed, r, learns)
		}
		if at = rec.alike(at, r, learns); at == nil {
			return killed, false
		}
	}
}

// looks notes whether a process has looked at another one on the way to a place, and whether there the first one only
// waits for others.
func (d *driver) looks(is *place) {
	s := d.spec
	if s.Crashes == 0 || s.Inside != "" || s.lasting || d.probes || d.run == nil {
		return
	}
	seen := d.run.Looks()
	is.looked, d.seen = seen != d.seen, seen
	is.apart = is.children > 0 && d.run.Apart()
}

// sees compares a place at which the first process has been killed with one at which it lives.
func (d *driver) sees(is *place) error {
	if d.alike == nil || d.alike.op == is.op {
		return nil
	}
	return fmt.Errorf("its first process was killed, which nobody could see, and the next call was %q, not %q: "+
		"this is a fault of lockpick", is.told(), d.alike.told())
}

// killed returns what a command that ran alone, from a machine on, leaves behind when it is killed
// before one of its steps. What it has started goes on, to its end and in every way. Up to so many choices that were
// known the run is an earlier one, which was killed there.
func (s *Spec) killed(sc *scenarios.Scenario, m *fsfake.Machine, process int, ran *alonePort, known int, met *meeting) (
	[]*fsfake.Machine, error) {
	var out []*fsfake.Machine
	if s.throughout != nil && ran.ways == nil {
		if err := s.throughout.seesBereft(sc, m, process, ran); err != nil {
			return nil, err
		}
	}
	for at := range ran.before {
		if ran.before[at].chosen < known {
			continue
		}
		cuts, err := s.killedBefore(sc, m, process, ran, at, met)
		if err != nil {
			return nil, err
		}
		out = append(out, cuts...)
	}
	return out, nil
}

// killRuns is about how many executions [Spec.killed] takes: one before each step at which what the command has started
// outlives it, unless its first process only waits there and what the others do then may be served.
func (s *Spec) killRuns(process int, ran *alonePort, known int) (n int) {
	if ran.ways == nil {
		return 0
	}
	at, twice := s.record.begin(s.start(process), true), s.record.begin(s.start(process), false)
	apart := 0
	for i := 0; i < len(ran.steps) && at != nil; i++ {
		is := &ran.before[i]
		switch {
		case is.chosen < known || is.family.Ended || !s.Outlives(is.family) || at.children == 0:
		case at.apart:
			apart++
		default:
			n++
		}
		at = s.record.after(at, ran.steps[i].Result, true)
		if twice != nil {
			twice = s.record.after(twice, ran.steps[i].Result, false)
		}
	}
	if twice == nil { // it was not seen to the end twice
		n += apart
	}
	return n
}

// tooLong reports whether so many more executions are more than a trial of a repair may take.
func (s *Spec) tooLong(more int) bool {
	return s.mostRuns > 0 && s.record.started()-s.ran+more > s.mostRuns
}

// killedBefore is killed of one step.
func (s *Spec) killedBefore(sc *scenarios.Scenario, m *fsfake.Machine, process int, ran *alonePort, at int,
	met *meeting) ([]*fsfake.Machine, error) {
	before := ran.before[at]
	switch {
	case before.family.Ended: // nobody is left to be killed
		return nil, nil
	case !s.Outlives(before.family):
		s.KillOn(before.m, scenarios.Pid(process))
		return []*fsfake.Machine{before.m}, nil
	}
	var out []*fsfake.Machine
	ways := slices.Clone(ran.ways[:before.chosen])
	for n := 0; ways != nil; n++ { // without a choice a child ends as it does before a kill that comes later
		if n == maxOrders {
			return out, errManyOrders
		}
		end := m.Clone()
		port, err := s.alone(sc, end, process, false, ways, at, met)
		s.throughout.seesKilled(m, process, port, err)
		switch {
		case err == nil && port.meets:
		case err == nil:
			out = append(out, end)
		case !errors.As(err, new(stuck)): // what waits for ever has no end to compare with
			return nil, err
		}
		ways = fsfake.NextWays(port.ways, before.chosen)
	}
	return out, nil
}
