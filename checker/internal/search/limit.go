package search

import (
	"context"
	"fmt"
	"sync/atomic"

	"lockpick/checker/internal/table"
)

// Limits bounds an exploration. The zero value stands for the defaults.
type Limits struct {
	// States bounds the stored states; 0 means 50 million.
	States int
	// Bytes bounds the memory for them; 0 means 8 GiB.
	Bytes int
	// Workers is the number of parallel workers; 0 means one for each processor.
	Workers int
	// Progress, when not nil, is called now and then from one goroutine.
	Progress func(Progress)
}

// Progress is how far an exploration has come.
type Progress struct {
	States, Transitions, Depth, Frontier, Bytes int
}

// A limit ends an exploration when a budget does.
type limit struct {
	ctx    context.Context
	x      *Explorer
	set    *table.States
	states int
	bytes  int
	kind   atomic.Int32
	// release ends the wait for an interrupt, which is noticed within a round.
	release func() bool
	checks  atomic.Int64
}

const (
	withinLimits = iota
	statesEnded
	bytesEnded
	interrupted
)

const (
	defaultStates = 50_000_000
	defaultBytes  = 8 << 30
)

func newLimit(ctx context.Context, x *Explorer, set *table.States, o Limits) *limit {
	l := &limit{ctx: ctx, x: x, set: set, states: o.States, bytes: o.Bytes}
	if l.states == 0 {
		l.states = defaultStates
	}
	if l.bytes == 0 {
		l.bytes = defaultBytes
	}
	l.release = context.AfterFunc(ctx, func() { l.kind.CompareAndSwap(withinLimits, interrupted) })
	return l
}

func (l *limit) hit() bool { return l.kind.Load() != withinLimits }

// check looks at the budgets; it is called after every round, by nobody else. Budgets end
// between rounds only, so that what is covered until then does not depend on who was
// faster.
func (l *limit) check() {
	kind := int32(withinLimits)
	switch {
	case l.ctx.Err() != nil:
		kind = interrupted
	case l.set.Len() > l.states:
		kind = statesEnded
	case l.checks.Add(1)%64 == 0 && l.x.Bytes(l.set) > l.bytes:
		kind = bytesEnded
	}
	if kind != withinLimits {
		l.kind.CompareAndSwap(withinLimits, kind)
	}
}

// why says which budget ended, what was covered, and guesses at the rest.
func (l *limit) why(c *Coverage, frontier int) string {
	budget := map[int32]string{
		statesEnded: fmt.Sprintf("the budget of %d states ended first", l.states),
		bytesEnded:  fmt.Sprintf("the budget of %d MiB ended first", l.bytes>>20),
		interrupted: "it was stopped",
	}[l.kind.Load()]
	seen := c.States.Len()
	expanded := max(seen-frontier, 1)
	rest := "the number of states was still growing"
	if frontier < expanded {
		// As if every state left led to as many new ones as those before did lately.
		rest = fmt.Sprintf("about %d more states were in sight", frontier*seen/expanded)
	}
	return fmt.Sprintf("%s: %d states and %d transitions covered, to depth %d; %d states seen but not followed; %s",
		budget, seen, c.Transitions, c.Depth, frontier, rest)
}
