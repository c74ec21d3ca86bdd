package command

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/scenarios"
)

// Waits for a lock that a timer may end: flock -w, alarm(2) around flock(2).
//
// The call is tried without waiting. Who finds the lock held chooses: the wait goes on until the lock is his, or a
// timer goes off. That it goes off later, when others have made more steps, need not be followed: nobody sees
// that somebody waits, so it is the same as a timer that has gone off at once in a process that is slow from there on.

// A record lock is waited for in the same way by a process that holds none. One that does may close a cycle when it
// begins to wait (EDEADLK), and while it is said to wait on, and does not on the machine, others would not be told.

// waitsForRecord reports whether a call waits for a record lock, and nobody waits for its process meanwhile.
func (d *driver) waitsForRecord(p tracer.Pending) bool {
	return p.Op.Call == fsfake.CallSetlk && p.Op.Wait && !p.Blocked && d.wentOff < mostWentOff &&
		!slices.ContainsFunc(d.records, func(l heldBy) bool { return l.pid == p.Task.Pid })
}

// mostWentOff is how many timers of an execution go off in such waits. A timer may come again and again: then one order
// is followed.
const mostWentOff = 2

// A heldBy is a descriptor by which a process may hold record locks.
type heldBy struct{ pid, fd int }

// locks notes what a call that has succeeded says of the record locks of its process.
func (d *driver) locks(pid int, op fsfake.Op) {
	is := heldBy{pid, op.FD}
	gone := op.Call == fsfake.CallClose ||
		op.Call == fsfake.CallSetlk && op.Flags == fsfake.F_UNLCK && op.Off == 0 && op.Len == 0
	switch {
	case gone:
		d.records = slices.DeleteFunc(slices.Clone(d.records), func(l heldBy) bool { return l == is })
	case op.Call == fsfake.CallSetlk && op.Flags != fsfake.F_UNLCK && !slices.Contains(d.records, is):
		d.records = append(slices.Clip(d.records), is)
	}
}

// timed reports whether the first of some calls, in the order of [rank], waits for a lock and the others
// are timers.
func (d *driver) timed(set []tracer.Pending) bool {
	return len(set) > 1 && !set[0].Signalled && (tracer.Parks(set[0].Op) || d.waitsForRecord(set[0])) &&
		!slices.ContainsFunc(set[1:], func(p tracer.Pending) bool { return !p.Timer }) &&
		!d.probes && d.spec.ownOrders == 0 && d.choices < maxChoices
}

const goesOffMeanwhile = "a timer that goes off while it waits"

// waitInTime makes a call that waits for a lock while timers run.
func (d *driver) waitInTime(p tracer.Pending, timers []tracer.Pending) error {
	held, err := d.tries(p)
	if err != nil || !held {
		return err
	}
	lines := []string{p.Op.String() + ", which waits"}
	for range timers {
		lines = append(lines, goesOffMeanwhile)
	}
	r, err := d.choose(p.Task, lines)
	if err != nil || notMade(r) {
		return err
	}
	if r.N == 0 {
		d.note(scenarios.TimedWait)
		return d.goOn(p)
	}
	if err := d.goesOff([]tracer.Pending{p}); err != nil {
		return err
	}
	return d.goOn(timers[r.N-1])
}

// goesOff tells calls that they wait, for a timer goes off meanwhile: its signal may end them.
func (d *driver) goesOff(waiting []tracer.Pending) error {
	d.wentOff++
	for _, p := range waiting {
		if err := d.run.Answer(p.Task, fsfake.Result{Blocked: true}); err != nil {
			return err
		}
	}
	return nil
}

// convert makes a call that waits for a lock and gives back another one of its description when it begins to. It is
// tried without waiting, which gives that back as well; then it waits like others that have none.
func (d *driver) convert(p tracer.Pending) error {
	d.converts = false
	_, err := d.tries(p)
	return err
}

// tries makes a lock call without waiting, and reports whether the lock is held: then it has no answer.
func (d *driver) tries(p tracer.Pending) (held bool, err error) {
	p.Op = tracer.WithoutWait(p.Op)
	r, err := d.ask(p)
	if err != nil || notMade(r) || r.Errno == fsfake.EAGAIN {
		return r.Errno == fsfake.EAGAIN, err
	}
	d.reply = &reply{p.Task, r}
	return false, nil
}

// signalled makes a call for which a signal has arrived, or has that come first. The call does not wait: the signal
// ends that.
func (d *driver) signalled(p tracer.Pending) error {
	r, err := d.choose(p.Task, []string{strings.ReplaceAll(p.Op.String(), "\n", "\\n"), fsfake.WayOfSignal(p.Task)})
	switch {
	case err != nil || notMade(r):
		return err
	case r.N == 1:
		return d.run.Take(p.Task)
	case !p.Op.MayBlock():
		return d.goOn(p)
	case p.Op.Call == fsfake.CallSetlk && !d.waitsForRecord(p): // it may close a circle
		d.oneOrder([]tracer.Pending{p})
	}
	held, err := d.tries(p)
	if err != nil || !held {
		return err
	}
	return d.run.Answer(p.Task, fsfake.Result{Blocked: true})
}

// next lets a command go on to what it asks, once it has been told the answer to what it asked before, if that is left to tell. A call that waits, and that a signal has ended, has its
// answer: the machine does not know that it waits.
func next(run *tracer.Run, r *reply) (set []tracer.Pending, err error) {
	for {
		if r != nil {
			set, err = run.AnswerNext(r.task, r.answer)
		} else {
			set, err = run.Next()
		}
		i := slices.IndexFunc(set, func(p tracer.Pending) bool { return p.Interrupted })
		if err != nil || i < 0 {
			return set, err
		}
		r = &reply{set[i].Task, fsfake.Result{Errno: fsfake.EINTR}}
	}
}

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
		// The first is a sleep between attempts that all fail. What ends the attempts comes, and nothing else is
		// followed.
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
