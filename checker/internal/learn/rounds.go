package learn

import (
	"slices"

	"lockpick/fsfake"
)

// A real program does not mark its retry loops. They are found: where the last calls and
// their results are those of the calls before them, once more, the next call may be the top
// of a round that could be repeated for ever. The program is then given that round's results
// again and again; only if it makes the round's calls each time are the two places one.
//
// A program that gives up after so many rounds is not merged when it does so within
// [ExternalRounds]; what gives up later counts as endless. A round
// that does not sleep is never merged: programs write long texts piece by piece.

// roundTop returns the node that a place with a pending call is merged with, if it is the
// top of a further round: path leads to the node before it, result is what led on from there. failed
// rounds are not tried again.
func (a *Automaton) roundTop(path []uint32, result *fsfake.Result, op fsfake.Op, eff Effects) (uint32, bool) {
	slept := a.lastSleep(path)
	if slept < 0 {
		return 0, false
	}
	results := make([]*fsfake.Result, len(path)) // what each node's call answered
	for i := range path {
		results[i] = result
		if i+1 < len(path) {
			results[i] = a.nodes[path[i+1]].via
		}
	}
	for size := len(path) - slept; 2*size <= len(path); size++ {
		first := path[len(path)-size] // of the round that has just ended
		if top := &a.nodes[first]; top.Op != op || top.Begins != eff || first == Start {
			continue
		}
		if !a.tried[first] && a.repeats(path, results, size) {
			return first, true
		}
	}
	return 0, false
}

// repeats reports whether the last calls, so many, and their results are those of as many
// calls before them.
func (a *Automaton) repeats(path []uint32, results []*fsfake.Result, size int) bool {
	for i := len(path) - size; i < len(path); i++ {
		x, y := &a.nodes[path[i]], &a.nodes[path[i-size]]
		if x.Op != y.Op || *results[i] != *results[i-size] || i > len(path)-size && x.Begins != y.Begins {
			return false
		}
	}
	return true
}

// lastSleep returns where on a path the program slept last, or -1. Only a round that reaches back to there
// gives way: one that does not may be a long text that is written piece by piece. Such a text has no sleep at
// all, and nothing of it need be compared.
func (a *Automaton) lastSleep(path []uint32) int {
	for i, id := range slices.Backward(path) {
		if a.nodes[id].Op.Call == fsfake.CallSleep {
			return i
		}
	}
	return -1
}

// endless reports whether a program goes round for ever, as far as it was tried: code is at
// the top of a further round, round lists the nodes of one, and result is what leads back.
func (a *Automaton) endless(code Code, round []uint32, result *fsfake.Result) (bool, error) {
	for range ExternalRounds {
		for i := range round {
			next, r := round[0], result
			if i+1 < len(round) {
				next = round[i+1]
				r = a.nodes[next].via
			}
			op, more, _, err := proceed(code, r)
			if err != nil || !more || op != a.nodes[next].Op {
				return false, err
			}
		}
	}
	return true, nil
}
