package learn

import "lockpick/fsfake"

// A program that takes long to start, as a real one does, is not run from its start for
// every edge: an instance that has come to a node stays there, at its next call, until an
// edge out of that node is to be learned. So the number of runs is that of the paths to the
// ends, not of the edges. A Go function is cheaper to run again than to keep, and the number
// of its runs, which is reported, would depend on which worker came first.

// maxInstances bounds how many instances an automaton keeps, unless the program says that more are no burden
// ([scenarios.Learning]). When there are more, the newest makes room. Breadth first needs the oldest next, and
// stopping that one would leave each node without an instance by the time that an edge out of it is learned.
// Depth first needs the one that has just come, which is kept.
const maxInstances = 64

// instances are the running programs of one automaton, each standing at a node.
type instances struct {
	at    map[uint32]Code
	order []uint32 // in which they came; may name nodes that are gone
}

// take returns the instance that stands at a node, if there is one. It is the caller's then.
func (s *instances) take(node uint32) (Code, bool) {
	code, ok := s.at[node]
	delete(s.at, node)
	return code, ok
}

// keep lets an instance stand at a node, one of so many at most.
func (s *instances) keep(node uint32, code Code, most int) {
	if s.at == nil {
		s.at = map[uint32]Code{}
	}
	if old, ok := s.take(node); ok {
		old.Stop()
	}
	for n := len(s.order) - 1; n >= 0 && (len(s.at) >= most || s.at[s.order[n]] == nil); n-- {
		if old, ok := s.take(s.order[n]); ok {
			old.Stop()
		}
		s.order = s.order[:n]
	}
	s.at[node] = code
	s.order = append(s.order, node)
}

// Close stops every instance that is kept, and lets go of what the program keeps for learning. The
// automaton can go on learning after it.
func (a *Automaton) Close() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, node := range a.kept.order {
		if code, ok := a.kept.take(node); ok {
			code.Stop()
		}
	}
	a.kept.order = nil
	a.learning.Close()
	a.again.Close()
	a.tries.Close()
}

// Where several tasks of a real program ask at once, the schedule chooses, and each order of their calls is a path of
// its own. Most orders come to the same: then the program is in one state where the paths meet, and goes on alike.

// met is the node that a program stands at where it is to choose: the new one, or an earlier one at which it was in the
// same state. The new one is dropped then.
func (a *Automaton) met(is uint32, code Code) uint32 {
	f, ok := code.(*function)
	isNew := is > Start && int(is) == len(a.nodes)-1
	if !ok || !isNew || !a.external || a.joined != nil || a.nodes[is].Op.Call != fsfake.CallChoose {
		return is
	}
	state := said(f.says.State)
	if state == "" {
		return is
	}
	was, known := a.states[state]
	if !known {
		if a.states == nil {
			a.states = map[string]uint32{}
		}
		a.states[state] = is
		return is
	}
	x, y := &a.nodes[was], &a.nodes[is]
	if x.Op != y.Op || x.Begins != y.Begins || x.Open != y.Open || x.Knows != y.Knows || x.Family != y.Family {
		return is
	}
	a.nodes = a.nodes[:is]
	return was
}
