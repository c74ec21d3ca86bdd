package certificate

import (
	"fmt"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// A call is what a program does next, and what it has noted since its last call. Ended programs make none.
type call struct {
	op    fsfake.Op
	ended bool
	effects
}

// effects are the notes that a proof makes use of. Again is the retry loop of which another round begins, begun those
// of which the first does. Strange is a note about what views do not have.
type effects struct {
	holds, letGo, failed, invoked, dated bool
	holding                              scenarios.Holding
	lock, begun, strange                 string
	again                                int
}

// A run is a program that is given some answers, and stopped at the call after the last.
type run struct {
	answers []fsfake.Result
	to      func(int) int
	show    shown
	calls   []call
	noted   []any
}

type over struct{}

// Do implements [fsfake.Port].
func (r *run) Do(op fsfake.Op) fsfake.Result {
	if len(r.calls) > len(r.answers) {
		panic(over{}) // a deferred function makes it
	}
	r.calls = append(r.calls, call{op: op, effects: digest(r.noted)})
	if r.noted = nil; len(r.calls) > len(r.answers) {
		panic(over{})
	}
	answer := retold(op.Call, r.answers[len(r.calls)-1], r.to)
	r.show(int64(len(r.calls)), &answer, op.Call == fsfake.CallNow)
	return answer
}

// Note implements [fsfake.Port].
func (r *run) Note(n any) { r.noted = append(r.noted, n) }

// calls runs the program as another process than 101, which to is for, and with others in its answers. The answers and
// calls are as process 101 has them: to is its own inverse. Show changes what is shown of files and the clock.
func (v *verifier) calls(answers []fsfake.Result, to func(int) int, show shown) (all []call) {
	r := &run{answers: answers, to: to, show: show}
	defer func() {
		if e := recover(); e == nil {
			r.calls = append(r.calls, call{ended: true, effects: digest(r.noted)})
		} else if e != (over{}) {
			v.no("the program panics: %v", e)
		}
		for i := range r.calls {
			r.calls[i] = r.calls[i].renamed(to)
		}
		all = r.calls
	}()
	v.runs++
	v.sc.Program(to(low)-low, 1)(v.sc.Task(r, to(low)-low, 1))
	return nil
}

func digest(notes []any) (e effects) {
	acquired, shared := false, false
	for _, n := range notes {
		switch n := n.(type) {
		case scenarios.Invoked:
			e.invoked = true
			e.lock, _ = model.LockOf(n.Input)
		case scenarios.Returned:
			if a, ok := n.Output.(model.Acquired); ok && a.OK {
				acquired, shared = true, a.Shared
			}
		case scenarios.Holding:
			if e.holds || n.Reads {
				e.strange = "several locks are acquired at once, or one is shared"
			}
			e.holds, e.holding = true, n
		case scenarios.LetGo:
			e.letGo = true
		case scenarios.Asserted:
			e.failed = e.failed || !n.OK
		case fsfake.RoundTop:
			if n.First {
				e.begun += fmt.Sprintf(" %d ", n.Loop)
			} else if e.again == 0 {
				e.again = n.Loop
			}
		case fsfake.Seen:
			switch {
			case n.Has(fsfake.SizeSeen | fsfake.NumberSeen): // who gets a number itself gets all there is
				e.strange = sizeSeen
			case n == fsfake.TimeSeen:
				e.dated = true
			case n.Has(^(fsfake.PidSeen | fsfake.InodeSeen)): // these are in views
				e.strange = "the program looks at a clock, or does not follow one order"
			}
		default:
			e.strange = fmt.Sprintf("the program notes %T", n)
		}
	}
	if acquired && (shared || !e.holds) {
		e.strange = "a lock is joined, or acquired without a note of it"
	}
	return e
}

const sizeSeen = "the program looks at a size"

// retold is an answer with other processes in it.
func retold(to fsfake.Call, r fsfake.Result, pid func(int) int) fsfake.Result {
	r.Data = text(r.Data, pid)
	if isPid(r.Lock.Pid) {
		r.Lock.Pid = pid(r.Lock.Pid)
	}
	if p := int(r.N) - start(0); to == fsfake.CallStartTime && r.OK() && isPid(p) {
		r.N = int64(start(pid(p)))
	}
	return r
}

// renamed is a call with other processes in it.
func (c call) renamed(to func(int) int) call {
	c.op, c.lock = renamed(c.op, to), text(c.lock, to)
	c.holding.Path, c.holding.Lock = text(c.holding.Path, to), text(c.holding.Lock, to)
	return c
}

func renamed(op fsfake.Op, to func(int) int) fsfake.Op {
	op.Path, op.Path2, op.Data = text(op.Path, to), text(op.Path2, to), text(op.Data, to)
	if isPid(op.Pid) {
		op.Pid = to(op.Pid)
	}
	return op
}
