package command

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"

	"lockpick/fsfake/tracer"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
)

// What a record notes of executions beside their calls: what a verdict takes for granted, and what it does not cover.

// another notes that one more order of a command's own calls is to be followed, and reports whether these are too many.
func (r *record) another() (tooMany bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.orders++
	return r.orders > maxMeeting || r.calls > dearCalls && r.orders > dearMeeting
}

// dear reports whether some execution has made many calls.
func (r *record) dear() bool { return r.makes() > dearCalls }

// makes is how many calls the execution has made that has made most, to the system.
func (r *record) makes() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

// seeds is with how many others than the usual random numbers a command is tried.
func (r *record) seeds() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case !r.random:
		return idleSeeds
	case r.calls <= manyCalls:
		return manySeeds
	}
	return otherSeeds
}

// did notes how many calls an execution has made, which files outside of the virtual directory it has changed or
// locked, and which of its calls were refused.
func (r *record) did(run *tracer.Run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls, r.random = max(r.calls, run.Calls()), r.random || run.Draws()
	for _, name := range run.Executed() {
		r.random = r.random || !r.programsRun[name] && tracer.MayDraw(name)
	}
	for _, of := range []struct {
		set   map[string]bool
		names []string
	}{{r.outside, run.Outside()}, {r.unlike, run.Unlike()}, {r.refused, run.Refused()},
		{r.programsRun, run.Executed()}} {
		for _, name := range of.names {
			of.set[name] = true
		}
	}
}

// assumed says what a verdict takes for granted of what the executions did.
func (r *record) assumed() []scenarios.Premise {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out []scenarios.Premise
	if len(r.refused) > 0 {
		out = append(out, scenarios.Premise{Code: "calls-refused",
			Text: "lockpick does not model these calls and refused them, as a " +
				"kernel without them does: " + listed(r.refused)})
	}
	if r.madeOfTime {
		out = append(out, scenarios.Premise{Code: "names-of-the-time",
			Text: "names and contents that the command makes of the time, as a hash or for a temporary file, make no " +
				"difference: with another time only they differed"})
	}
	return out
}

// namesOfTime notes that only names and contents that are made of the time differed, when time had passed.
func (r *record) namesOfTime() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.madeOfTime = true
}

// slept is the longest sleep of any command so far, also of those that have not looked at a clock: alone, who takes a
// lock by its age does not.
func (r *record) slept() (longest time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, l := range r.late { // order does not matter: the longest of all
		longest = max(longest, l.slept)
	}
	return longest
}

// unjudged says what no verdict covers; "" for nothing.
func (s *Spec) unjudged() string {
	if s.reader != nil {
		if text := s.reader.failed(); text != "" {
			return text
		}
	}
	return cmp.Or(s.record.programs.unjudged(), s.record.unjudged(s.Dir))
}

// unjudged says what the executions did that no verdict covers; "" for nothing.
func (r *record) unjudged(dir string) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case r.couldTell():
		return "nothing broke it, but a command could see when a child of one began or ended, and one order of that " +
			"was followed: it looks at processes, gets a signal, or has children print beside each other"
	case len(r.outside) > 0:
		return fmt.Sprintf("nothing broke it, but a race on what the commands change or lock outside %s is not "+
			"judged: %s; have them keep it in %[1]s, or choose with --dir a directory that holds both",
			dir, listed(r.outside))
	case len(r.unlike) > 0:
		return fmt.Sprintf("nothing broke it, but lockpick refused a call that it does not model: %s. What the "+
			"commands do where the kernel makes it was not seen; have them do without it", listed(r.unlike))
	}
	return ""
}

// couldTell reports whether the beginning or the end of a process went first, and a command could see it.
func (r *record) couldTell() bool { return r.firsts && r.looks || r.rootFirsts && r.signals }

// where says where only one order was followed; "" for nowhere.
func (r *record) where() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.oneOrder
}

// follows notes that only one order is followed somewhere.
func (r *record) follows(where string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.oneOrder == "" || where < r.oneOrder {
		r.oneOrder = where
	}
}

// reduced notes that the beginning or the end of a process went first. root: the first process of a command did it.
func (r *record) reduced(root bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.firsts, r.rootFirsts = true, r.rootFirsts || root
}

// signalled notes that a command has sent another's first process a signal.
func (r *record) signalled() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.signals = true
}

// looked notes that a command has looked at processes that commands had started.
func (r *record) looked() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.looks = true
}

// seeks notes a child that has children when its parent looks at it, and reports whether it is among the known ones.
func (r *record) seeks(child int, known map[int]bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !known[child] {
		r.sought[child] = true
	}
	return known[child]
}

// listed are the first names of a set as a text, with the number of the others.
func listed(set map[string]bool) string { return numbers.Few(slices.Sorted(maps.Keys(set))) }
