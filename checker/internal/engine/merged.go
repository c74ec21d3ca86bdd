package engine

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"lockpick/checker/internal/learn"
)

// Merge guesses anew which nodes of the automata are one: see [learn.Automaton.Merge]. Expanders
// and states from before are no good any more. What is observed is observed anew.
func (x *Space) Merge() (is learn.Merging, err error) {
	x.observed = observer{}
	for _, a := range x.automata {
		of := a.Merge()
		is.Nodes, is.Classes = is.Nodes+of.Nodes, is.Classes+of.Classes
		begins := a.Node(a.First()).Begins
		x.observed.effects(&begins)
	}
	if x.renames != nil {
		err = x.renames.restart()
	}
	return is, err
}

// MayMerge reports whether nodes may be merged: not of programs that are slow to start.
func (x *Space) MayMerge() bool { return !x.Sc.External && !x.Property.OfCycles() }

// errAlike says that nothing tells whether the merged automata of processes that are taken for each
// other are right.
var errAlike = errors.New("checker: one of several processes that are taken for each other cannot be unfolded")

// Unfolded looks whether the merged automata do what the programs do, for all runs that were
// followed: closed tells that it was seen by running each program over everything that its merged
// automaton allows, within a budget of runs for each task. Otherwise cover must cover the space
// once for every task, which is unfolded then; where processes are taken for each other they must
// stay alike, and no other way is left. The error is [learn.ErrMerged] for a wrong guess.
func (x *Space) Unfolded(ctx context.Context, runs int, cover func() error) (closed bool, err error) {
	var open []*learn.Automaton
	var wrong error
	for _, a := range x.automata {
		closed, err := a.CloseTable(ctx, runs)
		switch {
		case ctx.Err() != nil:
			return false, cmp.Or(err, ctx.Err())
		case errors.Is(err, learn.ErrMerged):
			if wrong = err; !x.alike {
				return false, wrong
			} // all learn the same from it
		case !closed || err != nil: // a program may fail over results that never come together
			open = append(open, a)
		}
	}
	switch {
	case wrong != nil:
		return false, wrong
	case x.alike && len(open) > 0:
		return false, errAlike
	}
	for _, a := range x.automata {
		if !slices.Contains(open, a) {
			continue
		}
		a.Unfold(true)
		err := cover()
		a.Unfold(false)
		if err != nil {
			return false, err
		}
	}
	return len(open) == 0, nil
}
