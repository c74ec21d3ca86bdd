package anynumber

import (
	"errors"
	"slices"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A refusal says what is met that views do not have; it is empty where there is nothing.
type refusal string

// refuse notes the first refusal. No step is made from there on.
func (s *System) refuse(why string) {
	if s.why == "" {
		s.why = refusal(why)
	}
}

// refused is the refusal as an error.
func (s *System) refused() error {
	if s.why == "" {
		return nil
	}
	return Refused{string(s.why)}
}

// Refused is why a question is not asked for any number of processes.
type Refused struct{ Why string }

// Error implements error.
func (r Refused) Error() string { return r.Why }

// Met is the call of process A at which the search met its refusal, and where that stands in the source. It is empty
// where the setting was refused, or the files at the start.
func (s *System) Met() (call string, at scenarios.Source) {
	if s.why == "" || s.calls == 0 {
		return "", at
	}
	code, err := s.start(0, 1)
	if err != nil {
		return "", at
	}
	defer code.Stop()
	located, _ := code.(learn.Located)
	if located != nil {
		located.Locate()
	}
	var path []edge
	if e, ok := s.via[s.calls]; ok {
		path, err = s.follow(e)
	}
	i := 0
	err = errors.Join(err, learn.Follow(code, nil, func(op *fsfake.Op, more bool, _ []any) (*fsfake.Result, error) {
		if i == len(path) || !more {
			if call = op.String(); located != nil {
				at = located.Source()
			}
			return nil, nil
		}
		i++
		return path[i-1].result, nil
	}))
	if err != nil {
		return "", scenarios.Source{}
	}
	return call, at
}

// directories keeps which directories a call lists, removes or moves.
func (s *System) directories(m *fsfake.Machine, op fsfake.Op) {
	switch {
	case op.Call == fsfake.CallReaddir:
		s.listed = true
	case op.Call == fsfake.CallRmdir || op.Call == fsfake.CallRename:
		for _, p := range []string{op.Path, op.Path2} {
			if id, ok := m.LookupName(p); ok && m.View(id).Kind == fsfake.KindDir {
				s.emptied = append(s.emptied, m.Paths(id)...)
			}
		}
	}
}

// othersNamed is met where a program may say a name that holds the pid of another process.
const othersNamed = "a name that holds the pid of another process is used"

// sizeSeen is met where a program looks at a size, and is not told sizes.
const sizeSeen = "a size is looked at"

func (s *System) namesOthers() {
	if !s.names {
		s.refuse(othersNamed)
	}
}

// hides refuses programs for which the answer of a call hangs on names that hold pids of processes that no view
// names: a directory with such names is listed, removed or moved. Directories are told apart by their paths, which is
// stricter.
func (s *System) hides(m *fsfake.Machine, snap *fsfake.Snapshot) {
	for i := range snap.Inodes {
		n := &snap.Inodes[i]
		if n.Kind == fsfake.KindFIFO {
			s.refuse("there is a FIFO, and what a call answers may hang on who has it open")
		}
		if n.Kind == fsfake.KindSymlink && len(pidsIn(n.Data)) > 0 {
			s.namesOthers()
		}
		if slices.ContainsFunc(n.Names, func(e fsfake.SnapshotName) bool { return len(pidsIn(e.Name)) > 0 }) {
			s.pidDirs = append(s.pidDirs, m.Paths(n.ID)...)
		}
	}
	slices.Sort(s.pidDirs)
	s.pidDirs = slices.Compact(s.pidDirs)
	slices.Sort(s.emptied)
	s.emptied = slices.Compact(s.emptied)
	for _, dir := range s.pidDirs {
		if s.listed || slices.Contains(s.emptied, dir) {
			s.refuse("names in " + dir + " hold pids, and a directory is listed, or this one removed or moved")
		}
	}
}

// looksAtTime notes that a program looks at the clock or at a file time. Where nobody sleeps, the clock moves by the
// nanoseconds by which changes show in file times (scenarios.TimesShow), if at all.
func (s *System) looksAtTime(is bool) {
	s.timed = s.timed || is
	switch times := s.sc.Setting.Assumed().Times; {
	case s.timed && s.slept:
		s.refuse("the program sleeps and looks at the clock or a file time, so time passes")
	case s.timed && times != scenarios.TimesOpen && times != scenarios.TimesShared:
		s.refuse("the program looks at the clock or a file time, and the setting has changes differ in theirs")
	}
}

// called is a call of the automaton as a process makes it.
func (s *System) called(p *Proc, op fsfake.Op) fsfake.Op {
	if !op.Viewed() {
		s.refuse("the call is not modelled for any number of processes: " + op.String())
	}
	if op.Call == fsfake.CallFlock {
		if op.Flags&^fsfake.LOCK_NB == fsfake.LOCK_SH {
			s.refuse("a lock is shared: " + op.String())
		}
		if op.Flags&fsfake.LOCK_NB == 0 && slices.ContainsFunc(p.FDs, func(f fsfake.SnapshotFD) bool {
			return f.FD == op.FD && f.Flock == fsfake.LOCK_SH
		}) {
			s.refuse("a shared lock is converted: " + op.String())
		}
	}
	s.slept = s.slept || op.Call == fsfake.CallSleep
	s.looksAtTime(op.Call == fsfake.CallNow)
	record := op.Call == fsfake.CallSetlk || op.Call == fsfake.CallOFDSetlk
	switch {
	case record && op.Flags == fsfake.F_RDLCK:
		s.refuse("a record lock is shared: " + op.String())
	case record && op.Wait && len(p.Records) > 0: // who waits with none is in no cycle of waits
		s.refuse("a process waits for a record lock and has another, which may be a deadlock (EDEADLK): " + op.String())
	}
	real := func(q int) int {
		if q == low {
			return p.Pid
		}
		if i := q - low - 1; i < len(p.Place.Told) {
			return p.Place.Told[i]
		}
		s.refuse("it names a process that it was not told of: " + op.String())
		return p.Pid
	}
	if slices.ContainsFunc(pidsIn(op.Path+" "+op.Path2), func(q int) bool { return q != low }) {
		s.namesOthers()
	}
	op.Path, op.Path2, op.Data = renamed(op.Path, real), renamed(op.Path2, real), renamed(op.Data, real)
	if _, ok := scenarios.ProcessOf(op.Pid); ok {
		op.Pid = real(op.Pid)
	}
	return op
}

// seesNothing refuses a program that looks at what views do not have.
func (s *System) seesNothing(e learn.Effects) {
	s.looksAtTime(e.Seen.Has(fsfake.TimeSeen))
	switch {
	case e.Seen.Has(scenarios.ClockSeen | scenarios.TimersLast | scenarios.TimedWait):
		s.refuse("the program looks at the clock")
	case e.Seen.Has(fsfake.SizeSeen|fsfake.NumberSeen) && !s.sizes: // whoever gets a number itself, gets all
		s.refuse(sizeSeen)
	case e.Seen.Has(scenarios.Mapped | scenarios.OneOrder):
		s.refuse("the program maps a file, or has threads")
	}
}
