package fsfake

import (
	"cmp"
	"slices"
	"time"
)

// Processes that are never delayed. The machine does not make time pass; it remembers which of
// their tasks are awake, and until when the others sleep, for whoever does.

// A pace is where a task of a punctual process stands: it is awake, or sleeps until a time.
type pace struct {
	task  Task
	until int64 // nanoseconds since 1970; 0: it is awake
}

// SetPunctual says which processes are never delayed; call it before they do anything.
func (m *Machine) SetPunctual(pids ...int) {
	m.mutSetup().punctual = slices.Sorted(slices.Values(pids))
}

// MayPass returns how far the clock may move now, d at most. While a punctual task is awake no time
// passes, and those that sleep wake in time. A task that has not begun may begin late, and
// one that waits in a call, or has ended, holds up nothing: waits tells who does.
func (m *Machine) MayPass(d time.Duration, waits func(Task) bool) time.Duration {
	if m.timely { // it delays everybody
		return d
	}
	for _, p := range m.paces {
		if !waits(p.task) {
			d = min(d, max(0, time.Duration(p.until-m.clock)))
		}
	}
	return d
}

// StallLeft is how much of a stall that has begun may still pass; see [Machine.Stall].
func (m *Machine) StallLeft() time.Duration { return time.Duration(m.stallLeft) }

// Stall moves the clock by d, and remembers how much of the stall is left after that. A negative d sets
// the clock back, as a step of NTP does: no time passes, and who sleeps has as much to sleep as before.
func (m *Machine) Stall(d, left time.Duration) {
	if d < 0 {
		m.setBack(-d)
	}
	m.Advance(d)
	if m.timely { // as before the next call
		m.settle()
	}
	if m.stallLeft != int64(left) {
		m.mutSeldom().stallLeft = int64(left)
	}
}

// paced remembers that a task of a punctual process has made a call, and until when it sleeps; 0
// for a call that is no sleep.
func (m *Machine) paced(t Task, until int64) {
	if _, ok := slices.BinarySearch(m.punctual, t.Pid); !ok && !m.timely || m.proc(t.Pid) == nil {
		return
	}
	p := pace{m.starter(t), until}
	at, found := slices.BinarySearchFunc(m.paces, p.task, comparePace)
	switch {
	case !found:
		m.mutSeldom().paces = insert(m.paces, at, p)
	case m.paces[at] != p:
		s := m.mutSeldom()
		s.paces = slices.Clone(s.paces)
		s.paces[at] = p
	}
}

// LetNobodyDelay has every process punctual, with all that it has started as one, whose calls come one after the
// other; and it has no time taken back. Sleeps must last.
func (m *Machine) LetNobodyDelay() { m.mutSetup().timely = true }

// starter is the task that t counts as where nobody is delayed: of what a process has started, that process.
func (m *Machine) starter(t Task) Task {
	switch {
	case !m.timely:
		return t
	case m.childPids > 0 && t.Pid >= m.childPids:
		return Task{t.Pid / m.childPids, 1}
	}
	return Task{t.Pid, 1}
}

// unpaced forgets the tasks of a process that has ended.
func (m *Machine) unpaced(pid int) {
	if slices.ContainsFunc(m.paces, func(p pace) bool { return p.task.Pid == pid }) {
		m.mutSeldom().paces = slices.DeleteFunc(slices.Clone(m.paces), func(p pace) bool { return p.task.Pid == pid })
	}
}

func comparePace(p pace, t Task) int { return compareTask(p.task, t) }

func compareTask(a, b Task) int {
	return cmp.Or(cmp.Compare(a.Pid, b.Pid), cmp.Compare(a.N, b.N))
}

// appendPaces appends what decides how time can pass.
func (m *Machine) appendPaces(b []byte) []byte {
	if len(m.punctual) == 0 && !m.timely {
		return b
	}
	b = appendInt(b, m.stallLeft)
	b = appendLen(b, len(m.paces))
	for _, p := range m.paces {
		b = appendLen(b, p.task.Pid)
		b = appendLen(b, p.task.N)
		b = appendInt(b, max(0, p.until-m.clock)) // whoever is due is awake
	}
	return b
}
