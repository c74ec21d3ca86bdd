package engine

import (
	"lockpick/checker/internal/history"
	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/parallel"
	"lockpick/fsfake"
	"lockpick/sched"
)

// An Expander computes successors of states. It has caches of its own of what is small and
// asked for all the time.
type Expander struct {
	X         *Space
	nodes     [][]knownNode
	edges     map[uint64]knownEdge // but the first of each node
	late      knownEdge            // one of these
	exits     map[uint64]judged    // what the exit of a process does to a history
	bads      map[uint32]bool
	losses    map[uint32]int // states of the disk after a loss of power, by machine
	Out       []successor
	words     []uint32
	workspace workspace
	tmp       []uint32
	locals    map[localKey]int // in which way calls are local, see ExpandLocal
	// known and tried count transitions.
	known, tried int
	// postpones: what is not known is not learned, but listed in wanted.
	postpones bool
	wanted    []want
	// unfinished: the state expanded last has somebody who is not finished.
	unfinished bool
	_          [parallel.CacheLine]byte
}

// A judged is a history after an event, and whether it is linearizable.
type judged struct {
	to uint32
	ok bool
}

// A successor is one transition out of a state.
type successor struct {
	Choice    sched.Choice
	at        int  // where its words begin in Expander.words
	Slot      int  // who stepped, or -1
	Bad       bool // it breaks the property
	Contended bool // it met somebody else's lock
	Asleep    bool // whoever stepped has given way
}

// Stepper is whose step a successor is, or -1 for a fault. A call that fails because a budget lets
// it is one: what nothing but faults leads out of is a trap.
func (s *successor) Stepper() int {
	if s.Choice.Fails != "" {
		return -1
	}
	return s.Slot
}

// NewExpander returns an expander of the states of a space.
func NewExpander(x *Space) *Expander {
	return &Expander{
		X: x, nodes: make([][]knownNode, len(x.Slots)), bads: map[uint32]bool{}, losses: map[uint32]int{},
		edges: map[uint64]knownEdge{}, exits: map[uint64]judged{},
		tmp: make([]uint32, x.Width()+2*parallel.CacheLine/4)[parallel.CacheLine/4:][:x.Width()],
	}
}

// State returns the words of a successor; they are valid until the next expand.
func (w *Expander) State(s *successor) []uint32 { return w.words[s.at : s.at+w.X.Width()] }

func (w *Expander) node(slot int, n uint32) *knownNode {
	if ps := w.nodes[slot]; int(n) < len(ps) && ps[n].known {
		return &ps[n]
	}
	return w.newNode(slot, n)
}

func (w *Expander) newNode(slot int, n uint32) *knownNode {
	ps := w.nodes[slot]
	if int(n) >= len(ps) {
		ps = append(ps, make([]knownNode, int(n)+64-len(ps))...)
		w.nodes[slot] = ps
	}
	ps[n] = w.X.node(slot, n)
	return &ps[n]
}

// fewEdges is how many edges lie with their node: most calls have few answers.
const fewEdges = 8

// edge returns what a worker needs to know of an edge. It is not to be changed, and valid until another is
// asked for.
func (w *Expander) edge(slot int, n, result uint32) (*knownEdge, error) {
	pl := w.node(slot, n)
	for i := range pl.edges {
		if pl.edges[i].result == result {
			return &pl.edges[i], nil
		}
	}
	key := uint64(slot)<<58 | uint64(n)<<32 | uint64(result)
	if len(pl.edges) == fewEdges {
		var ok bool
		if w.late, ok = w.edges[key]; ok {
			return &w.late, nil
		}
	}
	if w.postpones && !w.X.knows(slot, n, result) {
		w.postpone(slot, n, result)
		return nil, errPostponed
	}
	l, err := w.X.edge(slot, n, result)
	if err != nil {
		return nil, err
	}
	if l.result = result; len(pl.edges) < fewEdges {
		pl.edges = append(pl.edges, l)
	} else {
		w.edges[key] = l
	}
	w.late = l
	return &w.late, nil
}

// oftenKnown is how many transitions must be known already for each that was tried, so that none is forgotten. With a
// machine for every state hardly any is asked for twice.
const oftenKnown = 2

func (w *Expander) transition(machine uint32, slot int, op uint32) (transition, error) {
	key := transitionKey(machine, slot, op)
	if m := w.X.transitions.Get(key); m != 0 {
		w.known++
		return unpackTransition(m), nil
	}
	w.tried++
	m, err := w.X.machines.apply(machine, op, w.X.Slots[slot].id, &w.workspace)
	if err == nil {
		w.X.transitions.Put(key, m.pack(), w.known < oftenKnown*w.tried)
	}
	return m, err
}

func transitionKey(machine uint32, slot int, op uint32) uint64 {
	return uint64(machine)<<32 | uint64(slot)<<26 | uint64(op)
}

// remember appends an event to a history; event 0 is none.
func (w *Expander) remember(id uint32, client int, event uint32) judged {
	if event == 0 {
		return judged{id, true}
	}
	key := history.StepKey(id, client, event)
	if s := w.X.steps.Get(key); s != 0 {
		return judged{uint32(s >> 2), s&2 != 0}
	}
	to, ok := w.X.Histories.Append(id, client, event)
	s := uint64(to)<<2 | 1
	if ok {
		s |= 2
	}
	w.X.steps.Put(key, s, false)
	return judged{to, ok}
}

// begin starts a successor as a copy of s.
func (w *Expander) begin(s []uint32, c sched.Choice, slot int) ([]uint32, successor) {
	next := w.tmp
	copy(next, s)
	return next, successor{Choice: c, Slot: slot}
}

// end stores a successor.
func (w *Expander) end(succ *successor, next []uint32) {
	if w.X.machines.marks && w.isBad(next[wordMachine]) {
		succ.Bad = true
	}
	succ.at = len(w.words)
	w.words = append(w.words, next...)
	w.Out = append(w.Out, *succ)
}

// Op returns the call that a task would make next, for reports.
func (x *Space) Op(s []uint32, slot int) fsfake.Op {
	return x.automata[slot].Node(s[wordNodes+slot] &^ learn.Begun).Op
}
