package command

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Whether random numbers matter, the parent, and access times. A process draws the same numbers in each execution,
// which could not be repeated otherwise. So before a verdict holds, each command runs alone with others. If it makes
// other calls then, what it does with the usual ones says nothing: it may lock by the toss of a coin, or take two locks
// in the order of a set in Python.

const (
	// usualSeed is that of all other executions. With otherSeeds others a command is tried, with manySeeds one of which
	// no execution makes more than manyCalls system calls, as those of a shell, and with idleSeeds one that was not
	// seen to draw.
	usualSeed, otherSeeds, manySeeds, manyCalls, idleSeeds = 1, 4, 12, 400, 1
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
		was, err := s.drawing(sc, i, usually{seed: usualSeed})
		told := seeded{s.start(i), fmt.Sprint(on, was, err)}
		if s.record.drawn[told] {
			s.record.drawn[with] = true
			continue
		}
		for n := uint64(0); n < s.record.seeds() && err == nil; n++ { // else it does not end alone, say
			now, failed := s.drawing(sc, i, usually{seed: usualSeed + 1 + n})
			if is := s.drawsOtherwise(was, now, failed); is != "" {
				return fmt.Sprintf("nothing broke it, but %s (%s) draws random numbers, and with others it %s. Only "+
					"some are tried: have it do the same whatever it draws",
					scenarios.ProcessName(i), s.Commands[i], is)
			}
		}
		if err == nil && len(s.Commands) > 1 {
			parent := scenarios.Pid((i + 1) % len(s.Commands)) // who lives, as a parent does
			if is := s.parentOrRead(sc, i, was, parent); is != "" {
				return is
			}
		}
		s.record.drawn[with], s.record.drawn[told] = true, true
	}
	return ""
}

// parentOrRead says that a command does something else with another parent, or where files have just been read; "" for
// neither. If both together make no difference, neither is tried alone.
func (s *Spec) parentOrRead(sc *scenarios.Scenario, i int, was []Step, parent int) string {
	now, failed := s.drawing(sc, i, usually{seed: usualSeed, parent: parent, read: true})
	if s.readsOtherwise(was, now, failed) == "" {
		return ""
	}
	now, failed = s.drawing(sc, i, usually{seed: usualSeed, parent: parent})
	if is := s.drawsOtherwise(was, now, failed); is != "" {
		return fmt.Sprintf("nothing broke it as long as all commands have one parent, as those of one shell, "+
			"but %s (%s) looks at the pid of its parent, and with another one, as cron gives to each, it %s. "+
			"Have it do the same whoever starts it", scenarios.ProcessName(i), s.Commands[i], is)
	}
	now, failed = s.drawing(sc, i, usually{seed: usualSeed, read: true})
	if is := s.readsOtherwise(was, now, failed); is != "" {
		return fmt.Sprintf("nothing broke it as long as reading a file changes no access time, as on a file "+
			"system mounted with noatime, but %s (%s) looks at one, and where others have just read the file, "+
			"it %s. Have it do the same whoever has read a file", scenarios.ProcessName(i), s.Commands[i], is)
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

// usually is what is the same in all executions but those of draws.
type usually struct {
	seed   uint64 // of random numbers
	parent int    // the pid of each command's parent, 0 for the usual one
	read   bool   // whoever looks at a file is told that it has been read since it was changed
}

// justRead is the answer to a call where somebody has just read the file that it looks at.
func justRead(r fsfake.Result) fsfake.Result {
	if is := &r.Stat; is.Atime != 0 {
		is.Atime = max(is.Atime, is.Mtime, is.Ctime) + int64(time.Second)
	}
	return r
}

// drawing is what a command does alone where that is otherwise.
func (s *Spec) drawing(sc *scenarios.Scenario, process int, with usually) ([]Step, error) {
	once, all := *s, *sc
	once.record, once.shared, once.early, once.Crashes, once.ownOrders = newRecord(), nil, nil, 0, 1
	once.usually, all.Program = with, once.program
	if seed := with.seed; seed != usualSeed { // in which order sets and hashes of Python and Perl are gone through
		once.Env = append(slices.Clip(s.Env), fmt.Sprint("PYTHONHASHSEED=", seed), fmt.Sprint("PERL_HASH_SEED=", seed))
	}
	port, err := once.alone(&all, sc.NewMachine(), process, false, nil, never, nil)
	s.record.mu.Lock()
	defer s.record.mu.Unlock()
	s.record.random = s.record.random || once.record.random
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

// readsOtherwise is drawsOtherwise where nothing but access times differs, which a copy may have from its original.
func (s *Spec) readsOtherwise(was, now []Step, failed error) string {
	if is := s.drawsOtherwise(was, now, failed); is != "" {
		return is
	}
	for n := range was {
		if was[n].Op.Data != now[n].Op.Data {
			return "writes or prints something else, in " + brief(now[n].Op.String())
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
