package engine

import (
	"lockpick/checker/internal/learn"
	"lockpick/model"
)

// Tries reports whether an operation of a task that may starve has begun and not
// returned.
func (x *Space) Tries(row []uint32, slot int) bool {
	word := row[wordNodes+slot]
	n := x.automata[slot].Node(word &^ learn.Begun)
	tries := func(input any) bool { return input != nil && x.Property.Counts(input, model.Pending{}) }
	return tries(n.Open) || word&learn.Begun != 0 && tries(n.Begins.Input)
}
