package fsfake

import (
	"slices"
	"time"
)

// Sleeps that take their time, where that is asked for ([Machine.LetSleepsLast]). A sleep is a call
// that waits then: it begins, others may do what they like, and when it goes on the clock has moved
// to its end at least. So whoever slept d sees a clock that has moved by d, and so does everybody
// else.
//
// A round of a retry loop that changed nothing is as if it had never been: it carries nothing over.
// So the time that it slept is taken back at the next top ([Machine.Round]), unless somebody
// knows of it, and a loop that polls does not have the clock move for ever. What is left when a
// round is taken back is something that can really happen, for there the round is left out.
//
// Who knows: a change is made at the time of its maker, so from then on nobody's time is taken
// back; and whoever reads the clock has read what others have slept.

// A nap is what there is to know of the sleeps of one task.
type nap struct {
	task  Task
	until int64 // it sleeps until then; 0: it does not
	lead  int64 // when its last sleep ended, while that may be taken back; 0: it may not
	// did has bit n when the task has changed something since its retry loop n began a round.
	did uint16
}

// LetSleepsLast has every sleep from here on take as long as it says.
func (m *Machine) LetSleepsLast() { m.mutSetup().lasts, m.mutSeldom().base = true, m.clock }

// SleepsLast reports whether sleeps take as long as they say.
func (m *Machine) SleepsLast() bool { return m.lasts }

// EndSleeps has sleeps take no time from here on, and nobody sleep.
func (m *Machine) EndSleeps() {
	if m.lasts || m.naps != nil {
		m.mutSetup().lasts, m.mutSeldom().naps = false, nil
	}
}

// inTime carries out a call where sleeps last.
func (m *Machine) inTime(p *proc, t Task, op *Op) Result {
	if m.timely {
		m.settle()
	}
	if op.Call == CallSleep {
		return m.sleep(t, op.Time)
	}
	if op.Call == CallNow {
		m.readBy(t)
	}
	before := m.version - m.numbered
	r := m.do(p, t, op)
	if m.version-m.numbered == before { // a number that is shown is made at no time
		return r
	}
	m.settle()
	if n := m.napOf(t); m.proc(t.Pid) != nil && n.did != ^uint16(0) {
		n.did = ^uint16(0)
		m.setNap(n)
	}
	return r
}

// sleep begins a sleep, or ends it.
func (m *Machine) sleep(t Task, d int64) Result {
	n := m.napOf(t)
	if n.until == 0 {
		if d <= 0 {
			return Result{}
		}
		n.until = max(m.base, n.lead) + d
		m.setNap(n)
		m.paced(t, n.until)
		return Result{Blocked: true}
	}
	if n.until > m.base {
		n.lead = n.until
	}
	n.until = 0
	m.setNap(n)
	m.clock = max(m.clock, n.lead)
	m.paced(t, 0)
	return Result{}
}

// Robs reports that the sleep of t cannot go on yet: that would move the clock while somebody
// punctual has something to do, or past the time at which one wakes. waits tells who cannot take
// a step.
func (m *Machine) Robs(t Task, waits func(Task) bool) bool {
	if !m.lasts || len(m.paces) == 0 || m.signalFor(t.Pid) >= 0 {
		return false
	}
	until := m.napOf(t).until
	by := m.starter(t)
	return until > m.clock && slices.ContainsFunc(m.paces, func(p pace) bool {
		return p.task != by && p.until < until && !waits(p.task)
	})
}

// Round tells that t begins a round of a retry loop, as in [RoundTop].
func (m *Machine) Round(t Task, loop int, first bool) {
	if !m.lasts {
		return
	}
	n := m.napOf(t)
	bits := ^uint16(0) << min(loop, 15)
	switch {
	case first || n.did&(1<<min(loop, 15)) != 0:
		m.settle()
		n = m.napOf(t)
	default:
		n.lead, n.until = 0, 0
	}
	n.did &^= bits
	m.setNap(n)
	m.clock = m.base
	for i := range m.naps {
		m.clock = max(m.clock, m.naps[i].lead)
	}
}

// settle has no time be taken back that has passed.
func (m *Machine) settle() { m.known(m.clock) }

// readBy settles what others have slept: t reads the clock.
func (m *Machine) readBy(t Task) {
	base := m.base
	for i := range m.naps {
		if m.naps[i].task != t {
			base = max(base, m.naps[i].lead)
		}
	}
	m.known(base)
}

// known has time up to a moment never be taken back.
func (m *Machine) known(base int64) {
	if m.base != base {
		m.mutSeldom().base = base
	}
	for i := len(m.naps) - 1; i >= 0; i-- {
		if n := m.naps[i]; n.lead != 0 && n.lead <= base {
			n.lead = 0
			m.setNap(n)
		}
	}
}

// setBack has sleeps end when they would have, on a clock that is set back by d.
func (m *Machine) setBack(d time.Duration) {
	s := m.mutSeldom()
	s.back += int64(d)
	s.base -= int64(d)
	s.naps = slices.Clone(s.naps)
	for i := range s.naps {
		if n := &s.naps[i]; n.lead != 0 {
			n.lead -= int64(d)
		}
		if n := &s.naps[i]; n.until != 0 {
			n.until -= int64(d)
		}
	}
}

// napOf returns the nap of a task.
func (m *Machine) napOf(t Task) nap {
	if i, ok := slices.BinarySearchFunc(m.naps, t, compareNap); ok {
		return m.naps[i]
	}
	return nap{task: t}
}

// setNap stores a nap, unless it says nothing.
func (m *Machine) setNap(n nap) {
	i, found := slices.BinarySearchFunc(m.naps, n.task, compareNap)
	says := n != nap{task: n.task}
	switch {
	case !found && says:
		m.mutSeldom().naps = insert(m.naps, i, n)
	case found && !says:
		m.mutSeldom().naps = remove(m.naps, i)
	case found && m.naps[i] != n:
		s := m.mutSeldom()
		s.naps = slices.Clone(s.naps)
		s.naps[i] = n
	}
}

// napless forgets the tasks of a process that has ended.
func (m *Machine) napless(pid int) {
	m.settle()
	if slices.ContainsFunc(m.naps, func(n nap) bool { return n.task.Pid == pid }) {
		m.mutSeldom().naps = slices.DeleteFunc(slices.Clone(m.naps), func(n nap) bool { return n.task.Pid == pid })
	}
}

func compareNap(n nap, t Task) int { return compareTask(n.task, t) }

// appendNaps appends what decides how the clock will move.
func (m *Machine) appendNaps(b []byte) []byte {
	if !m.lasts {
		return b
	}
	b = appendInt(b, m.clock-m.base)
	b = appendLen(b, len(m.naps))
	for i := range m.naps {
		n := &m.naps[i]
		b = appendLen(b, n.task.Pid)
		b = appendLen(b, n.task.N)
		b = appendUint(b, uint64(n.did))
		b = appendInt(b, max(0, n.lead-m.base))
		if n.until != 0 {
			b = appendInt(b, max(0, n.until-m.base)+1)
		} else {
			b = appendInt(b, 0)
		}
	}
	return b
}
