package learn

import "lockpick/fsfake"

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
