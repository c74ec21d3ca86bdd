package command

import (
	"cmp"
	"fmt"
	"slices"

	"lockpick/scenarios"
)

// In which settings a repair has to hold, and whether its commands still do what they did.

// mostKilledRuns bounds what a kill may take: children that go on side by side have many orders then. What holds
// without is printed without waiting for that.
const mostKilledRuns = 150

// Trials are the settings in which a repair has to hold: as the commands were asked about; with one that is killed; and
// with one process more, of each command, where there were several.
func (r *Repair) Trials() []Trial {
	n := len(r.Spec.Commands)
	r.Spec.Share()
	of := func(commands []Line) Spec {
		more := r.Spec.changed(commands, r.Spec.Files)
		more.shared = r.Spec.shared
		return more
	}
	count := func(n int) string { return fmt.Sprintf("%d process%s", n, map[bool]string{false: "es"}[n == 1]) }
	trials := []Trial{{count(n), r.Spec}}
	for i, l := range r.Spec.Commands {
		same := l.same
		if n == 1 || n == scenarios.MaxProcesses || slices.IndexFunc(r.Spec.Commands, same) < i {
			continue
		}
		name := count(n + 1)
		if !same(r.Spec.Commands[0]) || !slices.ContainsFunc(r.Spec.Commands[1:], same) {
			name += fmt.Sprintf(" (%s twice)", scenarios.ProcessName(i))
		}
		trials = append(trials, Trial{name, of(append(slices.Clone(r.Spec.Commands), l))})
	}
	if r.Spec.Crashes == 0 { // last, for it takes the longest; which calls go first is another question then
		killed := r.Spec.changed(r.Spec.Commands, r.Spec.Files)
		killed.Crashes, killed.mostRuns, killed.shared = 1, mostKilledRuns, r.Spec.shared
		who := "" // what that has started goes on, and has the lock
		if !slices.ContainsFunc(killed.Commands, func(l Line) bool { return !l.underFlock() }) {
			who = " of flock"
		}
		trials = append(trials, Trial{count(n) + " and a kill" + who + " at any call", killed})
	}
	return trials
}

// underFlock reports whether a command is one that flock(1) starts and waits for.
func (l Line) underFlock() bool {
	words := l.argv()
	return l.Func == nil && words[0] == "flock" && len(words) > 1 && words[1] != "-F"
}

// Copies is a scenario of two copies of each repaired command, in which nothing is asked, for a proof for more of them.
// It is nil where none may be asked for: something disturbs the commands, or they may refuse.
func (r *Repair) Copies() (*scenarios.Scenario, error) {
	_, sc, err := r.copies()
	return sc, err
}

// copies is Copies, with the spec of the scenario.
func (r *Repair) copies() (*Spec, *scenarios.Scenario, error) {
	s := r.Spec.changed(r.Spec.Commands, r.Spec.Files)
	commands := slices.CompactFunc(slices.Clone(s.Commands), func(l, m Line) bool { return l.same(m) })
	s.Commands, s.shared = slices.Concat(commands, commands), r.Spec.shared
	if len(r.Spec.Commands) == 1 || len(s.Commands) > scenarios.MaxProcesses || s.mayRefuse() || s.Left ||
		s.Crashes+s.PowerLosses+s.FailingCalls+s.Stalls > 0 || s.Skew != nil || s.Inside != "" || len(s.Living) > 0 {
		return nil, nil, nil
	}
	s.Dir = cmp.Or(s.Dir, defaultDir)
	if err := s.validate(); err != nil {
		return nil, nil, err
	}
	sc, err := s.bare()
	return &s, &sc, err
}

// A Trial is one setting of a repair.
type Trial struct {
	Name string
	Spec Spec
}

// KilledAlone are the settings in which each command, as it is, is killed with nobody beside it, and one in which all
// run. What a kill breaks there of commands that run one after the other no lock mends.
func (s *Spec) KilledAlone() (out []Trial) {
	commands := slices.CompactFunc(slices.Clone(s.Commands), Line.same)
	for i := range commands {
		out = append(out, Trial{commands[i].String(), s.changed(commands[i:i+1], s.Files)})
	}
	if len(s.Commands) > 1 {
		out = append(out, Trial{"all", s.changed(s.Commands, s.Files)})
	}
	for i := range out {
		out[i].Spec.Crashes, out[i].Spec.shared = 1, s.shared
	}
	return out
}

// SameAlone reports whether each command, alone, still does what it did: it ends as it did, has printed what it
// printed, and leaves what it left, beside the lock file. A repair that does nothing, or refuses always, would hold
// otherwise.
func (s *Spec) SameAlone(r *Repair) (bool, error) {
	ignore := append(slices.Clone(s.Ignore), r.Lock)
	for i, f := range r.Spec.Files { // a script of the directory is what was changed
		if s.Files[i].Content != f.Content {
			ignore = append(ignore, f.Name)
		}
	}
	r.Spec.Share()
	if r.around() { // nothing else is changed, so that it is enough to see one order of a command's own calls
		before, err := s.firstEnds(ignore, true)
		if after, failed := r.Spec.firstEnds(ignore, true); err == nil && failed == nil && slices.Equal(before, after) {
			return true, nil
		}
	}
	before, err := s.firstEnds(ignore, false)
	if err != nil {
		return false, err
	}
	after, err := r.Spec.firstEnds(ignore, false)
	return slices.Equal(before, after), err
}

// firstEnds are the outcomes of each command alone, as text.
func (s *Spec) firstEnds(ignore []string, once bool) (out []string, err error) {
	for i := range s.Commands {
		one, ends, err := s.endsOf(i, ignore, once)
		if err != nil {
			return nil, err
		}
		for _, e := range ends {
			if e.m != nil {
				out = append(out, one.outcome(scenarios.NewView(e.m)).Key(nil))
			}
		}
	}
	return out, nil
}

// endsOf runs a command alone in every order of its own calls, or once in the first, as the process that it is.
func (s *Spec) endsOf(process int, ignore []string, once bool) (one Spec, ends []aloneEnd, err error) {
	one = s.changed(s.Commands, s.Files)
	if !once {
		one.Commands, process = s.Commands[process:process+1], 0
	}
	one.Ignore = slices.DeleteFunc(slices.Clone(ignore), func(n string) bool { return n == "" })
	one.Dir, one.Crashes, one.shared = cmp.Or(one.Dir, defaultDir), 0, s.shared
	if err := one.validate(); err != nil {
		return one, nil, err
	}
	sc, err := one.bare()
	if err != nil {
		return one, nil, err
	}
	if m := sc.NewMachine(); once {
		_, err = one.alone(&sc, m, process, false, nil, never, nil)
		return one, []aloneEnd{{m: m}}, err
	}
	ends, err = one.everyWay(&sc, sc.NewMachine(), 0, false, false)
	return one, ends, err
}
