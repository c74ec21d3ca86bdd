package command

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"lockpick/scenarios"
)

// Whether the order of file times matters. Changes share a time on the machine at first, so that there are few
// states. Before a verdict holds, some executions that were shown times are repeated: once each time shown is later
// than the one before, and once earlier. If a command then makes other calls, its verdict is that of a machine on
// which no two changes share a time.

// mostOrdered is how many paths of a command are repeated, mostListed of one that lists directories again.
const mostOrdered, mostListed = 8, 32

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
		again, seen, tried, names := s.rerun(i), map[*place]bool{}, 0, s.toggled()
		defer again.close()
		for _, end := range s.record.lateness(s.start(i)).ends {
			path := end.path()
			shown := timesShown(path, seen)
			if len(shown) == 0 || s.record.ordered[end.twin] {
				continue
			}
			if tried == mostListed || tried == mostOrdered && !again.lists {
				none = untried
				break
			}
			tried++
			is, err := again.differsByTimes(path, shown, names, tried)
			if err != nil || is != "" {
				return fmt.Sprintf("%s (%s) acts on the order of file times: when that is another one, it %s",
					scenarios.ProcessName(i), s.Commands[i], is), err
			}
			s.record.ordered[end.twin] = true
		}
	}
	return none, nil
}

// timesShown lists which answers of a path show times of files; none if seen has them all, which it has then. A file
// that nobody has changed yet has the times of the start in any case.
func timesShown(path []*place, seen map[*place]bool) (shown []int) {
	is := false
	for _, p := range path[1:] {
		if _, times := p.via.Shows(p.before.op); times && p.via.Stat.Ctime >= begin.UnixNano() {
			shown = append(shown, p.depth)
			is, seen[p] = is || !seen[p], true
		}
	}
	if !is {
		return nil
	}
	return shown
}

// differsByTimes says what a command does otherwise on a path, which is tried as the n-th, when the times that it is
// shown rise, or fall. Listings that it repeats then have or have not names.
func (s *rerun) differsByTimes(path []*place, shown []int, names []string, n int) (string, error) {
	for _, rise := range []bool{true, false} {
		for _, lists := range s.repeated(names, n, rise) {
			is, err := s.differsFrom(begin, path, shown, lists, rise)
			if err != nil {
				return "", err
			}
			if is != "" {
				if was, err := s.differsLate(path, nil, 0); err != nil || was == "" { // else not by the times
					return is, err
				}
			}
			if lists == nil || !lists.used {
				break
			}
			s.lists = true
		}
	}
	return "", nil
}

// differsFrom is differsByTimes of times before some time. A name that a command takes beside repeated listings, as
// py_compile makes one of an address, must be the same where all times are others.
func (s *rerun) differsFrom(last time.Time, path []*place, shown []int, lists *listings, rise bool) (string, error) {
	stamps := map[int]int64{}
	for n, at := range shown {
		if rise {
			n = len(shown) - n
		}
		stamps[at] = last.Add(-time.Duration(n) * time.Second).UnixNano()
	}
	port := s.latePort(path)
	port.stamps, port.listings = stamps, lists
	is, err := s.answered(port)
	if is == "" && err == nil && lists != nil && lists.claimed != "" && last == begin {
		again := &listings{stays: lists.stays, names: lists.names, there: lists.there}
		is, err = s.differsFrom(begin.Add(-longestDelay), path, shown, again, rise)
		if is == "" && again.claimed != lists.claimed {
			first, _, _ := strings.Cut(lists.claimed, "\n")
			is = "makes the call " + first
		}
	}
	return is, err
}
