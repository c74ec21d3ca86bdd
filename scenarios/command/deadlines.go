package command

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/scenarios"
)

// Which of the sleeps and timeouts of one command ends first.
//
// While clocks stand still, a sleep lasts for any time beside other commands. Beside the sleeps of its own command it
// does not: the timeout of a minute in a parent does not end before a child has slept for a second. So they end in the
// order of their deadlines, on a clock that the command has for itself. Those that end at one time are a choice.

// inOrder leaves out the timers that end later than another one.
func (d *driver) inOrder(set []tracer.Pending) []tracer.Pending {
	var rest, timers []tracer.Pending
	for _, p := range set {
		if p.Timer && !p.Due {
			timers = append(timers, p)
		} else {
			rest = append(rest, p)
		}
	}
	if len(timers) < 2 {
		return set
	}
	slices.SortStableFunc(timers, func(a, b tracer.Pending) int { return cmp.Compare(a.Deadline, b.Deadline) })
	later := endsLater(timers)
	switch {
	case later < 0 || d.spec.lasting:
	case d.rounds.alike >= mostRounds:
		// The first is a sleep between attempts that all fail. What ends the attempts comes, and nothing else is followed.
		d.oneOrder(timers)
		timers = timers[later:]
		later = endsLater(timers)
	default:
		d.note(scenarios.TimersLast)
	}
	if later >= 0 {
		timers = timers[:later]
	}
	return append(rest, timers...)
}

// endsLater is the first of some timers that does not end at the time of the first one; -1 for none.
func endsLater(timers []tracer.Pending) int {
	return slices.IndexFunc(timers, func(p tracer.Pending) bool { return timers[0].Deadline+tracer.Tie <= p.Deadline })
}

// mostRounds is how many rounds of a loop that sleeps, and finds everything as before, are followed while a timeout
// runs beside it.
const mostRounds = 30

// rounds are what a command does between its sleeps, as a digest of the calls and answers.
type rounds struct {
	now, last [sha256.Size]byte
	alike     int // how many came in a row
}

// add notes a call, or the end of a sleep, with which a round begins.
func (r *rounds) add(op fsfake.Op, answer fsfake.Result, timer bool) {
	if !timer {
		r.now = sha256.Sum256(fmt.Appendf(r.now[:], "%v %v\n", op, answer))
		return
	}
	if r.alike++; r.now != r.last {
		r.alike = 1
	}
	r.last, r.now = r.now, [sha256.Size]byte{}
}
