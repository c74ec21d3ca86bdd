package search

import (
	"context"
	"errors"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/learn"
)

// Automata are merged for large spaces: the space is covered as far as to a thousand states, then
// what was learned is merged and the space covered as far as to two thousand, and so on, until it
// is covered to its end and nothing new was learned on the way. All of that together takes about
// twice as long as the last time. What was covered then is looked at once more, with the nodes
// taken apart; where the guess was wrong, it is made again with what that has taught.
const (
	mergedFirst = 1000
	// mergedTries is how many wrong guesses are too many.
	mergedTries = 16
)

// A Merging says how it was seen that merged automata do what the programs do.
type Merging uint8

// The ways of merging.
const (
	// Unmerged: no automaton was merged.
	Unmerged Merging = iota
	// Closed: each program was run over everything that its merged automaton allows.
	Closed
	// Unfolded: for some tasks that takes too many runs, and the space was covered once more for
	// each of them, with that task followed node by node.
	Unfolded
)

// String returns "unmerged", "closed" or "unfolded".
func (m Merging) String() string { return [...]string{"unmerged", "closed", "unfolded"}[m] }

// ExploreMerged covers the space with merged automata, and with one worker, so that the counts
// depend on nothing else. It gives up, and returns [Unmerged], where a violation comes up of which a wrong guess is not
// seen to be the cause, where merging is not worth it, and where it cannot be verified: the space is then to be explored by
// another explorer, without merging. That is so after any error, too, for merged programs may be
// given results that never come together.
func (x *Explorer) ExploreMerged(ctx context.Context, o Limits) (*Coverage, Merging) {
	if !x.MayMerge() {
		return nil, Unmerged
	}
	o.Workers, o.Enough = 1, 0
	for states, wrong := mergedFirst, 0; wrong < mergedTries; {
		is, err := x.Merge()
		if err != nil {
			return nil, Unmerged
		}
		if wrong == 0 && states > 16*mergedFirst && 4*is.Classes > 3*is.Nodes {
			return nil, Unmerged
		}
		edges := x.Learned().Edges
		limits := o
		limits.States = min(states, o.states())
		c, w, _, err := x.cover(ctx, limits, x.Initial)
		switch {
		case err != nil || c.Violations > 0:
			if err != nil || !x.mistaken(ctx, o) {
				return nil, Unmerged
			}
			wrong++
			continue
		case c.Why != "" && (c.States.Len() <= states || states >= o.states()): // a limit of o's
			return nil, Unmerged
		case c.Why != "":
			states *= 2
			continue
		case x.Learned().Edges != edges:
			continue
		}
		closed, err := x.Unfolded(ctx, o.runs(), func() error { return x.unfold(ctx, o) })
		if errors.Is(err, learn.ErrMerged) {
			wrong++
			if x.Learned().Edges == edges { // the next guess would be the same
				return nil, Unmerged
			}
			continue
		}
		if err != nil {
			return nil, Unmerged
		}
		return x.merged(ctx, c, w, closed)
	}
	return nil, Unmerged
}

// mistaken reports whether the guess is seen to be wrong, and more is known for the next: then it may have been what broke
// the property.
func (x *Explorer) mistaken(ctx context.Context, o Limits) bool {
	edges := x.Learned().Edges
	_, err := x.Unfolded(ctx, o.runs(), func() error { return errUnfinished })
	return errors.Is(err, learn.ErrMerged) && x.Learned().Edges > edges
}

// errUnfinished says that a space could not be covered with a task unfolded.
var errUnfinished = errors.New("checker: not covered")

// unfold covers the space with a task unfolded.
func (x *Explorer) unfold(ctx context.Context, o Limits) error {
	c, _, _, err := x.cover(ctx, o, x.Initial)
	if err == nil && (c.Why != "" || c.Violations > 0) {
		err = errUnfinished
	}
	return err
}

// merged looks once more at everything else that a covered space rests on.
func (x *Explorer) merged(ctx context.Context, c *Coverage, w *engine.Expander, closed bool) (*Coverage, Merging) {
	if err := x.onceMore(ctx, w, 1, false); err != nil {
		return nil, Unmerged
	}
	c.Complete = true
	if closed {
		return c, Closed
	}
	return c, Unfolded
}
