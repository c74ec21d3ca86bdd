package command

import (
	"fmt"
	"sync"
	"time"

	"lockpick/scenarios"
)

// Whether the order of file times matters. Changes share a time on the machine at first, so that there are few
// states. Before a verdict holds, some executions that were shown times are repeated: once each time shown is later
// than the one before, and once earlier. If a command then makes other calls, its verdict is that of a machine on
// which no two changes share a time.

// mostOrdered is how many paths of a command are repeated.
const mostOrdered = 8

const untried = "more paths than are repeated"

// tellsApart gives scenarios in which changes share times those in which they do not.
func (s *Spec) tellsApart(sc, strict *scenarios.Scenario) {
	if s.lasting || sc.Setting.Assume.Times != scenarios.TimesOpen {
		return
	}
	why := sync.OnceValues(s.actsOnTimes)
	both := s.readAgain(func(again *Spec) { again.Setting.Assume.Times = scenarios.TimesDiffer })
	for i, of := range []*scenarios.Scenario{sc, strict} {
		of.Apart = func() (*scenarios.Scenario, string, error) {
			who, err := why()
			if who == "" || who == untried || err != nil {
				return nil, who, err
			}
			r, err := both()
			return &r[i], who, err
		}
	}
}

// actsOnTimes says of which command it is seen that it acts on the order of file times; "" for none, and untried where
// not all paths were repeated.
func (s *Spec) actsOnTimes() (none string, err error) {
	for i := range s.Commands {
		if s.Commands[i].Func != nil || s.sameAs(i) != i {
			continue
		}
		again, seen, tried := s.rerun(i), map[*place]bool{}, 0
		defer again.close()
		for _, end := range s.record.lateness(s.start(i)).ends {
			path := end.path()
			shown := timesShown(path, seen)
			if len(shown) == 0 || s.record.ordered[end.twin] {
				continue
			}
			if tried == mostOrdered {
				none = untried
				break
			}
			tried++
			is, err := again.differsByTimes(path, shown)
			if err != nil || is != "" {
				return fmt.Sprintf("%s (%s) acts on the order of file times: when that is another one, it %s",
					scenarios.ProcessName(i), s.Commands[i], is), err
			}
			s.record.ordered[end.twin] = true
		}
	}
	return none, nil
}

// timesShown lists which answers of a path show times of files; none if seen has them all, which it has then.
func timesShown(path []*place, seen map[*place]bool) (shown []int) {
	is := false
	for _, p := range path[1:] {
		if _, times := p.via.Shows(p.before.op); times {
			shown = append(shown, p.depth)
			is, seen[p] = is || !seen[p], true
		}
	}
	if !is {
		return nil
	}
	return shown
}

// differsByTimes says what a command does otherwise on a path when the times that it is shown rise, or fall.
func (s *rerun) differsByTimes(path []*place, shown []int) (string, error) {
	for _, rise := range []bool{true, false} {
		stamps := map[int]int64{}
		for n, at := range shown {
			if rise {
				n = len(shown) - n
			}
			stamps[at] = begin.Add(-time.Duration(n) * time.Second).UnixNano()
		}
		is, err := s.answered(&latePort{path: path, stamps: stamps})
		if err != nil || is == "" {
			if err != nil {
				return "", err
			}
			continue
		}
		if was, err := s.differsLate(path, nil, 0); err != nil || was == "" { // else not by the times
			return is, err
		}
	}
	return "", nil
}
