package engine

import (
	"slices"
	"sync/atomic"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Observed is what tasks and probes look at of what is not their own doing: a verdict may
// depend on where the numbers and times come from.
type Observed struct {
	fsfake.Seen
	// Clock: somebody asks the machine for the time. Slept: somebody sleeps.
	Clock, Slept bool
	// Processes: somebody asks which processes there are.
	Processes bool
	// Loops: a loop that nobody has marked was taken for endless. Retries: one that is marked was.
	Loops, Retries bool
	// Joined: a round of polling was taken to carry nothing over.
	Joined bool
	// Refused: somebody was refused a lock, be it by what it has looked at.
	Refused bool
	// Profiled are the file systems that say otherwise what somebody was told.
	Profiled fsfake.Profiles
}

// Inodes, Times and Numbers report whether somebody looked at an inode number, at a time of a file, and got hold of
// a number itself.
func (o Observed) Inodes() bool  { return o.Has(fsfake.InodeSeen) }
func (o Observed) Times() bool   { return o.Has(fsfake.TimeSeen) }
func (o Observed) Numbers() bool { return o.Has(fsfake.NumberSeen) }

// BelievedAfter is after how many rounds a loop that nobody has marked is taken for endless.
const BelievedAfter = learn.ExternalRounds

// An observer collects what is looked at; several may tell it at once.
type observer struct {
	clock, slept   atomic.Bool
	processes      atomic.Bool
	refused        atomic.Bool
	seen, profiles atomic.Uint32
}

// add sets bits.
func add(to *atomic.Uint32, bits uint32) {
	if bits&^to.Load() != 0 {
		to.Or(bits)
	}
}

// profiled tells of what some file systems say otherwise.
func (o *observer) profiled(p fsfake.Profiles) { add(&o.profiles, uint32(p)) }

func (o *observer) get() Observed {
	return Observed{
		Seen: fsfake.Seen(o.seen.Load()), Clock: o.clock.Load(), Slept: o.slept.Load(), Processes: o.processes.Load(),
		Refused: o.refused.Load(), Profiled: fsfake.Profiles(o.profiles.Load()),
	}
}

// What counts of what a probe looks at, and of what a task does.
const (
	seenByProbes = fsfake.InodeSeen | fsfake.NumberSeen | fsfake.TimeSeen
	seenByTasks  = seenByProbes | scenarios.ClockSeen | scenarios.TimersLast | scenarios.Mapped | scenarios.OneOrder
)

// look tells of what was looked at.
func (o *observer) look(s fsfake.Seen) {
	add(&o.seen, uint32(s))
	if s.Has(fsfake.NumberSeen) {
		o.profiled(fsfake.NewProfiles(fsfake.Btrfs, fsfake.Overlay)) // the links go with it
	}
}

// effects tells what a task looked at between two calls.
func (o *observer) effects(e *learn.Effects) {
	o.look(e.Seen & seenByTasks)
	if e.Returned && refused(e.Output) {
		o.refused.Store(true)
	}
}

// note tells what a probe looked at.
func (o *observer) note(n any) {
	if s, ok := n.(fsfake.Seen); ok {
		o.look(s & seenByProbes)
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
	if op.Call == fsfake.CallKill || op.Call == fsfake.CallStartTime || op.Call == fsfake.CallProcs {
		o.processes.Store(true)
	}
	if r != nil {
		o.profiled(r.Profiled(op))
	}
	if !shown || r == nil {
		return
	}
	inode, times := r.Shows(op)
	if inode {
		add(&o.seen, uint32(fsfake.InodeSeen|fsfake.NumberSeen))
	}
	if times {
		add(&o.seen, uint32(fsfake.TimeSeen))
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
		Seen: o.Seen | p.Seen, Clock: o.Clock || p.Clock, Slept: o.Slept || p.Slept, Loops: o.Loops || p.Loops,
		Processes: o.Processes || p.Processes, Retries: o.Retries || p.Retries, Joined: o.Joined || p.Joined,
		Refused:  o.Refused || p.Refused,
		Profiled: o.Profiled | p.Profiled,
	}
}
