package bruteforce

import (
	"time"

	"lockpick/fsfake"
)

// Sleeps that last, for protocols that ask for them. The machine's own way of keeping time is
// switched off: the clock is set here. s.base is what is known to have passed; somebody who
// has woken may be ahead of it, and nobody else knows.

// ShowsSleeps reports whether sleeps last and somebody looks how old a file is.
func (p *Protocol) ShowsSleeps() bool {
	return p.Lasts && p.has(func(s *Stmt) bool { return s.Do == Old })
}

// lasts has sleeps of a machine take no time, since this package sees to that.
func (x *space) lasts(s *state) {
	s.m.EndSleeps()
	s.base = s.m.Now().UnixNano()
}

// setClock sets the clock to the time of whoever is furthest.
func (s *state) setClock() {
	at := s.base
	for i := range s.tasks {
		at = max(at, s.tasks[i].lead)
	}
	s.m.Advance(time.Duration(at - s.m.Now().UnixNano()))
}

// settle makes the clock what everybody knows.
func (s *state) settle() {
	s.base = s.m.Now().UnixNano()
	s.forgetLeads()
}

// setBack has sleeps end when they would have, on a clock that is set back; no d less than 0 does.
func (s *state) setBack(d time.Duration) {
	for i := range s.tasks {
		if a := &s.tasks[i]; d > 0 {
			a.lead, a.until = max(0, a.lead-int64(d)), max(0, a.until-int64(d))
		}
	}
}

func (s *state) forgetLeads() {
	for i := range s.tasks {
		if s.tasks[i].lead <= s.base {
			s.tasks[i].lead = 0
		}
	}
}

// do makes a call of task i where sleeps last.
func (x *space) do(s *state, i int, op fsfake.Op) fsfake.Result {
	a := &s.tasks[i]
	switch {
	case op.Call == fsfake.CallSleep && a.until == 0:
		a.until = max(s.base, a.lead) + op.Time
		return fsfake.Result{Blocked: true}
	case op.Call == fsfake.CallSleep:
		a.lead, a.until = a.until, 0
		s.forgetLeads()
		s.setClock()
		return fsfake.Result{}
	case op.Call == fsfake.CallNow:
		for j := range s.tasks {
			if j != i {
				s.base = max(s.base, s.tasks[j].lead)
			}
		}
		s.forgetLeads()
	}
	before := s.m.Version()
	r := s.m.Do(x.slots[i].id, op)
	if s.m.Version() != before {
		s.settle()
		a.changed = make([]bool, len(a.changed))
		for k := range a.changed {
			a.changed[k] = true
		}
	}
	return r
}

// turn follows the loops that a task has entered, gone round and left since its last call.
func (s *state) turn(i int) {
	a := &s.tasks[i]
	again := false
	for _, e := range a.task.loops {
		last := len(a.changed) - 1
		switch {
		case e == entered:
			s.settle()
			a.changed = append(a.changed[:last+1:last+1], false)
		case e == left:
			a.changed = a.changed[:last]
		case again: // of several the first counts
		case a.changed[last]:
			again = true
			s.settle()
			a.changed = append(a.changed[:last:last], false)
		default:
			again = true
			a.lead, a.until = 0, 0
			s.setClock()
		}
	}
}

// robs: the sleep of task i cannot end yet, as somebody punctual has to do something before.
func (x *space) robs(s *state, i int) bool {
	a := &s.tasks[i]
	if !x.p.Lasts || a.until <= s.m.Now().UnixNano() {
		return false
	}
	for j := range s.tasks {
		if b := &s.tasks[j]; j != i && b.begun && b.wakes < a.until && x.able(s, j) {
			return true
		}
	}
	return false
}
