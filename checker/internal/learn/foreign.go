package learn

import (
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"

	"lockpick/fsfake"
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
	return fmt.Errorf("checker: %s: %q is called%s from a goroutine that the program has started, which cannot be scheduled: make it a task of its own (Setting.Tasks), which Task.Start may start", f.name(), op, placeText(caller()))
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
