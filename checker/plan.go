package checker

import (
	"cmp"
	"fmt"

	"lockpick/checker/internal/search"
)

// An attempt is one way to cover a space for a verdict. The attempts of a verdict are a list (plan), and
// decision.run tries one after the other until one is accepted.
type attempt struct {
	name     string
	memory   Memory // RememberHistories or RememberMonitors
	symmetry bool   // up to symmetry: processes are taken for each other
	// joined: nodes after the same sleep and before the same call are taken for one, which is tried out.
	// clean: only while a program has changed nothing.
	joined, clean bool
	// preempts: schedules with few preemptions are made, and the space is left alone. confirms: what holds with few is
	// looked at again. again: as many executions as were made until then bound it.
	preempts, confirms, again bool
	limits                    search.Limits
	accept                    acceptance
	// needs are what must be known before it, and unless what must not.
	needs, unless facts
}

// fewExecutions are how many runs of real programs are many.
const fewExecutions = 300

// An acceptance is when what an attempt has found is enough for a verdict.
type acceptance uint8

const (
	// whenItEnds accepts whatever is found, also that a budget has ended.
	whenItEnds acceptance = iota
	// whenDecided accepts a space that was covered, or broken, or a search that was stopped, within the attempt's states.
	whenDecided
	// whenComplete accepts a space that was covered, or a search that was stopped.
	whenComplete
	// whenSound accepts what whenItEnds does, and goes on after an error: the reduction is no good then.
	whenSound
)

// facts are what attempts have found out so far.
type facts uint8

const (
	brokenSoFar facts = 1 << iota // the property is broken in what was seen
	manyPaths                     // there are more executions of the programs than the first attempts are to make
	roundsOpen                    // rounds of polling were not seen to carry something over
	shown                         // a schedule with few preemptions breaks the property
	ownersSleep                   // roundsOpen, and a program sleeps also once it has changed something
)

// Traits are what a plan depends on beside the options.
type traits struct {
	// judged: histories are judged. cycles: the property is about cycles. external: programs are no Go functions.
	// interchangeable: the setting says that processes are. preempts: few preemptions may break it.
	// local: it need not be known in which order local steps are made.
	// invariant: that of programs is asked, where nobody is delayed.
	judged, cycles, external, interchangeable, preempts, local, invariant bool
}

// plan lists the attempts at a verdict, in order.
func (o *Options) plan(s traits, limits search.Limits) []attempt {
	if !o.Full && !s.cycles {
		limits.Enough = smallSpace
	}
	return o.phases(s, limits)
}

// phases are the attempts in order. A real program that polls takes another path for each sequence of rounds, and
// each path is an execution: where there are many, rounds are first taken to carry nothing over.
func (o *Options) phases(s traits, limits search.Limits) []attempt {
	if !s.external {
		return o.coverings(s, limits, o.Symmetry)
	}
	few := limits
	few.Executions = cmp.Or(o.changes.executions, fewExecutions)
	var out []attempt
	if s.preempts && !o.Symmetry && exceeds(limits, glimpseStates) && o.changes.executions == 0 {
		out = append(out, o.fewPreemptions(limits)...)
		limits.Local, few.Local = s.local, s.local
	}
	for _, a := range o.coverings(s, few, o.Symmetry) {
		a.name += fmt.Sprintf(", %d executions", few.Executions)
		a.unless |= manyPaths | shown
		out = append(out, a)
	}
	each := s
	each.interchangeable = false
	if s.invariant { // with clocks that move, the sleeps of an owner come to an end
		some := limits
		some.Executions = 10 * fewExecutions
		for _, a := range o.coverings(each, some, false) {
			a.clean, a.needs = true, ownersSleep
			out = append(out, a.joining(", rounds of polling joined at first"))
		}
	}
	for _, a := range o.coverings(each, limits, false) {
		out = append(out, a.joining(", rounds of polling joined"))
	}
	for _, a := range o.coverings(s, limits, o.Symmetry) {
		a.needs |= manyPaths
		out = append(out, a)
	}
	return out
}

// joining is an attempt with rounds of polling joined.
func (a attempt) joining(name string) attempt {
	a.name += name
	a.joined = true
	a.needs |= manyPaths | roundsOpen
	if a.accept == whenItEnds {
		a.accept = whenSound
	}
	return a
}

// fewPreemptions are the attempts before the space of real programs is explored. What is found first
// is as small as a search by cost can make it; then a small space is covered for the odds. What holds with few
// preemptions is looked at again only where as many executions more do not cover the space: that costs as much.
func (o *Options) fewPreemptions(limits search.Limits) []attempt {
	glimpse, odds, again := limits, limits, limits
	glimpse.Executions, glimpse.States = glimpseExecutions, glimpseStates
	odds.Executions, odds.States = oddsExecutions, smallSpace
	again.States = againStates
	return []attempt{
		{name: fmt.Sprintf("up to %d executions", glimpse.Executions), memory: RememberHistories, limits: glimpse,
			accept: whenComplete},
		{name: "few preemptions", memory: RememberHistories, preempts: true},
		{name: fmt.Sprintf("up to %d executions, for the odds", odds.Executions), memory: RememberHistories,
			limits: odds, accept: whenComplete, needs: shown},
		{name: "as many executions more", memory: RememberHistories, limits: again, again: true,
			accept: whenComplete, unless: shown},
		{name: "few preemptions, looked at again", memory: RememberHistories, confirms: true, unless: shown},
	}
}

// coverings are the attempts of one phase: from what is quick for small spaces to what is
// needed for large ones.
func (o *Options) coverings(s traits, limits search.Limits, sym bool) []attempt {
	end := attempt{name: "to the end, with histories", memory: RememberHistories, symmetry: sym, limits: limits}
	switch {
	case o.Memory == RememberHistories:
		return []attempt{end}
	case o.Memory != RememberAuto:
		return []attempt{end.with(RememberMonitors)}
	}
	return o.automatic(s, limits, end)
}

// automatic are the attempts of RememberAuto.
func (o *Options) automatic(s traits, limits search.Limits, end attempt) []attempt {
	small := cmp.Or(o.changes.monitors, autoStates)
	if !exceeds(limits, small) {
		return []attempt{end}
	}
	var out []attempt
	reduce := s.interchangeable && !o.Symmetry
	if reduce && o.large {
		out = append(out, upToSymmetry(limits))
	}
	if s.judged {
		out = append(out, end.begin(small))
		end = end.with(RememberMonitors)
	}
	if reduce && !o.large {
		if !s.judged {
			out = append(out, end.begin(small))
		}
		fewer := limits
		if fewer.Enough > 0 { // so many were seen
			fewer.Enough = max(1, fewer.Enough-small)
		}
		a := upToSymmetry(fewer)
		a.unless |= brokenSoFar
		out = append(out, a)
	}
	return append(out, end)
}

// upToSymmetry covers a space up to symmetry, where processes turn out to be interchangeable.
func upToSymmetry(limits search.Limits) attempt {
	return attempt{name: "up to symmetry", memory: RememberMonitors, symmetry: true, limits: limits, accept: whenSound}
}

// begin is an attempt as far as to so many states.
func (a attempt) begin(states int) attempt {
	a.limits.States, a.accept = states, whenDecided
	a.name = fmt.Sprintf("up to %d states, with %s", states, a.memory.noun())
	return a
}

// with is an attempt that goes to the end with another memory.
func (a attempt) with(m Memory) attempt {
	a.memory, a.name = m, "to the end, with "+m.noun()
	return a
}

func (m Memory) noun() string {
	if m == RememberHistories {
		return "histories"
	}
	return "monitors"
}

// meanwhile says what was being done when an attempt was stopped that may be no good; "" for the others.
func (a *attempt) meanwhile() string {
	if a.joined {
		return "whether rounds of polling carry something over was being tried out"
	}
	return ""
}

// exceeds reports whether limits allow for more than so many states.
func exceeds(limits search.Limits, states int) bool {
	return limits.States == 0 || limits.States > states
}
