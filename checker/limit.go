package checker

import (
	"context"
	"fmt"
	"sync/atomic"

	"lockpick/checker/internal/table"
)

// A limit ends an exploration when a budget does.
type limit struct {
	ctx    context.Context
	x      *explorer
	set    *table.States
	states int
	bytes  int
	kind   atomic.Int32
	checks atomic.Int64
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

func newLimit(ctx context.Context, x *explorer, set *table.States, o Options) *limit {
	l := &limit{ctx: ctx, x: x, set: set, states: o.States, bytes: o.Bytes}
	if l.states == 0 {
		l.states = defaultStates
	}
	if l.bytes == 0 {
		l.bytes = defaultBytes
	}
	return l
}

func (l *limit) hit() bool { return l.kind.Load() != withinLimits }

// check looks at the budgets; it is called after every round, by nobody else.
func (l *limit) check() {
	kind := int32(withinLimits)
	switch {
	case l.ctx.Err() != nil:
		kind = interrupted
	case l.set.Len() > l.states:
		kind = statesEnded
	case l.checks.Add(1)%64 == 0 && l.x.bytes(l.set) > l.bytes:
		kind = bytesEnded
	}
	if kind != withinLimits {
		l.kind.CompareAndSwap(withinLimits, kind)
	}
}

// why says which budget ended, what was covered, and guesses at the rest.
func (l *limit) why(c *coverage, frontier int) string {
	budget := map[int32]string{
		statesEnded: fmt.Sprintf("the budget of %d states ended first", l.states),
		bytesEnded:  fmt.Sprintf("the budget of %d MiB ended first", l.bytes>>20),
		interrupted: "it was stopped",
	}[l.kind.Load()]
	seen := c.states.Len()
	expanded := max(seen-frontier, 1)
	rest := "the number of states was still growing"
	if frontier < expanded {
		// As if every state left led to as many new ones as those before did lately.
		rest = fmt.Sprintf("about %d more states were in sight", frontier*seen/expanded)
	}
	return fmt.Sprintf("%s: %d states and %d transitions covered, to depth %d; %d states seen but not followed; %s",
		budget, seen, c.transitions, c.depth, frontier, rest)
}
