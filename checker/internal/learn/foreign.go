package learn

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A program is one goroutine. What it does besides, in goroutines that it has started, cannot be
// scheduled: a call from one is a fault. Out of turn, which is while the program itself waits in
// a call, every such call is noticed. In turn, which is while the program waits for its
// goroutine, it stands for the program's own: whoever makes it is looked up, which costs a walk
// over the stack, for each call once, when it is learned.

// Whose turn it is: the driver's, the program's, or the program's while it is unwound.
const (
	waiting = iota
	running
	stopping
)

// faults are those of the programs that one starter starts: what a goroutine does wrong is
// told by whichever program runs next.
type faults struct{ first atomic.Pointer[error] }

func (f *faults) add(err error) { f.first.CompareAndSwap(nil, &err) }

// seen is asked after every call, so it takes no lock.
func (f *faults) seen() error {
	if err := f.first.Load(); err != nil {
		return *err
	}
	return nil
}

// outOfTurn is called for a call that is made while it is not the program's turn. It returns
// only for deferred calls of a program that is unwound, which are refused.
func (f *function) outOfTurn(op fsfake.Op) {
	own := isOwn()
	if own && f.state.Load() == stopping {
		return
	}
	f.faults.add(f.foreign(op))
	if own { // a goroutine stands for the program: it cannot go on
		select {}
	}
	runtime.Goexit()
}

// foreign is the error for a call from another goroutine.
func (f *function) foreign(op fsfake.Op) error {
	return fmt.Errorf("checker: %s: %q is called%s from a goroutine that the program has started, which cannot be "+
		"scheduled: make it a task of its own (Setting.Tasks), which Task.Start may "+
		"start", f.name(), op, placeText(caller()))
}

// own reports whether it is called on the program's own goroutine, and tells the fault if not: of a
// call that is not learned this is found out only when the program is stopped there.
func (f *function) own() bool {
	own := isOwn()
	if !own {
		f.faults.add(f.foreign(f.last))
	}
	return own
}

// isOwn reports whether it is called on the goroutine of a coroutine, whose outermost function is the
// first in sched.Go. The functions of one are never inlined: they are called as values.
func isOwn() bool {
	pcs := make([]uintptr, stackDepth)
	for skip := 2; ; skip += stackDepth {
		n := runtime.Callers(skip, pcs)
		for i := n - 1; i >= 0; i-- { // the outermost are the last
			if f := runtime.FuncForPC(pcs[i] - 1); f != nil && strings.HasPrefix(f.Name(), coroutine) && strings.HasSuffix(f.Name(), "].func1") {
				return true
			}
		}
		if n < stackDepth {
			return false
		}
	}
}

// caught notes where the program panicked, and lets the panic go on, or makes a finding of it
// where assertions are judged. It is deferred around the program, so that the stack is still
// there.
func (f *function) caught() {
	r := recover()
	if r == nil {
		return
	}
	_, fault := r.(scenarios.Fault)
	if f.asserts && !fault && f.state.Load() != stopping {
		f.Note(scenarios.Asserted{Text: fmt.Sprintf("the program panics%s: %v", placeText(caller()), r)})
		return
	}
	if !fault && f.state.Load() != stopping {
		f.panicked = fmt.Errorf("checker: the program of %s panics%s: %v%s; a panic is no answer of a lock: mend it, "+
			"or recover where it counts as a failed attempt",
			f.name(), placeText(caller()), r, f.after())
	}
	panic(r)
}

// placeText is where something happened: " at /home/me/lock.go:31 (lock.Acquire)".
func placeText(s scenarios.Source) string {
	if s.File == "" {
		return ""
	}
	return fmt.Sprintf(" at %s:%d (%s)", s.File, s.Line, s.Func)
}

// after names the call that the program made last.
func (f *function) after() string {
	if f.last == (fsfake.Op{}) {
		return ", before its first call"
	}
	return ", after its call " + f.last.String()
}

// A program that polls without an end must mark its loop ([fsfake.Proc.Retry]): otherwise
// each round is a place of its own, and there is no last. What makes the same few calls, with
// the same answers, for so long is taken for one.
const (
	pollsAfter = 1000 // calls
	pollsMost  = 16   // calls of one round
)

// polls reports a program that goes round without a mark, and is at a node. Where it goes round
// over cells only, in one turn of an event loop, that is no fault of the scenario but an answer:
// the node is the one that polls returns, a round before.
func (a *Automaton) polls(at uint32) (again uint32, err error) {
	if a.external || a.nodes[at].depth%pollsAfter != pollsAfter-1 {
		return 0, nil
	}
	path := a.path(at)
	path = path[len(path)-pollsAfter+1:]
	for round := 1; round <= pollsMost; round++ {
		if !a.goesRound(path, round) {
			continue
		}
		var calls string
		cells := a.turns
		for _, id := range path[len(path)-round:] {
			cells = cells && a.nodes[id].Op.Call.IsCell() && a.nodes[id].Begins == (Effects{})
			calls += fmt.Sprintf(", %s", a.nodes[id].Op.String())
		}
		if cells {
			return path[len(path)-1-round], nil
		}
		return 0, fmt.Errorf("checker: task %s of %s does not get on: it has made %d calls, and the last %d are "+
			"these, again and again, with the same answers: %s. If it polls, mark the loop, so that a round can lead "+
			"back to the one before: for retry := t.Retry(); retry.Next(); { … }",
			a.name, a.scenario, a.nodes[at].depth+1, len(path), calls[2:])
	}
	return 0, nil
}

// goesRound reports whether the calls of a path, and their answers, repeat after so many. A
// file that is read or written piece by piece is no such round.
func (a *Automaton) goesRound(path []uint32, round int) bool {
	if round == 1 && a.nodes[path[0]].Op.Call.Is(fsfake.Reads|fsfake.Writes) {
		return false
	}
	for i := round; i < len(path); i++ {
		x, y := &a.nodes[path[i]], &a.nodes[path[i-round]]
		if x.Op != y.Op || *x.via != *y.via {
			return false
		}
	}
	return true
}
