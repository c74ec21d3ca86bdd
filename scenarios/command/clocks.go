package command

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"sync"
	"time"

	"lockpick/fsfake"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
)

// Whether time matters. The clocks of a command move by its own sleeps only. So before a verdict holds, each
// execution that looked at the time of day is repeated. It gets the same answers, but time has passed before the
// look, or before each of its looks. If the command then makes other calls, it depends on how long others take, which
// was not explored.

// longestDelay is how much time is let pass to see whether time matters: such that the second, the minute, the hour and
// the day are others then. clockEnds is how far the clock can go.
const longestDelay, clockEnds = 400*24*time.Hour + time.Hour + time.Minute + time.Second, 200 * 365 * 24 * time.Hour

const (
	// mostLate is how many executions of one command are made with time passing once, and as many with time
	// passing again and again.
	mostLate = 40
	// blindLate is how many are of a command that was not seen to look: the monotonic clock is read without a stop.
	blindLate = 3
	// soonLate is how many paths of one command are tried where it is enough to show one.
	soonLate = 3
	// afterLate is how many calls are compared after the time has passed.
	afterLate = 400
)

// movesClocks gives scenarios in which clocks stand still those in which they move, and the other way round.
func (s Spec) movesClocks(sc, strict *scenarios.Scenario) {
	switch {
	case s.Punctual != nil:
		return
	case s.Stalls > 0 || s.Skew != nil:
		both := s.readAgain(func(again *Spec) {
			again.Stalls, again.StallFor, again.Skew, again.lasting = 0, 0, nil, false
		})
		sc.AnySleep = func() (scenarios.Scenario, error) { r, err := both(); return r[0], err }
		strict.AnySleep = func() (scenarios.Scenario, error) { r, err := both(); return r[1], err }
		return
	case s.lasting:
		return
	}
	both := s.readAgain(func(again *Spec) { again.lasting, again.ownOrders = true, 0 })
	sc.InTime = func() (scenarios.Scenario, error) { r, err := both(); return r[0], err }
	strict.InTime = func() (scenarios.Scenario, error) { r, err := both(); return r[1], err }
}

// readAgain makes the scenarios of a changed spec when they are asked for: as it is to be read, and strictly.
func (s Spec) readAgain(change func(*Spec)) func() ([2]scenarios.Scenario, error) {
	return sync.OnceValues(func() ([2]scenarios.Scenario, error) {
		change(&s)
		in, strictly, err := s.Readings()
		return [...]scenarios.Scenario{in, strictly}, err
	})
}

// A lateness is what was tried out of one command.
type lateness struct {
	looks []*place // where it had looked at the time of day
	ends  []*place
	blind bool // it was tried blindly
	found string
	slept time.Duration // the longest sleep
}

// lateTries are what was tried out of all commands. Processes that have come to a place alike are tried as one.
type lateTries struct {
	// tried are looks and ends of paths, passed the looks on those paths, begun ends with a later beginning.
	tried, passed, begun map[twin]bool
}

func (r *record) lateness(of start) *lateness {
	if r.late[of] == nil {
		r.late[of] = &lateness{}
	}
	return r.late[of]
}

// add notes a place that is new.
func (l *lateness) add(p *place) {
	if p.op.Call == fsfake.CallSleep {
		l.slept = max(l.slept, time.Duration(p.op.Time))
	}
	if p.depth > 0 && p.looks() {
		l.looks = append(l.looks, p)
	}
	if p.ended {
		l.ends = append(l.ends, p)
	}
}

// looks reports whether the command had looked at a clock when it came here.
func (p *place) looks() bool {
	return p.before != nil && p.before.op.Call == fsfake.CallNow || slices.Contains(p.notes, any(scenarios.ClockSeen))
}

// untried counts the looks before which no time has passed in any trial.
func (l *lateness) untried(of *lateTries) (n int) {
	for _, p := range l.looks {
		if !of.tried[p.twin] && !of.passed[p.twin] {
			n++
		}
	}
	return n
}

// late says of which command it is seen that time matters, and in what way; "" for none. quickly: a few executions of
// each are repeated, and how long it takes to matter is not tried out.
func (s *Spec) late(ctx context.Context, quickly bool) (string, error) {
	for i := range s.Commands {
		if s.Commands[i].Func != nil {
			continue
		}
		text, err := s.lateIs(ctx, i, quickly)
		if err != nil || text != "" {
			return text, err
		}
	}
	return "", nil
}

// lateIs is late of one command.
func (s *Spec) lateIs(ctx context.Context, process int, quickly bool) (string, error) {
	l := s.record.lateness(s.start(process))
	if l.found != "" {
		return l.found, nil
	}
	again := s.rerun(process)
	defer again.close()
	if quickly {
		return again.lateSoon(l.ends)
	}
	try := func(path []*place, after ...int) (is bool, err error) {
		if err = ctx.Err(); err == nil {
			l.found, err = again.tryLate(path, after)
		}
		return l.found != "" || err != nil, err
	}
	of := &s.record.lateTries
	for _, end := range someOf(l.ends, mostLate, of.tried) {
		path := end.path()
		if looks := looksOn(path); len(looks) > 0 {
			for _, n := range looks {
				of.passed[path[n].twin] = true
			}
			if is, err := try(path, looks...); is {
				return l.found, err
			}
		}
	}
	if again.atStart = !s.lasting; again.atStart { // a look before the first call is seen nowhere
		for _, end := range someOf(l.ends, mostLate, of.begun) {
			if is, err := try(end.path()); is {
				return l.found, err
			}
		}
		again.atStart = false
	}
	for _, look := range someOf(l.looks, mostLate, of.tried) {
		if is, err := try(look.path(), look.depth); is {
			return l.found, err
		}
	}
	if n := l.untried(of); n > 0 {
		return fmt.Sprintf("%s (%s) looks at the clock in %d places, in %d of which it was not tried whether time "+
			"matters: have it look less often",
			scenarios.ProcessName(process), s.Commands[process], len(l.looks), n), nil
	}
	if len(l.looks) > 0 || l.blind || len(l.ends) == 0 || s.hasEarlier(process) {
		return "", nil
	}
	l.blind = true
	path := l.ends[len(l.ends)-1].path()
	var every []int
	for n := 1; n < len(path); n++ {
		every = append(every, n)
	}
	if is, err := try(path, every...); is {
		return l.found, err
	}
	for n := range min(blindLate, len(path)-1) {
		if is, err := try(path, 1+n*(len(path)-1)/blindLate); is {
			return l.found, err
		}
	}
	return "", nil
}

// someOf takes so many places at most, evenly, that were not tried, and notes that they are.
func someOf(places []*place, most int, tried map[twin]bool) (out []*place) {
	places = slices.DeleteFunc(slices.Clone(places), func(p *place) bool { return tried[p.twin] })
	for n := range min(len(places), most) {
		p := places[n*len(places)/min(len(places), most)]
		tried[p.twin] = true
		out = append(out, p)
	}
	return out
}

// looksOn lists after which answers of a path the command looks at the clock.
func looksOn(path []*place) (after []int) {
	for _, p := range path {
		if p.depth > 0 && p.looks() {
			after = append(after, p.depth)
		}
	}
	return after
}

// lateSoon says what a command does otherwise when time passes before all looks of one of the first paths.
func (s *rerun) lateSoon(ends []*place) (is string, err error) {
	for _, end := range ends[:min(len(ends), soonLate)] {
		path := end.path()
		if looks := looksOn(path); len(looks) > 0 && is == "" && err == nil {
			is, err = s.differsOnlyLate(path, looks, delay(looks))
		}
	}
	return is, err
}

// delay is how much time passes at most before each of so many looks.
func delay(after []int) time.Duration {
	return min(longestDelay, clockEnds/time.Duration(max(1, len(after))))
}

// path lists the places from the beginning to this one and on, along what was learned first.
func (p *place) path() []*place {
	path := make([]*place, p.depth+1)
	for q := p; q != nil; q = q.before {
		path[q.depth] = q
	}
	for q := p.first; q != nil && len(path) < p.depth+afterLate; q = q.first {
		path = append(path, q)
	}
	return path
}

// tryLate executes a command along a path, on which time passes after each of so many answers. It says what
// differs after the shortest delay that makes a difference, to the second.
func (s *rerun) tryLate(path []*place, after []int) (string, error) {
	short, long := time.Duration(0), delay(after)
	is, err := s.differsOnlyLate(path, after, long)
	if err != nil || is == "" {
		return "", err
	}
	for long-short > time.Second {
		d := min(short+(long-short)/2, max(2*short, time.Second)).Truncate(time.Second)
		was, err := s.differsLate(path, after, d)
		switch {
		case err != nil:
			return "", err
		case was == "":
			short = d
		default:
			long, is = d, was
		}
	}
	late, early := numbers.Time(long), numbers.Time(short)
	who := fmt.Sprintf("%s (%s)", scenarios.ProcessName(s.process), s.Commands[s.process])
	if !s.lasting {
		return fmt.Sprintf("%s looks at the clock, which stood still. When %s more have passed it %s; after %s it does not. "+
			"lockpick does not follow time here: try natively what the commands do after such a delay", who, late, is,
			early), nil
	}
	when := fmt.Sprintf("When %s more have passed it %s; after %s it does not.", late, is, early)
	if len(after) > 1 {
		when = fmt.Sprintf("When %s more have passed before each of %d looks it %s.", late, len(after), is)
	}
	return fmt.Sprintf("nothing broke it as long as nobody is delayed, and %s looks at the clock. %s "+
		"Another delay may matter elsewhere; --stalls 1 --stall-for %s decides what one leads to", who, when, long), nil
}

// differsOnlyLate is differsLate of what a command does otherwise by the time alone.
func (s *rerun) differsOnlyLate(path []*place, after []int, by time.Duration) (string, error) {
	is, err := s.differsLate(path, after, by)
	if err != nil || is == "" {
		return "", err
	}
	if was, err := s.differsLate(path, after, 0); err != nil || was != "" {
		return "", err
	}
	return is, nil
}

// differsLate says what a command does otherwise on a path when time passes on it; "" for nothing.
func (s *rerun) differsLate(path []*place, after []int, by time.Duration) (string, error) {
	port := s.latePort(path)
	port.after, port.by, port.lasting, port.atStart, port.stays = after, by, s.lasting, s.atStart, s.stays
	port.made = &madeOfTime{exists: s.isThere, alone: len(s.Commands) == 1}
	is, err := s.answered(port)
	if port.made.used && is == "" {
		s.record.namesOfTime()
	}
	return is, err
}

// A rerun executes one command along paths that are known, with other answers. What it does after the same ones is not
// executed again, and executions go on from snapshots.
type rerun struct {
	*Spec
	process int
	atStart bool // time passes before the command begins
	lists   bool // it has listed a directory again when that had another time
	// known is what it does, by how much time has passed then.
	known map[time.Duration]*reran
}

// A reran is what was executed so.
type reran struct {
	record   *record
	learning scenarios.Learning
}

func (s *Spec) rerun(process int) *rerun {
	return &rerun{Spec: s, process: process, known: map[time.Duration]*reran{}}
}

// begunLater is what it does when it begins later by so much.
func (s *rerun) begunLater(by time.Duration) *reran {
	if s.known[by] == nil {
		s.close() // a search for the shortest delay has many
		s.known[by] = &reran{record: newRecord()}
	}
	return s.known[by]
}

func (s *rerun) close() {
	for by, r := range s.known { // order does not matter: all are closed
		r.learning.Close()
		delete(s.known, by)
	}
}

// answered executes the command along a path with other answers, and says what it does otherwise; "" for nothing.
func (s *rerun) answered(port *latePort) (is string, err error) {
	anew := *s.Spec
	anew.early, anew.Refused.Skips, anew.later = nil, true, 0 // all is told, as in the path
	if port.atStart {
		anew.later = port.by
	}
	known := s.begunLater(anew.later)
	anew.record = known.record
	path := port.path
	defer func() {
		switch e := recover().(type) {
		case nil:
		case lateEnd:
			is = string(e)
		case scenarios.Fault:
			err = e.Err
		default:
			panic(e)
		}
	}()
	t := scenarios.NewTask(port, s.process, 1)
	t.Learning = &known.learning
	d := &driver{spec: &anew, t: t, process: s.process, root: scenarios.Pid(s.process), children: map[int]bool{}}
	if err := d.recorded(); err != nil {
		if port.by == 0 && port.stamps == nil {
			return "", fmt.Errorf("command: whether time matters cannot be tried out: %w", err)
		}
		return "cannot be followed (" + err.Error() + ")", nil
	}
	if last := len(path) - 1; port.at < last || !path[last].ended {
		return fmt.Sprintf("ends, where it made the call %s", brief(path[port.at].op.String())), nil
	}
	return "", nil
}

// A latePort answers as on a path.
type latePort struct {
	path []*place
	at   int
	// lasting: looks are calls, and the time passes in their answers.
	lasting bool
	after   []int
	by      time.Duration
	passed  time.Duration
	atStart bool // it has passed before the beginning
	// stamps are the times of files that are shown instead, by the depth of the answer.
	stamps   map[int]int64
	listings *listings // that may come once more; nil for none
	// made, unless nil, tells names that are made of the time.
	made *madeOfTime
	// timed are descriptors of files with a time in their names, with the names now and then. own matches names with a
	// pid of the process in them, which no other process uses.
	timed map[int][2]string
	own   *regexp.Regexp
	given map[int64]int64 // times that it gives files now, by those that it gave them then
	// stays tells what has its name all the time; more counts looks at such files that the path has not.
	stays func(path string) bool
	more  int
}

// A lateEnd ends an execution: it says what differs, or "" when enough was seen.
type lateEnd string

func (s *rerun) latePort(path []*place) *latePort {
	return &latePort{path: path, timed: map[int][2]string{},
		own: regexp.MustCompile(fmt.Sprintf(`(^|\D)%d(\d{3})?(\D|$)`, scenarios.Pid(s.process)))}
}

// Do implements fsfake.Port.
func (p *latePort) Do(op fsfake.Op) fsfake.Result {
	was := p.path[p.at]
	if r, is := p.looksAgain(op); is {
		return r
	}
	if r, is := p.listings.again(p, op); is {
		return r
	}
	if p.made != nil && !was.ended {
		op = p.made.asBefore(op, was.op)
	}
	switch {
	case was.ended:
		panic(lateEnd("makes the call " + brief(op.String()) + ", where it ended"))
	case op.Call.Is(fsfake.Locks) && p.timed[op.FD][0] != p.timed[op.FD][1]:
		panic(lateEnd("locks " + p.timed[op.FD][0] + " and not " + p.timed[op.FD][1]))
	case !alikeButTimes(op, was.op) || p.claims(&op, &was.op) && !p.listings.claim(&op):
		panic(lateEnd("makes the call " + brief(op.String()) + " and not " + brief(was.op.String())))
	}
	if p.at++; p.at == len(p.path) {
		panic(lateEnd(""))
	}
	r := p.path[p.at].via
	if p.lateTimes(&op, &was.op); p.given[r.Stat.Mtime] != 0 {
		r.Stat.Mtime = p.given[r.Stat.Mtime]
	}
	if at, ok := p.stamps[p.at]; ok {
		r.Stat.Mtime, r.Stat.Ctime = at, at
	}
	p.opens(&op, &was.op, &r)
	if p.made != nil {
		r = p.made.now(r)
	}
	if p.lasting && op.Call == fsfake.CallNow {
		if slices.Contains(p.after, p.at) {
			p.passed += p.by
		}
		r.N += int64(p.passed)
	}
	if !p.lasting && !p.atStart && p.by > 0 && slices.Contains(p.after, p.at) {
		r.Value = delayed{p.by, r.Value}
	}
	return r
}

// delayed is the value of an answer after which so much time passes.
type delayed struct {
	by    time.Duration
	value any
}

// withoutDelay is an answer as a program is told it, and how much time passes after it.
func withoutDelay(r fsfake.Result) (fsfake.Result, time.Duration) {
	d, _ := r.Value.(delayed)
	if d.by > 0 {
		r.Value = d.value
	}
	return r, d.by
}

// lateTimes notes which other time a call gives a file.
func (p *latePort) lateTimes(op, was *fsfake.Op) {
	if op.Time2 != was.Time2 && p.given == nil {
		p.given = map[int64]int64{}
	}
	if op.Time2 != was.Time2 {
		p.given[was.Time2] = op.Time2
	}
}

// Note implements fsfake.Port.
func (*latePort) Note(any) {}
