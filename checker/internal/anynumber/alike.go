package anynumber

import (
	"fmt"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// A place says where a process is in what process 101 has done. So the program must do the same under other pids, with
// other pids in what it is told. Each edge is run again: once with all pids the other way round, so that each pair of
// them is in another order, and once with pids that are mixed. Where nobody has declared that all processes run the
// same program, it is run as each of them. What answers show beside pids is changed as well: see shown.go.

func reversed(pid int) int { return low + scenarios.MaxProcesses - 1 - (pid - low) }

func mixed(pid int) int {
	i := pid - low
	if i%2 == 1 {
		return low + 12 + (i+1)/2
	}
	return low + 12 - i/2
}

// swapped has process 101 and the one so many places further on change places.
func swapped(by int) func(int) int {
	return func(pid int) int {
		switch pid {
		case low:
			return low + by
		case low + by:
			return low
		}
		return pid
	}
}

// alike runs the program along each edge under other pids, and shows it other times and inode numbers. The error is a
// [Refused] where it does something else.
func (s *System) alike() error {
	renamings := []func(int) int{reversed, mixed}
	for by := 1; by < scenarios.MaxProcesses && !s.sc.Setting.Interchangeable; by++ {
		renamings = append(renamings, swapped(by))
	}
	for _, to := range renamings {
		if err := s.allAlike("as another process", to, func(int, fsfake.Call, *fsfake.Result) {}); err != nil {
			return err
		}
	}
	same := func(pid int) int { return pid }
	for _, show := range []shown{later, earlier, waited} {
		if err := s.allAlike("where times differ by nanoseconds", same, show); err != nil {
			return err
		}
	}
	for _, show := range []shown{larger, descending} {
		if err := s.allAlike("where inode numbers are others", same, show); err != nil {
			return err
		}
	}
	return nil
}

func (s *System) allAlike(where string, to func(int) int, show shown) error {
	for _, e := range s.edges {
		if path, err := s.follow(e); err != nil {
			return err
		} else if err := s.runsAlike(path, where, to, show); err != nil {
			return err
		}
	}
	return nil
}

func (s *System) runsAlike(path []edge, where string, to func(int) int, show shown) (err error) {
	process, _ := scenarios.ProcessOf(to(low))
	defer func() {
		if r := recover(); r != nil {
			err = Refused{fmt.Sprintf("process %s of the scenario does not start: %v", scenarios.ProcessName(process), r)}
		}
	}()
	code, err := s.start(process, 1)
	if err != nil {
		return err
	}
	defer code.Stop()
	i, result := 0, fsfake.Result{}
	return learn.Follow(code, nil, func(op *fsfake.Op, more bool, notes []any) (*fsfake.Result, error) {
		node, begins, err := s.expected(path, i)
		if err != nil {
			return nil, err
		}
		is, err := learn.Digest("a process", notes)
		if err != nil {
			return nil, err
		}
		if same := s.sameCall(node, *op, more, to) && sameEffects(begins, is, to); !same {
			return nil, Refused{fmt.Sprintf("the program does something else %s: %q in place of %q", where,
				learn.Told(*op, more), s.a.Node(node).Op.String())}
		}
		if i == len(path) {
			return nil, nil
		}
		result = retold(op.Call, *path[i].result, to)
		result.Data = renamed(result.Data, to)
		i++
		show(i, op.Call, &result)
		return &result, nil
	})
}

// expected is where the program is after so many edges, and what it has noted since the last call.
func (s *System) expected(path []edge, i int) (at uint32, noted learn.Effects, err error) {
	if i == 0 {
		return path[0].from, s.a.Node(path[0].from).Begins, nil
	}
	e, err := s.a.Learn(path[i-1].from, path[i-1].result)
	return e.To &^ learn.Begun, e.Effects, err
}

func (s *System) sameCall(at uint32, op fsfake.Op, more bool, to func(int) int) bool {
	nd := s.a.Node(at)
	if nd.Ended || !more {
		return nd.Ended && !more
	}
	was := nd.Op
	was.Path, was.Path2, was.Data = renamed(was.Path, to), renamed(was.Path2, to), renamed(was.Data, to)
	if _, ok := scenarios.ProcessOf(was.Pid); ok {
		was.Pid = to(was.Pid)
	}
	return op == was
}

// sameEffects compares what a proof makes use of.
func sameEffects(a, b learn.Effects, to func(int) int) bool {
	lock, _ := model.LockOf(a.Input)
	other, _ := model.LockOf(b.Input)
	return a.Holds == b.Holds && a.LetGo == b.LetGo && a.Failed == b.Failed && a.Invoked == b.Invoked &&
		a.Returned == b.Returned &&
		renamed(lock, to) == other && a.Holding.FD == b.Holding.FD && renamed(a.Holding.Path, to) == b.Holding.Path &&
		renamed(a.Holding.Lock, to) == b.Holding.Lock
}
