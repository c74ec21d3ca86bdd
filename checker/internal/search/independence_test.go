package search

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/engine"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
	"lockpick/sched"
)

// BenchmarkPartialOrder counts what a partial-order reduction could leave out at most that follows
// one task at a time: where a task's next step commutes with everything that the others can do until
// it is taken, states and their pasts included, only that step is followed. That is found by looking
// at the whole graph, which a reduction that saves anything cannot do. It is about spaces without
// faults, of at most 5000 states.
func BenchmarkPartialOrder(b *testing.B) {
	one := func(sc *scenarios.Scenario, p *scenarios.Property) {
		if set := sc.Setting; set.Crashes+set.Stalls+set.PowerLosses > 0 {
			return
		}
		b.Run(sc.ID+"/"+p.ID, func(b *testing.B) {
			var whole, reduced followed
			for b.Loop() {
				x, err := NewExplorer(sc, p)
				require.NoError(b, err)
				x.RememberMonitors()
				o := &orders{w: engine.NewExpander(x.Space), known: map[string][]ordered{}}
				if whole = o.follow(b, x.Initial, false); whole.states > 5000 {
					b.Skip("SKIPPED: more than 5000 states, of which each is compared with all that can follow; this benchmark is of small spaces, and none is of large ones")
				}
				reduced = o.follow(b, x.Initial, true)
				x.Close()
			}
			require.Equal(b, whole.broken, reduced.broken)
			b.ReportMetric(float64(whole.states)/float64(reduced.states), "times-fewer-states")
			b.ReportMetric(float64(whole.transitions)/float64(reduced.transitions), "times-fewer-transitions")
		})
	}
	for _, s := range sizes() {
		if s.Processes == 3 {
			one(s.Scenario(), scenarios.Deadlock)
		}
	}
	for _, sc := range all.Core() {
		for _, c := range sc.Claims {
			one(&sc, c.Property)
		}
	}
}

// orders knows the states that it was asked for, by their words.
type orders struct {
	w     *engine.Expander
	known map[string][]ordered
}

// An ordered is a successor of a state.
type ordered struct {
	choice sched.Choice
	slot   int
	bad    bool
	to     string
}

// A followed is what was followed of a graph.
type followed struct {
	states, transitions int
	broken              bool
}

func wordsKey(row []uint32) string {
	var b []byte
	for _, v := range row {
		b = binary.LittleEndian.AppendUint32(b, v)
	}
	return string(b)
}

// after returns the successors of a state.
func (o *orders) after(t require.TestingT, s string) []ordered {
	if out, ok := o.known[s]; ok {
		return out
	}
	var row []uint32
	for at := 0; at < len(s); at += 4 {
		row = append(row, binary.LittleEndian.Uint32([]byte(s[at:])))
	}
	require.NoError(t, o.w.Expand(row))
	var out []ordered
	for i := range o.w.Out {
		succ := &o.w.Out[i]
		out = append(out, ordered{succ.Choice, succ.Slot, succ.Bad, wordsKey(o.w.State(succ))})
	}
	o.known[s] = out
	return out
}

// follow covers the graph, or only one task's step wherever that is enough. So that no step is put
// off for ever, that is never enough where it leads to a state that is known.
func (o *orders) follow(t require.TestingT, initial []uint32, reduce bool) (f followed) {
	first := wordsKey(initial)
	seen := map[string]bool{first: true}
	for todo := []string{first}; len(todo) > 0 && len(seen) <= 5000; todo = todo[1:] {
		next := o.after(t, todo[0])
		if reduce {
			next = o.enough(t, todo[0], next, seen)
		}
		for _, n := range next {
			f.transitions++
			f.broken = f.broken || n.bad
			if !n.bad && !seen[n.to] {
				seen[n.to] = true
				todo = append(todo, n.to)
			}
		}
	}
	f.states = len(seen)
	return f
}

// enough returns the steps of the first task whose steps are enough, or all.
func (o *orders) enough(t require.TestingT, s string, next []ordered, seen map[string]bool) []ordered {
	for _, n := range next {
		mine, others := split(next, n.slot)
		known := slices.ContainsFunc(mine, func(a ordered) bool { return seen[a.to] })
		if n.slot >= 0 && len(others) > 0 && !known && o.independent(t, s, n.slot, len(mine)) {
			return mine
		}
	}
	return next
}

// split divides successors into those by a task and those by others.
func split(next []ordered, slot int) (mine, others []ordered) {
	for _, n := range next {
		if n.slot == slot {
			mine = append(mine, n)
		} else {
			others = append(others, n)
		}
	}
	return mine, others
}

// independent reports whether a task's next step, which goes in so many ways, commutes with
// everything that others can do from a state on until it is taken.
func (o *orders) independent(t require.TestingT, s string, slot, ways int) bool {
	met := map[string]bool{s: true}
	for todo := []string{s}; len(todo) > 0; todo = todo[1:] {
		mine, others := split(o.after(t, todo[0]), slot)
		if len(mine) != ways {
			return false
		}
		for _, a := range mine {
			if a.bad {
				return false
			}
			if _, after := split(o.after(t, a.to), slot); len(after) != len(others) {
				return false
			}
			for _, b := range others {
				if !o.commute(t, a, b) {
					return false
				}
			}
		}
		for _, b := range others {
			if !met[b.to] {
				met[b.to] = true
				todo = append(todo, b.to)
			}
		}
	}
	return true
}

// commute reports whether two steps out of a state lead to the same in either order, and neither
// breaks anything.
func (o *orders) commute(t require.TestingT, a, b ordered) bool {
	then := func(first, second ordered) string {
		for _, n := range o.after(t, first.to) {
			if n.choice == second.choice && !n.bad {
				return n.to
			}
		}
		return ""
	}
	if a.bad || b.bad {
		return false
	}
	ab := then(a, b)
	return ab != "" && ab == then(b, a)
}
