package scenarios

import (
	"fmt"
	"slices"

	"lockpick/fsfake"
	"lockpick/internal/numbers"
)

// A leftover is what an owner leaves that was killed after so many calls.
type leftover struct{ calls int }

func (l leftover) name() string { return fmt.Sprint(l.calls) }

func (l leftover) summary(pid, then string) string {
	return fmt.Sprintf("An owner was killed after %s; two days later its pid %s; %s.",
		numbers.Count(l.calls, "call", "calls"), pid, then)
}

// leftovers lists after how many calls a killed owner leaves another disk than before,
// each disk once.
func (s *Subject) leftovers() ([]leftover, error) {
	seen := [][]byte{s.diskAfter(0)}
	var out []leftover
	for calls := 1; ; calls++ {
		m := fsfake.New(fsfake.Options{})
		s.Setup(m)
		ended, err := s.own(m, calls)
		switch {
		case err != nil:
			return nil, fmt.Errorf("scenarios: a survey of %s: an owner alone: %w", s.ID, err)
		case ended:
			return out, nil // what is left after a release is for contention to show
		case calls == maxOwnerCalls:
			return nil, fmt.Errorf("scenarios: a survey of %s: an owner alone makes %d calls and is not done: does "+
				"it wait for somebody?", s.ID, calls)
		}
		if disk := s.diskAfter(calls); !slices.ContainsFunc(seen,
			func(d []byte) bool { return slices.Equal(d, disk) }) {
			seen = append(seen, disk)
			out = append(out, leftover{calls})
		}
	}
}

// diskAfter is what tells the disks apart that owners leave.
func (s *Subject) diskAfter(calls int) []byte {
	m := fsfake.New(fsfake.Options{})
	s.after(leftover{calls}, false)(m)
	return m.AppendKey(nil)
}

// after is a Setup: the subject's own, then an owner that is killed after its calls, and
// two days. reused: its pid is an unrelated process's then.
func (s *Subject) after(l leftover, reused bool) func(m *fsfake.Machine) {
	return func(m *fsfake.Machine) {
		s.Setup(m)
		m.SealImage() // the owner ran in the container
		_, _ = s.own(m, l.calls)
		m.Advance(surveyLong)
		if reused {
			m.AddProc(fsfake.ProcSpec{Pid: DeadPid, Parent: 1, Start: 900, Cwd: "/"})
		}
	}
}

// own lets an owner acquire, work and release, alone, and kills it after so many calls. It
// reports whether the owner ended before, and what it was told if it did not acquire.
func (s *Subject) own(m *fsfake.Machine, calls int) (ended bool, err error) {
	m.AddProc(fsfake.ProcSpec{Pid: DeadPid, Parent: 1, Start: 500, Cwd: "/", Tasks: 1})
	defer m.KillProc(DeadPid)
	port := &fewCalls{m: m, left: calls}
	t := &Task{Proc: fsfake.NewProc(port, DeadPid, 1), Process: ProcessName(MaxProcesses - 1), Index: MaxProcesses - 1}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case enough:
			ended, err = false, nil
		case unable:
			err = r.err
		default:
			panic(r)
		}
	}()
	err = Locked(t, s.Lock, func() { t.Work() })
	return true, err
}

// fewCalls is the port of an owner that is killed before the call after its last.
type fewCalls struct {
	m    *fsfake.Machine
	left int
}

// enough is what the owner panics with when it is killed, unable when it cannot go on.
type (
	enough struct{}
	unable struct{ err error }
)

func (p *fewCalls) Do(op fsfake.Op) fsfake.Result {
	if p.left == 0 {
		panic(enough{})
	}
	p.left--
	r := p.m.Do(fsfake.Task{Pid: DeadPid, N: 1}, op)
	switch {
	case r.Blocked:
		panic(unable{fmt.Errorf("%s blocks", op.Call)})
	case r.Unmodelled != "":
		panic(unable{fmt.Errorf("%s", r.Unmodelled)})
	}
	return r
}

func (*fewCalls) Note(any) {}
