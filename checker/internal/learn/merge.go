package learn

import (
	"context"
	"errors"

	"lockpick/fsfake"
)

// A node is a whole sequence of results, and a program mostly does not care for most of them:
// what the first of four attempts found makes no difference to the fourth. So nodes that do the
// same from here on can be taken for one. That they do is a guess, made from the edges that are
// known: two nodes are one where no result is known to both after which they differ, there or
// later. The guess may be wrong, since edges that nobody has asked for are taken as agreeing: a
// program may do in its last attempt what the first one told it to. So nothing may be concluded
// from merged nodes before they were verified, in one of two ways.
//
//   - Closing the table ([Automaton.CloseTable]): the program is run over all sequences of results
//     that the merged automaton allows, and must do each time what that says.
//   - Unfolding ([Automaton.Unfold]) one task after the other: the task is followed node by node
//     through the whole space, with the others merged, and must do what the merged automaton says.
//     That is enough. Take the shortest run on which some task does something else: up to its
//     last step all merged automata were right, so the run was followed when that task was
//     unfolded.
//
// Inode numbers of merged nodes are kept when any of them knows them.

// ErrMerged says that nodes were taken for one that are not, or that a result came which had not
// come before.
var ErrMerged = errors.New("checker: nodes that differ were taken for one")

// A merging is a guess at which nodes are one. Each class is named by its first node.
type merging struct {
	of    []uint32  // by node; those learned later are classes of their own
	knows []Numbers // by class
	edges map[edgeKey]Edge
	asked []edgeKey // edges of classes that were asked for
	known map[edgeKey]bool
	// unfolds: nodes are followed and not classes. classOf is the class that the merged automaton is at
	// with each node met so.
	unfolds bool
	classOf map[uint32]uint32
}

// Merging says what merging an automaton came to: how many nodes it has, and how many classes these are
// put into.
type Merging struct{ Nodes, Classes int }

// Merge guesses which nodes are one, from everything that is known, and forgets any earlier guess.
func (a *Automaton) Merge() Merging {
	a.mu.Lock()
	defer a.mu.Unlock()
	f := newFolder(a)
	f.guess()
	m := &merging{of: make([]uint32, len(a.nodes)), knows: make([]Numbers, len(a.nodes)), edges: map[edgeKey]Edge{}, known: map[edgeKey]bool{}}
	is := Merging{Nodes: len(a.nodes)}
	for n := range a.nodes {
		c := f.find(uint32(n))
		m.of[n] = c
		m.knows[c] |= a.nodes[n].Knows
		if c == uint32(n) {
			is.Classes++
		}
	}
	for _, k := range a.order {
		e := a.edges[k]
		e.To = m.of[e.To&^Begun] | e.To&Begun
		m.edges[edgeKey{m.of[k.from], k.result}] = e
	}
	m.spread(a)
	a.merged = m
	return is
}

// spread has a class know what the classes before it know, as nodes do.
func (m *merging) spread(a *Automaton) {
	for more := true; more; {
		more = false
		for _, k := range a.order {
			e := a.edges[k]
			if e.To == Ended || e.Effects.Again != 0 {
				continue
			}
			to := &m.knows[m.of[e.To&^Begun]]
			if knows := *to | m.knows[m.of[k.from]].with(k.result); knows != *to {
				*to, more = knows, true
			}
		}
	}
}

// mergedEdge returns where result leads from a class.
func (a *Automaton) mergedEdge(at uint32, result *fsfake.Result) (Edge, error) {
	m, key := a.merged, edgeKey{at, result}
	e, ok := m.edges[key]
	if !ok {
		var err error
		if e, err = a.edge(at, result); err != nil {
			return e, err
		}
		if to := e.To &^ Begun; int(to) < len(m.of) {
			e.To = m.of[to] | e.To&Begun
		}
		m.edges[key] = e
	}
	if !m.known[key] {
		m.known[key] = true
		m.asked = append(m.asked, key)
	}
	return e, nil
}

// knownTo are the inode numbers that a task may know at a node, or at a class.
func (a *Automaton) knownTo(n uint32) Numbers {
	m := a.merged
	switch {
	case m == nil:
		return a.nodes[n].Knows
	case m.unfolds:
		if c, ok := m.classOf[n]; ok {
			n = c
		}
	case int(n) < len(m.of):
		n = m.of[n]
	}
	if int(n) < len(m.knows) {
		return m.knows[n]
	}
	return a.nodes[n].Knows
}

// Unfold has Learn follow nodes from here on, or classes again. Learn then returns [ErrMerged]
// for a node that does not do what its class does.
func (a *Automaton) Unfold(on bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	m := a.merged
	if on && m.classOf == nil {
		m.classOf = map[uint32]uint32{a.First(): m.of[a.First()]}
	}
	m.unfolds = on
}

// unfolded returns where result leads from a node, and compares that with its class.
func (a *Automaton) unfolded(at uint32, result *fsfake.Result) (Edge, error) {
	m := a.merged
	key := edgeKey{m.classOf[at], result}
	e, err := a.edge(at, result) // whatever comes of it, the next guess will know
	if err != nil {
		return e, err
	}
	want, ok := m.edges[key]
	if !ok || !m.known[key] {
		return Edge{}, ErrMerged
	}
	to, class := e.To&^Begun, want.To&^Begun
	if e.Effects != want.Effects || e.Input != want.Input || e.To&Begun != want.To&Begun || !sameLabel(a, to, class) {
		return Edge{}, ErrMerged
	}
	switch old, met := m.classOf[to]; {
	case met && old != class:
		return Edge{}, ErrMerged
	case !met:
		m.classOf[to] = class
	}
	return e, nil
}

// closingCalls bounds the calls of the runs that close a table, on average: a program that spins on a
// cell goes on without end, each time from its start.
const closingCalls = 100

// CloseTable runs the program over all sequences of results that the merged automaton allows, as far
// as that takes no more than so many runs, of [closingCalls] calls on average: closed is false when it takes
// more. The error is
// [ErrMerged], that of ctx, or one of the program, which may be given results that never come
// together.
func (a *Automaton) CloseTable(ctx context.Context, runs int) (closed bool, err error) {
	a.Unfold(true)
	defer a.Unfold(false)
	a.mu.Lock()
	defer a.mu.Unlock()
	results := map[uint32][]*fsfake.Result{}
	for _, k := range a.merged.asked {
		results[k.from] = append(results[k.from], k.result)
	}
	first, calls := a.runs, 0
	var wrong error
	seen := map[uint32]bool{a.First(): true}
	for todo := []uint32{a.First()}; len(todo) > 0; todo = todo[1:] {
		for _, r := range results[a.merged.classOf[todo[0]]] {
			if a.runs-first > runs || calls > runs*closingCalls {
				return false, wrong
			}
			if ctx.Err() != nil {
				return false, ctx.Err()
			}
			before := a.runs
			e, err := a.unfolded(todo[0], r)
			calls += (a.runs - before) * a.nodes[todo[0]].depth
			if errors.Is(err, ErrMerged) {
				wrong = err // going on teaches more for the next guess
				continue
			}
			if err != nil {
				return false, err
			}
			if to := e.To &^ Begun; to > Ended && !seen[to] {
				seen[to] = true
				todo = append(todo, to)
			}
		}
	}
	return wrong == nil, wrong
}
