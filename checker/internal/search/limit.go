package search

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"
)

// Limits bounds an exploration. The zero value stands for the defaults.
type Limits struct {
	// States bounds the stored states; 0 means 50 million.
	States int
	// Bytes bounds the memory for them; 0 means 8 GiB.
	Bytes int
	// Enough ends an exploration that has seen a violation at so many states; 0 means that it
	// goes on to the end.
	Enough int
	// Workers is the number of parallel workers; 0 means one for each processor.
	Workers int
	// Executions bounds how often programs are run while the space is covered; 0 means without a bound.
	Executions int
	// Local follows a local step alone, without the steps of others beside it; see engine.Expander.ExpandLocal. It is
	// for invariants and deadlocks of programs, and does nothing while faults other than stalls are left.
	Local bool
	// Progress, when not nil, is called now and then from one goroutine.
	Progress func(Progress)
}

// Progress is how far an exploration has come.
type Progress struct {
	States, Transitions, Depth, Frontier, Bytes int
	// Executions counts the runs of programs, and Learned the answers learned by them.
	Executions, Learned int
	// Place of Places, at which schedules with so many Preemptions preempt, is being tried; Places is 0 in a search
	// that goes by something else.
	Preemptions, Place, Places int
	// Broken: a schedule that breaks the property is known.
	Broken bool
	// Drawn schedules of Draws have been made; Draws is 0 in other searches. Again: what holds is looked at again.
	Drawn, Draws int
	Again        bool
}

const (
	defaultStates = 50_000_000
	defaultBytes  = 8 << 30
)

func (o *Limits) states() int { return cmp.Or(o.States, defaultStates) }
func (o *Limits) bytes() int  { return cmp.Or(o.Bytes, defaultBytes) }

// An EndedError says that a budget ended before there was an answer.
type EndedError struct {
	Why   string // which
	cause error  // that of the context, nil for another budget
}

// Error returns which budget it was.
func (e *EndedError) Error() string { return "checker: " + e.Why }

// Unwrap returns the context's error, if that ended.
func (e *EndedError) Unwrap() error { return e.cause }

// stopped is the error of whoever is told to stop.
func stopped(cause error) error { return &EndedError{Why: "it was stopped", cause: cause} }

// A limit ends a search when a budget does.
type limit struct {
	ctx      context.Context
	o        Limits
	bytes    func() int
	runs     func() int
	kind     atomic.Int32
	measured int // how many states there were when bytes were counted last
	// release ends the wait for an interrupt, which is noticed within a round.
	release func() bool
}

const (
	withinLimits = iota
	statesEnded
	bytesEnded
	interrupted
	enough
	executionsEnded
)

func newLimit(ctx context.Context, o Limits, bytes, runs func() int) *limit {
	l := &limit{ctx: ctx, o: o, bytes: bytes, runs: runs}
	l.release = context.AfterFunc(ctx, func() { l.kind.CompareAndSwap(withinLimits, interrupted) })
	return l
}

func (l *limit) hit() bool { return l.kind.Load() != withinLimits }

// check looks at the budgets. It is called between two rounds, from one goroutine only: budgets
// end there, so that what is covered until then does not depend on who was faster.
func (l *limit) check(states int, violated bool) {
	kind := int32(withinLimits)
	switch {
	case l.hit():
	case l.ctx.Err() != nil:
		kind = interrupted
	case l.o.Enough > 0 && violated && states > l.o.Enough:
		kind = enough
	case states > l.o.states():
		kind = statesEnded
	case l.o.Executions > 0 && l.runs() > l.o.Executions:
		kind = executionsEnded
	case states-l.measured >= max(l.measured/16, 1000): // counting takes a while
		l.measured = states
		if l.bytes() > l.o.bytes() {
			kind = bytesEnded
		}
	}
	if kind != withinLimits {
		l.kind.CompareAndSwap(withinLimits, kind)
	}
}

// ended names the budget that ended.
func (l *limit) ended() string {
	switch l.kind.Load() {
	case statesEnded:
		return fmt.Sprintf("the budget of %d states ended first", l.o.states())
	case bytesEnded:
		return fmt.Sprintf("the budget of %d MiB ended first", l.o.bytes()>>20)
	case executionsEnded:
		return fmt.Sprintf("the budget of %d executions ended first", l.o.Executions)
	case enough:
		return fmt.Sprintf("a violation was seen, and the space has more than %d states", l.o.Enough)
	}
	return "it was stopped"
}

// err is ended as an error.
func (l *limit) err() error { return &EndedError{Why: l.ended(), cause: l.ctx.Err()} }

// why says which budget ended, what was covered, and guesses at the rest.
func (l *limit) why(c *Coverage, frontier int) string {
	seen := c.Count()
	expanded := max(seen-frontier, 1)
	rest := "the number of states was still growing"
	if frontier < expanded {
		// As if every state left led to as many new ones as those before did lately.
		rest = fmt.Sprintf("about %d more states were in sight", frontier*seen/expanded)
	}
	return fmt.Sprintf("%s: %d states and %d transitions covered, to depth %d; %d states seen but not followed; %s",
		l.ended(), seen, c.Transitions, c.Depth, frontier, rest)
}
