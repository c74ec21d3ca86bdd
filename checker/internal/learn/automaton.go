package learn

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// An Automaton is what has been learned of one task's code. A task that talks to the
// world through calls and cells only is a deterministic function of the results it
// has seen; a node stands for "this task after this sequence of results", an edge is
// labelled with a result. An edge is learned once, by running the real program over the
// results that lead there, and is data from then on.
//
// A retry loop leads back: at the top of a later round the task is where it was at the
// top of the first. That promise of the program is checked at every learned edge.
type Automaton struct {
	mu       sync.Mutex // held while it learns
	scenario string     // its id
	start    Starter
	process  int
	n        int // task number, from 1
	name     string
	first    uint32 // where it begins
	nodes    []node
	edges    map[edgeKey]Edge
	order    []edgeKey // in which the edges were learned
	runs     int       // of the program's code
	learned  int       // edges
	// external: the program is not a Go function: it is slow to start, and marks no loops.
	external bool
	turns    bool // accesses to cells are turns of an event loop
	alone    bool // the only task of its process
	kept     instances
	learning scenarios.Learning
	again    scenarios.Learning // of what is looked at again
	tries    scenarios.Learning // of what is tried out
	joined   *joining           // nil where a round of polling may carry something over
	tried    map[uint32]bool    // nodes that were taken for the top of an endless loop, and are not
	states   map[string]uint32
}

// An edgeKey names an edge: results are numbered, so equal results are one pointer.
type edgeKey struct {
	from   uint32
	result *fsfake.Result
}

// The nodes that every automaton has. A task of a process that has ended is gone; a
// program that has returned has ended, wherever it came from.
const (
	Gone  = 0
	Ended = 1
	Start = 2
)

// Begun is set in a node's number when what begins with its call has begun already:
// the call waits, or the task is back at the top of a retry loop.
const Begun = 1 << 31

// A node is a place in a task's code: between two calls.
type node struct {
	parent uint32         // where from; nodeStart has none
	via    *fsfake.Result // the result that led here
	Op     fsfake.Op      // the call to be made next
	Begins Effects        // what begins with that call
	Ended  bool
	depth  int
	heads  []head // the retry loops begun on the way here
	Open   any    // input of the operation that is under way, nil for none
	// Knows are the inode numbers that the task was shown on the way here.
	Knows  Numbers
	Family scenarios.Family
	spent  bool // no instance stands here: the one that came was used to try a loop
}

// A head is the top of a retry loop.
type head struct {
	loop int
	at   uint32
}

// An Edge is what a task did after a result.
type Edge struct {
	To      uint32
	Effects Effects
	// Input of the operation that returned, when one did.
	Input any
	// Back: it leads back to the top of a loop that the program has not marked.
	Back bool
	// Proved: a round by this edge brings the program back to what it remembered before.
	Proved bool
}

// New returns what can be learned of task n of a process by starting it: at
// first, what it does before its first call.
func New(sc *scenarios.Scenario, start Starter, process, n int) (*Automaton, error) {
	a := &Automaton{
		scenario: sc.ID, external: sc.External, turns: sc.Setting.Concurrency == scenarios.EventLoop, alone: sc.Setting.TasksOf(process) == 1, start: start, process: process, n: n,
		edges: map[edgeKey]Edge{},
	}
	a.name = a.task().String()
	a.nodes = append(a.nodes, node{Ended: true}, node{Ended: true})
	e, err := a.extend(Gone, nil)
	if err != nil {
		return nil, err
	}
	if e.To != Start && e.To != Ended {
		return nil, fmt.Errorf("checker: %s: no start", a.name)
	}
	a.first = e.To
	return a, nil
}

// First is where the task begins. Several may ask side by side, while others learn.
func (a *Automaton) First() uint32 { return a.first }

// Learn returns where result leads from node at. Several may learn side by side.
func (a *Automaton) Learn(at uint32, result *fsfake.Result) (Edge, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.edge(at, result)
}

// Knows reports whether an edge has been learned.
func (a *Automaton) Knows(at uint32, result *fsfake.Result) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, ok := a.edges[edgeKey{at, result}]
	return ok
}

// Node returns a place in the task's code.
func (a *Automaton) Node(n uint32) node {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.nodes[n]
}

// Calls reports whether the program was seen to make a call of a kind.
func (a *Automaton) Calls(kind fsfake.Call) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return slices.ContainsFunc(a.nodes, func(n node) bool { return n.Op.Call == kind })
}

// SeesPid reports whether the program was seen to ask for its own pid.
func (a *Automaton) SeesPid() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.nodes[a.first].Begins.Seen.Has(fsfake.PidSeen) || slices.ContainsFunc(a.order, func(k edgeKey) bool {
		return a.edges[k].Effects.Seen.Has(fsfake.PidSeen)
	})
}

// edge returns where result leads from node at, and learns it when it is new.
func (a *Automaton) edge(at uint32, result *fsfake.Result) (Edge, error) {
	key := edgeKey{at, result}
	if e, ok := a.edges[key]; ok {
		return e, nil
	}
	e, err := a.extend(at, result)
	if err == nil {
		a.edges[key] = e
		a.order = append(a.order, key)
	}
	return e, err
}

// extend learns where result leads from node at.
func (a *Automaton) extend(at uint32, result *fsfake.Result) (e Edge, err error) {
	a.learned++
	code, op, more, notes, err := a.reach(at, result)
	if code != nil {
		defer func() {
			if a.external && err == nil && e.To > Ended && a.comesFrom(e.To&^Begun, at, result) {
				a.kept.keep(e.To, code, max(maxInstances, a.learning.Light))
			} else {
				code.Stop()
			}
		}()
	}
	if err != nil {
		return e, err
	}
	eff, err := Digest(a.name, notes)
	if err != nil {
		return e, err
	}
	path := a.path(at)
	if more {
		if e, ok := a.join(at, result, op, eff); ok {
			return e, nil
		}
	}
	if a.external && more {
		if top, ok := a.roundTop(path, result, op, eff); ok {
			return a.backOrOn(code, path, top, result, op, eff)
		}
	}
	if e, err = a.place(at, result, op, !more, eff); err == nil {
		e.To = a.met(e.To, code)
	}
	if err == nil && eff.Again != 0 {
		err = a.unroll(code, path[a.nodes[e.To&^Begun].depth:], result, e.Effects, 2, firstRounds+1)
	}
	return e, err
}

// comesFrom reports whether a node is one that a result has led to first, and an instance may stand there.
func (a *Automaton) comesFrom(is, at uint32, result *fsfake.Result) bool {
	n := &a.nodes[is]
	return n.parent == at && n.via == result && !n.spent
}

// reach brings a run of the program to where result leads from node at. The caller stops
// code, which is nil when it could not be started.
func (a *Automaton) reach(at uint32, result *fsfake.Result) (code Code, op fsfake.Op, more bool, notes []any, err error) {
	if kept, ok := a.kept.take(at); ok && result != nil {
		op, more, notes, err = proceed(kept, result)
		return kept, op, more, notes, err
	}
	return a.run(at, result, true)
}

// run starts the program and brings it to where result leads from node at; nil is where it
// starts. What it does on the way must be what it did when that was learned. learns says that what
// comes then is new, and not looked at once more: of the call it is found out whether the program itself
// makes it. The program may use what it keeps for learning, or for looking at it again.
func (a *Automaton) run(at uint32, result *fsfake.Result, learns bool) (code Code, op fsfake.Op, more bool, notes []any, err error) {
	a.runs++
	if code, err = a.start(a.process, a.n); err != nil {
		return nil, op, false, nil, err
	}
	if f, ok := code.(*function); ok && a.external {
		f.learning = &a.again
		if a.again.Again = true; learns {
			f.learning = &a.learning
		}
	}
	last := func() {
		if f, ok := code.(*function); ok {
			f.identify = learns
		}
	}
	path, i := a.path(at), 0
	if result == nil {
		path = nil
		last()
	}
	err = Follow(code, nil, func(is *fsfake.Op, goesOn bool, noted []any) (*fsfake.Result, error) {
		if i == len(path) {
			op, more, notes = *is, goesOn, noted
			return nil, nil
		}
		if !goesOn || *is != a.nodes[path[i]].Op {
			return nil, a.indeterminate(i, a.nodes[path[i]].Op, *is, goesOn)
		}
		if err := a.sameNotes(i, &a.nodes[path[i]].Begins, noted); err != nil {
			return nil, err
		}
		if i++; i < len(path) {
			return a.nodes[path[i]].via, nil
		}
		last()
		return result, nil
	})
	if f, ok := code.(*function); ok && err != nil {
		f.Stop() // which finds out whether the call was the program's own
		err = cmp.Or(f.faults.seen(), err)
	}
	return code, op, more, notes, err
}

// backOrOn leads an edge of a program without marks back to the top of a loop, if the
// program goes round for ever, and to a new node if it does not. Either way its run is
// spent. Where a round was tried that has come once more by now, it is not tried again.
func (a *Automaton) backOrOn(code Code, path []uint32, top uint32, result *fsfake.Result, op fsfake.Op, eff Effects) (Edge, error) {
	at := path[len(path)-1]
	if a.tried[top] {
		e, err := a.place(at, result, op, false, eff)
		a.tried[e.To] = err == nil
		return e, err
	}
	endless, proved, err := a.endless(code, path[a.nodes[top].depth:], result)
	if err != nil {
		return Edge{}, err
	}
	if endless {
		return Edge{To: top, Effects: eff, Input: a.nodes[at].Open, Back: true, Proved: proved}, nil
	}
	if a.tried == nil {
		a.tried = map[uint32]bool{}
	}
	a.tried[top] = true
	e, err := a.place(at, result, op, false, eff)
	if err == nil {
		a.nodes[e.To&^Begun].spent = true
		a.tried[e.To] = true // the tops of its later rounds
	}
	return e, err
}

// proceed gives a program the result of its call and runs it to its next.
func proceed(code Code, r *fsfake.Result) (op fsfake.Op, more bool, notes []any, err error) {
	if err := code.Answer(*r); err != nil {
		return op, false, nil, err
	}
	return code.Next()
}

// Told names a program's next call.
func Told(op fsfake.Op, more bool) string {
	if !more {
		return "the end of the program"
	}
	return op.String()
}

// path lists the nodes from the start to at.
func (a *Automaton) path(at uint32) []uint32 {
	if at < Start {
		return nil
	}
	p := make([]uint32, a.nodes[at].depth+1)
	for i := len(p) - 1; i >= 0; i-- {
		p[i] = at
		at = a.nodes[at].parent
	}
	return p
}

// indeterminate reports a program that answered differently on a second run.
func (a *Automaton) indeterminate(step int, was, is fsfake.Op, more bool) error {
	return fmt.Errorf("checker: task %s of %s is not a function of its calls: after the same %d results its next "+
		"call was first %q, then %q; does it range over a map, read time.Now, or run a goroutine outside its Proc?",
		a.name, a.scenario, step, was.String(), Told(is, more))
}

// sameNotes reports a program that told something else on a second run, after so many results.
func (a *Automaton) sameNotes(step int, was *Effects, notes []any) error {
	if len(notes) == 0 && *was == (Effects{}) { // as between most calls
		return nil
	}
	is, err := Digest(a.name, notes)
	if err != nil || is != *was {
		return fmt.Errorf("checker: task %s of %s is not a function of its calls: after the same %d results it did "+
			"first %s, then %s; does it range over a map, read time.Now, or run a goroutine outside its Proc?",
			a.name, a.scenario, step, was.told(), is.told())
	}
	return nil
}

// place finds or makes the node that an edge leads to.
func (a *Automaton) place(at uint32, result *fsfake.Result, op fsfake.Op, ended bool, eff Effects) (Edge, error) {
	from := &a.nodes[at]
	e := Edge{Effects: eff, Input: from.Open}
	if from.Begins.Invoked && !cutShort(result) {
		e.Input = from.Begins.Input
	}
	open := e.Input
	if eff.Returned {
		if e.Input == nil {
			return e, fmt.Errorf("checker: %s: an operation returned %v that was never invoked", a.name, eff.Output)
		}
		open = nil
	}
	if ended && eff.Invoked {
		return e, fmt.Errorf("checker: %s: operation %v made no call: every recorded operation needs at least "+
			"one", a.name, eff.Input)
	}
	if ended && at < Start && eff.Failed != "" {
		return e, fmt.Errorf("checker: task %s of %s fails the assertion %q and makes no call: there is no step to "+
			"blame", a.name, a.scenario, eff.Failed)
	}
	if eff.Again != 0 {
		return a.backTo(at, e, op, ended)
	}
	if ended {
		e.To = Ended
		return e, nil
	}
	n := node{
		parent: at, via: result, Op: op, Begins: eff, heads: from.heads, Open: open,
		Knows: a.nodes[at].Knows.with(result),
	}
	if at >= Start {
		n.depth = from.depth + 1
		n.Family = from.Family.After(&from.Op, result)
	}
	e.To = uint32(len(a.nodes))
	n.heads = n.heads[:len(n.heads):len(n.heads)]
	for _, loop := range eff.Begun {
		if loop != 0 {
			n.heads = append(n.heads, head{loop, e.To})
		}
	}
	a.nodes = append(a.nodes, n)
	again, err := a.polls(e.To)
	if again != 0 {
		a.nodes = a.nodes[:e.To]
		e.To = again
	}
	return e, err
}

// backTo leads an edge back to the top of its retry loop.
func (a *Automaton) backTo(at uint32, e Edge, op fsfake.Op, ended bool) (Edge, error) {
	for _, h := range a.nodes[at].heads {
		if h.loop != e.Effects.Again {
			continue
		}
		top := &a.nodes[h.at]
		same := !ended && top.Op == op
		switch eff := e.Effects; {
		case same && top.Begins.Invoked == eff.Invoked && top.Begins.Input == eff.Input && top.Begins.LetGo == eff.LetGo:
			e.To = h.at
		case same && !eff.Invoked && !eff.LetGo && e.Input == top.Begins.Input && !eff.Returned:
			e.To = h.at | Begun // the loop is inside the operation that began at its top
		default:
			return e, fmt.Errorf("checker: task %s of %s: a retry round carries something over: the first began with "+
				"%q, a later one with %q; declare what a round uses inside the round",
				a.name, a.scenario, top.Op.String(), op.String())
		}
		return e, nil
	}
	return e, fmt.Errorf("checker: task %s of %s: a retry loop goes on that was never begun", a.name, a.scenario)
}

// Each visits what was learned, in the order in which it was, until visit returns false. Nobody may learn meanwhile.
func (a *Automaton) Each(visit func(Edge) bool) {
	for _, k := range a.order {
		if !visit(a.edges[k]) {
			return
		}
	}
}

// Counts returns how often the program was run, and how many edges were learned by that.
func (a *Automaton) Counts() (runs, edges int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.runs, a.learned
}

// cutShort reports whether a call was not even begun when the program's first process was killed.
func cutShort(r *fsfake.Result) bool {
	if r == nil {
		return false
	}
	k, is := r.Value.(scenarios.Killed)
	return is && !k.Begun
}
