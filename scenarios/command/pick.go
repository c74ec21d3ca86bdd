package command

import (
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/scenarios"
)

// Which call of a command goes on, where several of its children or threads are about to make one.

// pick takes the call that is let go on. Of several that can, which one is a choice of the
// schedule. A call that may block is one of them where [driver.triedBeside] says so. Otherwise it comes after all
// others, and the end of a wait comes last: that these could have gone on instead is noted. Beside a call that does not
// wait the end of a wait is not followed: the clock stands still while the call is made, and that is assumed. Beside
// calls that wait it is a choice where none of them would be granted. There is none when the first process was killed
// instead.
func (d *driver) pick(set []tracer.Pending) (*tracer.Pending, error) {
	if slices.ContainsFunc(set, func(p tracer.Pending) bool { return p.Missed }) {
		d.oneOrder(set)
	}
	if d.run.Peeked() {
		d.spec.record.looked()
	}
	if first := slices.IndexFunc(set, d.goesFirst); first >= 0 && len(set) > 1 && d.spec.mixed == 0 {
		d.overtakes(set, first)
		return &set[first], nil
	}
	d.overtaking, d.looked = nil, false
	set = d.awake(set)
	slices.SortStableFunc(set, func(a, b tracer.Pending) int { return rank(a) - rank(b) })
	timers := slices.IndexFunc(set, func(p tracer.Pending) bool { return rank(p) == 2 })
	if d.spec.ownOrders > 1 && len(set) > 1 && !d.orderKnown {
		r, err := d.choose(set[0].Task, ownOrders(d.spec.ownOrders))
		if err != nil || notMade(r) {
			return nil, err
		}
		d.orderKnown, d.order = true, uint64(r.N)
	}
	if d.spec.ownOrders > 0 || d.order > 0 {
		if len(set) > 1 {
			d.oneOrder(set)
		}
		return d.mixes(set), nil
	}
	free := 0
	for free < len(set) && rank(set[free]) == 0 {
		free++
	}
	calls, ways := len(set), free
	if timers >= 0 {
		calls = timers
	}
	switch {
	case calls == 0 && !d.spec.lasting: // timers that end at one time
		free, ways = len(set), len(set)
	case calls == 0 || len(set) > 64 || !d.triedBeside(set[:calls]): // ways that are shut are bits
	case free == 0 && calls > 1: // a timer goes off where no call is granted
		ways = len(set)
	case free > 0:
		ways = calls
	}
	if d.choices >= maxChoices {
		free, ways = min(free, 1), min(free, 1)
	}
	switch {
	case len(set) <= max(ways, 1):
	case timers == 0 && d.spec.lasting && set[0].Deadline < set[1].Deadline: // time says which comes first
	case d.timed(set):
		d.note(scenarios.TimersLast)
		if set[0].Task == d.stands { // it has chosen to wait on
			d.note(scenarios.TimedWait)
		}
	case ways > 0 && ways == calls && d.spec.Stalls == 0: // of all calls any can go on
		d.note(scenarios.TimersLast)
	case ways > 0 && ways == calls: // a stall may have brought the time of a timer
		d.oneOrder([]tracer.Pending{set[0], set[timers]})
	default:
		d.oneOrder(set)
	}
	if ways < 2 {
		return &set[0], nil
	}
	var lines []string
	looks := make([]bool, ways)
	for i, p := range set[:ways] {
		text := strings.ReplaceAll(p.Op.String(), "\n", "\\n") // of a name: each call is a line
		switch {
		case i < free:
			if looks[i] = d.looksUnseen(p); looks[i] {
				text = fsfake.WayThatLooks(text, p.Task, p.Op)
			}
		case i < calls:
			text = fsfake.WayThatWaits(p.Task, p.Op)
		default:
			text = fsfake.WayOfTimer(p.Op)
		}
		lines = append(lines, text)
	}
	r, err := d.choose(set[0].Task, lines)
	if err != nil || notMade(r) {
		return nil, err
	}
	if int(r.N) >= free || d.reduces() {
		d.note(scenarios.Chosen)
	}
	if d.looked = looks[r.N]; d.looked { // perhaps nobody else's turn is tried here, so that nobody may rest for it
		d.overtakes(set, int(r.N))
	} else {
		d.passOver(set, int(r.N))
	}
	d.converts = r.Value == (fsfake.Converts{})
	if r.Value == (fsfake.MustWait{}) {
		d.oneOrder(set[r.N:][:1])
	}
	if calls > 0 && int(r.N) >= calls {
		err = d.goesOff(set[:calls])
	}
	return &set[r.N], err
}

// triedBeside reports whether those calls of a set that wait need not begin to: each is a choice whenever it would be
// granted at once, and the command waits where that is true of none. See [fsfake.WayThatWaits].
//
// No order is lost. Take an execution in which a call waits from one moment to a later one. In the same execution it
// may begin at the later one, where nobody can tell whether it has begun before. That can be told where a record lock
// closes a cycle (EDEADLK), which takes a process that has one ([fsfake.MustWait]), where a signal has come for the
// call, where a thread beside it closes the descriptor, and where it gives a lock back when it begins, which
// [fsfake.Converts] says ([driver.convert]). No deadlock is added: a call that was chosen is made in the same step.
func (d *driver) triedBeside(set []tracer.Pending) bool {
	if s := d.spec; s.Inside != "" || s.FailingCalls > 0 || s.lasting || d.probes {
		return false // of a step of two calls the second begins no operation, and cannot fail
	}
	if d.stands != (fsfake.Task{}) { // one waits on the machine already
		return false
	}
	for _, p := range set {
		if !p.Op.MayBlock() || p.Signalled {
			continue
		}
		if !p.Op.Call.Is(fsfake.Locks | fsfake.Passes) {
			return false
		}
		if slices.ContainsFunc(set, func(q tracer.Pending) bool {
			return q.Task.Pid == p.Task.Pid && q.Task != p.Task &&
				(q.Op.Call.Is(fsfake.Closes) && q.Op.FD == p.Op.FD || q.Op.Call.Is(fsfake.Duplicates) && q.Op.FD2 == p.Op.FD)
		}) {
			return false
		}
	}
	return true
}

// choose makes a choice of the schedule among what the lines tell. The task is one that lives.
func (d *driver) choose(by fsfake.Task, lines []string) (fsfake.Result, error) {
	d.choices++
	d.chooser = by
	if _, ended := d.run.Exit(d.root); ended || d.killed {
		d.note(scenarios.By{Task: by})
	}
	return d.do(fsfake.Op{Call: fsfake.CallChoose, Len: int64(len(lines)), Data: strings.Join(lines, "\n")})
}

// maxChoices is how often an execution chooses among calls of its own; after that only one order
// of them is followed.
const maxChoices = 64

func rank(p tracer.Pending) int {
	switch {
	case p.Due, p.Signalled:
		return 0
	case p.Timer:
		return 2
	case p.Op.MayBlock():
		return 1
	}
	return 0
}
