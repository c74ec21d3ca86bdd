package search

import (
	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/table"
)

// rootsPerShard is how many states each shard gets at least, if there are so many: with
// few, one shard could be left with most of the work.
const rootsPerShard = 16

// maxSplitDepth ends the search for a layer with enough states.
const maxSplitDepth = 40

// A splitting is the layer of states at which a space is split.
type splitting struct {
	Depth                  int             // choices that lead to the layer
	Rows                   [][]uint32      // its states, in a fixed order
	Violated               engine.Violated // what broke on the way there
	Transitions, Contended int
}

// Split walks to the first layer with enough states for n shards. It runs on one worker
// from an empty start, so that every shard finds the same layer in the same order.
func (x *Explorer) Split(n int) (splitting, error) {
	w := engine.NewExpander(x.Space)
	sp := splitting{Rows: [][]uint32{x.Initial}, Violated: engine.Violated{}}
	for sp.Depth < maxSplitDepth && len(sp.Rows) > 0 && len(sp.Rows) < n*rootsPerShard {
		next := table.NewStates(x.Width(), 1)
		for _, row := range sp.Rows {
			if err := w.Expand(row); err != nil {
				return sp, err
			}
			bad, _, err := x.BadEnd(w, row)
			if err != nil {
				return sp, err
			}
			if bad {
				sp.Violated[x.Violation(row)] = struct{}{}
			}
			for i := range w.Out {
				s := &w.Out[i]
				sp.Transitions++
				if s.Contended {
					sp.Contended++
				}
				if s.Bad {
					sp.Violated[x.Violation(w.State(s))] = struct{}{}
					continue
				}
				next.Insert(w.State(s))
			}
		}
		sp.Rows = sp.Rows[:0:0]
		for id := range next.Len() {
			sp.Rows = append(sp.Rows, append([]uint32(nil), next.Row(id)...))
		}
		sp.Depth++
	}
	return sp, nil
}
