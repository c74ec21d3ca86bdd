package command

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"

	"lockpick/scenarios"
)

// Whether random numbers matter. A process draws the same ones in each execution, which could not be repeated
// otherwise. So before a verdict holds, each command runs alone with others. If it makes other calls then, what it does
// with the usual ones says nothing: it may lock by the toss of a coin, or take two locks in the order of a set in
// Python.

const (
	// usualSeed is that of all other executions. With otherSeeds others a command is tried, with manySeeds one of which
	// no execution makes more than manyCalls system calls, as those of a shell.
	usualSeed, otherSeeds, manySeeds, manyCalls = 1, 4, 12, 400
	// rare is in how many letters two names differ that no two processes draw alike: each draws another one, so that is
	// followed.
	rare = 3
)

// draws says of which command it is seen that random numbers matter; "" for none.
func (s *Spec) draws(sc *scenarios.Scenario) string {
	for i := range s.Commands {
		if s.Commands[i].Func != nil || s.hasEarlier(i) {
			continue
		}
		// A trial of a repair begins as the one before did, or is at least told the same with the usual numbers.
		on := fmt.Sprintf("%x %v", s.filesDigest(), sc.Setting.Machine)
		with := seeded{s.start(i), fmt.Sprint(on, sc.Setting.Assume)}
		if s.record.drawn[with] {
			continue
		}
		was, err := s.drawing(sc, i, usualSeed, 0)
		told := seeded{s.start(i), fmt.Sprint(on, was, err)}
		if s.record.drawn[told] {
			s.record.drawn[with] = true
			continue
		}
		seeds := uint64(otherSeeds)
		if s.record.makes() <= manyCalls {
			seeds = manySeeds
		}
		for n := uint64(0); n < seeds && err == nil; n++ { // else it does not end alone, say
			now, failed := s.drawing(sc, i, usualSeed+1+n, 0)
			if is := s.drawsOtherwise(was, now, failed); is != "" {
				return fmt.Sprintf("nothing broke it, but %s (%s) draws random numbers, and with others it %s. Only "+
					"some are tried: have it do the same whatever it draws",
					scenarios.ProcessName(i), s.Commands[i], is)
			}
		}
		if other := (i + 1) % len(s.Commands); err == nil && other != i { // who lives, as a parent does
			now, failed := s.drawing(sc, i, usualSeed, scenarios.Pid(other))
			if is := s.drawsOtherwise(was, now, failed); is != "" {
				return fmt.Sprintf("nothing broke it as long as all commands have one parent, as those of one shell, "+
					"but %s (%s) looks at the pid of its parent, and with another one, as cron gives to each, it %s. "+
					"Have it do the same whoever starts it", scenarios.ProcessName(i), s.Commands[i], is)
			}
		}
		s.record.drawn[with], s.record.drawn[told] = true, true
	}
	return ""
}

// A seeded is what was run with other random numbers: a command, and what it was run on, or what it does and is told
// there with the usual ones.
type seeded struct {
	start start
	on    string
}

// filesDigest tells files of the start apart, which may be many megabytes.
func (s *Spec) filesDigest() []byte {
	h := sha256.New()
	for _, f := range s.Files {
		text := f.Content
		f.Content = ""
		fmt.Fprintf(h, "%#v %d %s\n", f, len(text), text)
	}
	return h.Sum(nil)
}

// drawing is what a command does alone with the random numbers of a seed, and a parent; 0 for the usual one.
func (s *Spec) drawing(sc *scenarios.Scenario, process int, seed uint64, parent int) ([]Step, error) {
	once, all := *s, *sc
	once.record, once.shared, once.early, once.Crashes, once.ownOrders = newRecord(), nil, nil, 0, 1
	once.seed, once.parent, all.Program = seed, parent, once.program
	if seed != usualSeed { // in which order sets and hashes of Python and Perl are gone through
		once.Env = append(slices.Clip(s.Env), fmt.Sprint("PYTHONHASHSEED=", seed), fmt.Sprint("PERL_HASH_SEED=", seed))
	}
	port, err := once.alone(&all, sc.NewMachine(), process, false, nil, never, nil)
	return port.steps, err
}

// drawsOtherwise says what a command does otherwise in the second of two runs, which may have failed; "" for nothing.
func (s *Spec) drawsOtherwise(was, now []Step, failed error) string {
	if failed != nil {
		return "makes no end: " + failed.Error()
	}
	then, names := s.names(was), s.names(now)
	alike := func(a, b string) bool { return a == b || !then[b] && !names[a] && differ(a, b) >= rare }
	for n := range max(len(was), len(now)) {
		if n == len(now) {
			return "ends, where it made the call " + brief(was[n].Op.String())
		}
		if n == len(was) {
			return "makes the call " + brief(now[n].Op.String()) + ", where it ended"
		}
		a, b := &was[n].Op, &now[n].Op
		if a.Call != b.Call || a.Flags != b.Flags || a.FD != b.FD ||
			!alike(a.Path, b.Path) || !alike(a.Path2, b.Path2) {
			return "makes the call " + brief(b.String()) + " and not " + brief(a.String())
		}
	}
	return ""
}

// names are all that a run uses, and those of the start.
func (s *Spec) names(steps []Step) map[string]bool {
	all := map[string]bool{}
	for _, f := range s.Files {
		all[s.at(strings.TrimSuffix(f.Name, "/"))] = true
	}
	for i := range steps {
		all[steps[i].Op.Path], all[steps[i].Op.Path2] = true, true
	}
	return all
}

// differ is in how many letters two names differ between what both begin and end with, in the shorter one.
func differ(a, b string) int {
	for a != "" && b != "" && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for a != "" && b != "" && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	return min(len(a), len(b))
}
