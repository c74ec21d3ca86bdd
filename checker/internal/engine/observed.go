package engine

import (
	"slices"
	"sync/atomic"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
)

// Observed is what tasks and probes look at of what is not their own doing: a verdict may
// depend on where the numbers and times come from.
type Observed struct {
	// Inodes: an inode number. Times: a time of a file. Clock: the clock. Loops: a loop that
	// nobody has marked was taken for endless.
	Inodes, Times, Clock, Loops bool
	// Retries: a loop that is marked was taken for endless.
	Retries bool
	// Joined: a round of polling was taken to carry nothing over.
	Joined bool
	// Frozen: a program looked at a clock that stood still. Timers: one had a timer running beside
	// a call, which went first.
	Frozen, Timers bool
	// Mapped: a program mapped a file, and is shown what it held then.
	Mapped bool
	// OneOrder: processes or threads of one program asked at once, and one order of their calls was followed.
	OneOrder bool
	// Slept: somebody sleeps.
	Slept bool
	// Numbers: an inode number itself, which somebody may do more with than compare it.
	Numbers bool
	// Profiled are the file systems that say otherwise what somebody was told.
	Profiled fsfake.Profiles
}

// BelievedAfter is after how many rounds a loop that nobody has marked is taken for endless.
const BelievedAfter = learn.ExternalRounds

// An observer collects what is looked at; several may tell it at once.
type observer struct {
	inodes, times, clock, frozen, slept, timers, mapped, numbers, oneOrder atomic.Bool
	profiles                                                               atomic.Uint32
}

// profiled tells of what some file systems say otherwise.
func (o *observer) profiled(p fsfake.Profiles) {
	if p != 0 && o.profiles.Load()|uint32(p) != o.profiles.Load() {
		o.profiles.Or(uint32(p))
	}
}

func (o *observer) get() Observed {
	return Observed{
		Inodes: o.inodes.Load(), Times: o.times.Load(), Clock: o.clock.Load(), Frozen: o.frozen.Load(), Slept: o.slept.Load(),
		Timers: o.timers.Load(), Mapped: o.mapped.Load(), Numbers: o.numbers.Load(), OneOrder: o.oneOrder.Load(),
		Profiled: fsfake.Profiles(o.profiles.Load()),
	}
}

// effects tells what a task looked at between two calls.
func (o *observer) effects(e *learn.Effects) {
	if e.InodeSeen {
		o.inodes.Store(true)
	}
	if e.NumberSeen {
		o.numbers.Store(true)
		o.profiled(fsfake.Different()) // the links go with it
	}
	if e.TimeSeen {
		o.times.Store(true)
	}
	if e.ClockSeen {
		o.frozen.Store(true)
	}
	if e.TimersLast {
		o.timers.Store(true)
	}
	if e.Mapped {
		o.mapped.Store(true)
	}
	if e.OneOrder {
		o.oneOrder.Store(true)
	}
}

// note tells what a probe looked at.
func (o *observer) note(n any) {
	switch n.(type) {
	case fsfake.InodeSeen:
		o.inodes.Store(true)
	case fsfake.NumberSeen:
		o.numbers.Store(true)
		o.profiled(fsfake.Different())
	case fsfake.TimeSeen:
		o.times.Store(true)
	}
}

// call tells of a call that is made. shown: whoever makes it is no Go function, so that
// nobody knows what it looks at, and what the call shows counts.
func (o *observer) call(op fsfake.Op, r *fsfake.Result, shown bool) {
	if op.Call == fsfake.CallNow {
		o.clock.Store(true)
	}
	if op.Call == fsfake.CallSleep {
		o.slept.Store(true)
	}
	if r != nil {
		o.profiled(r.Profiled(op))
	}
	if !shown || r == nil {
		return
	}
	inode, times := r.Shows(op)
	if inode {
		o.inodes.Store(true)
		o.numbers.Store(true)
	}
	if times {
		o.times.Store(true)
	}
}

// Observed is what the tasks looked at in what has been explored, and the probe.
func (x *Space) Observed() Observed {
	o := x.observed.get().Or(x.prober.Observed())
	o.Retries = !x.Sc.External && slices.ContainsFunc(x.automata, (*learn.Automaton).Retries)
	o.Loops = slices.ContainsFunc(x.automata, (*learn.Automaton).BelievesEndless)
	o.Joined = x.Joins()
	return o
}

// Observed is what the probe looked at. Its clock goes on, so that reading it assumes
// nothing. A nil prober has not looked.
func (p *Prober) Observed() Observed {
	if p == nil {
		return Observed{}
	}
	return p.observed.get()
}

// Observed is what the tasks looked at in all runs of the world.
func (w *World) Observed() Observed { return w.observed.get() }

// Or is what is looked at in either.
func (o Observed) Or(p Observed) Observed {
	return Observed{
		Inodes: o.Inodes || p.Inodes, Times: o.Times || p.Times, Clock: o.Clock || p.Clock, Loops: o.Loops || p.Loops, Joined: o.Joined || p.Joined,
		Frozen: o.Frozen || p.Frozen, Slept: o.Slept || p.Slept, Timers: o.Timers || p.Timers, Mapped: o.Mapped || p.Mapped,
		Numbers: o.Numbers || p.Numbers, OneOrder: o.OneOrder || p.OneOrder, Retries: o.Retries || p.Retries,
		Profiled: o.Profiled | p.Profiled,
	}
}
