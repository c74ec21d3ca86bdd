package command

import (
	"fmt"
	"regexp"
	"slices"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Whether time matters. The clocks of a command move by its own sleeps only. So before a verdict holds, each
// execution that looked at the time of day is repeated. It gets the same answers, but time has passed before the
// look. If the command then makes other calls, it depends on how long others take, which was not explored.

// delays are how much time is let pass. The longest shows whether time matters at all, the others how much does.
var delays = [...]time.Duration{
	time.Second, 15 * time.Second, time.Minute, 10 * time.Minute, time.Hour, 24 * time.Hour, 400 * 24 * time.Hour,
}

const (
	// mostLate is how many executions of one command are made later, at most.
	mostLate = 40
	// blindLate is how many are of a command that was not seen to look: the monotonic clock is read without a stop.
	blindLate = 3
	// afterLate is how many calls are compared after the time has passed.
	afterLate = 400
)

// A lateness is what was tried out of one command.
type lateness struct {
	looks []*place // where it had looked at the time of day
	ends  []*place
	tried int // looks
	blind bool
	found string
}

// add notes a place that is new.
func (l *lateness) add(p *place) {
	if slices.ContainsFunc(p.notes, func(v any) bool { return v == scenarios.ClockSeen{} }) && p.depth > 0 {
		l.looks = append(l.looks, p)
	}
	if p.ended {
		l.ends = append(l.ends, p)
	}
}

// late says of which command it is seen that time matters, and in what way; "" for none.
func (s *Spec) late() (string, error) {
	for i := range s.Commands {
		if s.Commands[i].Func != nil {
			continue
		}
		text, err := s.lateIs(i)
		if err != nil || text != "" {
			return text, err
		}
	}
	return "", nil
}

// lateIs is late of one command.
func (s *Spec) lateIs(process int) (string, error) {
	l := &s.record.late[process]
	looks := l.looks[l.tried:]
	l.tried = len(l.looks)
	if l.found != "" {
		return l.found, nil
	}
	for n := range min(len(looks), mostLate) {
		p := looks[n*len(looks)/min(len(looks), mostLate)]
		if text, err := s.tryLate(process, p.path(), p.depth); err != nil || text != "" {
			l.found = text
			return text, err
		}
	}
	if len(l.looks) > 0 || l.blind || len(l.ends) == 0 || s.hasEarlier(process) {
		return "", nil
	}
	l.blind = true
	path := l.ends[len(l.ends)-1].path()
	for n := range min(blindLate, len(path)-1) {
		if text, err := s.tryLate(process, path, 1+n*(len(path)-1)/blindLate); err != nil || text != "" {
			l.found = text
			return text, err
		}
	}
	return "", nil
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

// tryLate executes a command along a path, on which time passes after so many answers. It says what
// differs after the shortest delay that makes a difference.
func (s *Spec) tryLate(process int, path []*place, after int) (string, error) {
	longest := delays[len(delays)-1]
	if is, err := s.differsLate(process, path, after, longest); err != nil || is == "" {
		return "", err
	}
	if was, err := s.differsLate(process, path, after, 0); err != nil || was != "" { // not by the time
		return "", err
	}
	for _, d := range delays {
		is, err := s.differsLate(process, path, after, d)
		if err != nil {
			return "", err
		}
		if is != "" {
			return fmt.Sprintf("%s (%s) looks at the clock, which stood still. When %s more have passed it %s. "+
				"lockpick does not follow time here: try natively what the commands do after such a delay",
				scenarios.ProcessName(process), s.Commands[process], d, is), nil
		}
	}
	return "", nil
}

// differsLate says what a command does otherwise on a path when time passes on it; "" for nothing.
func (s *Spec) differsLate(process int, path []*place, after int, by time.Duration) (is string, err error) {
	anew := *s
	anew.record, anew.early = newRecord(len(s.Commands)), nil
	port := &latePort{path: path}
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
	t := scenarios.NewTask(port, process, 1)
	d := &driver{spec: &anew, t: t, process: process, root: scenarios.Pid(process), children: map[int]bool{}}
	d.passAt, d.passes = after, by
	if err := d.drive(); err != nil {
		if by == 0 {
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
}

// A lateEnd ends an execution: it says what differs, or "" when enough was seen.
type lateEnd string

// Do implements fsfake.Port.
func (p *latePort) Do(op fsfake.Op) fsfake.Result {
	was := p.path[p.at]
	switch {
	case was.ended:
		panic(lateEnd("makes the call " + brief(op.String()) + ", where it ended"))
	case !alikeButTimes(op, was.op):
		panic(lateEnd("makes the call " + brief(op.String()) + " and not " + brief(was.op.String())))
	}
	if p.at++; p.at == len(p.path) {
		panic(lateEnd(""))
	}
	return p.path[p.at].via
}

// Note implements fsfake.Port.
func (*latePort) Note(any) {}

// alikeButTimes reports whether two calls are the same, but for times and dates in names and texts.
func alikeButTimes(a, b fsfake.Op) bool {
	a.Path, b.Path = withoutTimes(a.Path), withoutTimes(b.Path)
	a.Path2, b.Path2 = withoutTimes(a.Path2), withoutTimes(b.Path2)
	a.Data, b.Data = withoutTimes(a.Data), withoutTimes(b.Data)
	a.Time, b.Time, a.Time2, b.Time2 = 0, 0, 0, 0 // of a sleep, or that a file is given
	a.Len, b.Len, a.Off, b.Off = 0, 0, 0, 0
	return a == b
}

func withoutTimes(text string) string { return dated.ReplaceAllString(text, "0") }

// dated are numbers, and names of days and months, in a text.
var dated = regexp.MustCompile(` *[0-9]+|\b(Mon|Tues?|Wed(nes)?|Thu(rs)?|Fri|Sat(ur)?|Sun)(day)?\b` +
	`|\b(Jan(uary)?|Feb(ruary)?|Mar(ch)?|Apr(il)?|May|June?|July?|Aug(ust)?|Sep(tember)?|Oct(ober)?|Nov(ember)?|Dec(ember)?)\b`)
