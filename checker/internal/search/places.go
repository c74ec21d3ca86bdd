package search

import (
	"context"
	"slices"

	"lockpick/checker/internal/engine"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A Place is a state of a space, and what can happen in it.
type Place struct {
	Moves []Move
	// Broken: nothing more happens here, or nothing that matters does, and that breaks the
	// property. There are no moves then.
	Broken bool
}

// A Move is something that can happen in a state.
type Move struct {
	Choice sched.Choice
	// To is the number of the state that it leads to, or -1 when it breaks the property.
	To int
}

// Places returns every state that can be reached, the first one first, and what can happen in
// each. It returns none, and no error, when there are more than so many moves.
//
// It concludes nothing: what was learned on the way is not looked at once more.
func (x *Explorer) Places(ctx context.Context, most int) ([]Place, error) {
	w := engine.NewExpander(x.Space)
	var places []Place
	rows := [][]uint32{x.Initial}
	numbers := map[string]int{key(x.Initial): 0}
	moves := 0
	var ended []bool // everybody has come to an end
	for i := 0; i < len(rows); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := w.Expand(rows[i]); err != nil {
			return nil, err
		}
		bad, _, err := x.BadEnd(w, rows[i])
		if err != nil {
			return nil, err
		}
		p := Place{Broken: bad}
		for k := range w.Out {
			s := &w.Out[k]
			m := Move{Choice: s.Choice, To: -1}
			if !s.Bad {
				words := w.State(s)
				n, seen := numbers[key(words)]
				if !seen {
					n = len(rows)
					numbers[key(words)] = n
					rows = append(rows, append([]uint32(nil), words...))
				}
				m.To = n
			}
			p.Moves = append(p.Moves, m)
		}
		if moves += len(p.Moves); moves > most {
			return nil, nil
		}
		places = append(places, p)
		ended = append(ended, !w.Unfinished())
	}
	return places, x.markTraps(places, rows, ended)
}

// markTraps marks the places in traps, as [Explorer.FindTrap] finds them. The first place is none:
// there is nothing to see of a run without a step.
func (x *Explorer) markTraps(places []Place, rows [][]uint32, out []bool) error {
	if x.Property.Question != scenarios.LockedOut || !x.MayTrap() {
		return nil
	}
	markBack(places, out)
	for i := range places {
		if out[i] {
			continue
		}
		wedged, _, err := x.LockedOut(rows[i])
		if err != nil {
			return err
		}
		out[i] = !wedged
	}
	markBack(places, out)
	for i := range places {
		if i > 0 && !out[i] {
			places[i] = Place{Broken: true}
		}
	}
	return nil
}

// markBack marks the places from which steps lead to one that is marked.
func markBack(places []Place, marked []bool) {
	for again := true; again; {
		again = false
		for i := range places {
			leads := func(m Move) bool { return !m.Choice.IsFault() && m.To >= 0 && marked[m.To] }
			if !marked[i] && slices.ContainsFunc(places[i].Moves, leads) {
				marked[i], again = true, true
			}
		}
	}
}

// key is a row as the key of a map.
func key(row []uint32) string {
	b := make([]byte, 0, 4*len(row))
	for _, n := range row {
		b = append(b, byte(n), byte(n>>8), byte(n>>16), byte(n>>24))
	}
	return string(b)
}
