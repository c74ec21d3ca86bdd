package learn

import (
	"math/rand/v2"

	"lockpick/fsfake"
)

// Numbers is a set of inode numbers. They are counted from 1 as files are shown to a process;
// number n is bit n-1. A set with a number above 64 is all numbers.
type Numbers uint64

// All is the set of all numbers.
const All = ^Numbers(0)

// with is what is known after a result.
func (n Numbers) with(r *fsfake.Result) Numbers {
	switch {
	case r == nil || r.Stat.Ino == 0:
		return n
	case r.Stat.Ino > 64:
		return All
	}
	return n | 1<<(r.Stat.Ino-1)
}

// Forgets reports whether the task can make use of fewer inode numbers after an edge than before:
// of those in keep. A program that has ended uses none, and a round of a retry loop knows those
// from before the loop. Of a program that is no Go function it is not known what else it does
// with them.
func (a *Automaton) Forgets(from uint32, r *fsfake.Result, e *Edge) (keep Numbers, fewer bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	back := e.Effects.Again != 0 && !a.external
	if !back && (e.To != Ended || a.external && !a.alone) {
		return 0, false
	}
	keep = a.nodes[e.To&^Begun].Knows
	return keep, keep != a.nodes[from].Knows.with(r)
}

// A numbering says which inode numbers a walk shows in place of those that were learned: the same,
// or one that was not shown before. In a round of a retry loop other files may have the numbers
// of files of earlier rounds, or new ones, and it must make no difference.
type numbering struct {
	shown []uint64 // in place of 1, 2, ...; 0 for none yet
	fresh uint64
}

// firstFresh is more than any number that was learned.
const firstFresh = 1 << 20

// rename replaces the number in a result.
func (n *numbering) rename(rng *rand.Rand, r *fsfake.Result) {
	if r.Stat.Ino == 0 {
		return
	}
	for uint64(len(n.shown)) < r.Stat.Ino {
		n.shown = append(n.shown, 0)
	}
	to := &n.shown[r.Stat.Ino-1]
	if *to == 0 && rng.IntN(2) == 0 {
		*to = r.Stat.Ino
	} else if *to == 0 {
		*to = firstFresh + n.fresh
		n.fresh++
	}
	r.Stat.Ino = *to
}

// forget shows all but the numbers in keep anew.
func (n *numbering) forget(keep Numbers) {
	for i := range n.shown {
		if keep != All && keep>>i&1 == 0 {
			n.shown[i] = 0
		}
	}
}
