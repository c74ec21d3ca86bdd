package learn

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"lockpick/fsfake"
)

// A retry loop's rounds come in any order, and what one kind of round leaves behind may
// show only after another kind. So when the space is covered, the program also runs
// along drawn walks through its automaton, round after round of the loops that were
// learned; each call must be the one that the automaton has there. This is a sample: it
// makes it unlikely that a program carries something from round to round unnoticed.

// walks is how many walks are drawn for a task with retry loops, walkCalls after how many
// calls a walk takes the way out.
const (
	walks     = 32
	walkCalls = 200
	// externalWalks is how many are drawn for a real program, where a call takes long.
	externalWalks = 4
)

// A walker draws walks through an automaton.
type walker struct {
	a    *Automaton
	out  [][]edgeKey // by node: the learned edges
	back []bool      // by node: a round can still come to its end from here
	// renumbers: the program only has inode numbers compared, so that others do as well.
	renumbers bool
}

func newWalker(a *Automaton) *walker {
	w := &walker{a: a, out: make([][]edgeKey, len(a.nodes)), back: make([]bool, len(a.nodes)), renumbers: !a.external}
	for _, k := range a.order {
		w.renumbers = w.renumbers && !a.edges[k].Effects.Seen.Has(fsfake.NumberSeen)
		w.out[k.from] = append(w.out[k.from], k)
		if a.edges[k].leadsBack() {
			w.back[k.from] = true
		}
	}
	for n := len(a.nodes) - 1; n >= Start; n-- { // nodes come after their parents
		if w.back[n] && a.nodes[n].parent >= Start {
			w.back[a.nodes[n].parent] = true
		}
	}
	return w
}

// leadsBack reports whether an edge leads to the top of a loop.
func (e Edge) leadsBack() bool { return e.Effects.Again != 0 || e.Back }

// loops reports whether there is any retry loop.
func (w *walker) loops() bool { return len(w.back) > Start && w.back[Start] }

// next draws an edge out of a node: for some time one that stays in a loop.
func (w *walker) next(rng *rand.Rand, at uint32, calls int) (edgeKey, bool) {
	var stay []edgeKey
	for _, k := range w.out[at] {
		e := w.a.edges[k]
		if e.leadsBack() || w.back[e.To&^Begun] {
			stay = append(stay, k)
		}
	}
	choice := w.out[at]
	if calls < walkCalls && len(stay) > 0 {
		choice = stay
	}
	if len(choice) == 0 || calls > 2*walkCalls {
		return edgeKey{}, false
	}
	return choice[rng.IntN(len(choice))], true
}

// FuzzLoops runs the program along drawn walks, unless it was run along walks through rounds of
// these kinds before.
func (a *Automaton) FuzzLoops(ctx context.Context, tried *Tried) error {
	w := newWalker(a)
	if a.joined != nil || !w.loops() {
		return nil
	}
	kinds := kindKey{a.task(), w.kinds()}
	if tried.has(kinds) {
		return nil
	}
	n := uint64(walks)
	if a.external {
		n = externalWalks
	}
	for seed := range n {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := w.walk(rand.New(rand.NewPCG(seed, 0))); err != nil {
			return err
		}
	}
	tried.add(kinds)
	return nil
}

// kinds names the kinds of rounds that there are, together.
func (w *walker) kinds() string {
	var all []string
	for _, k := range w.a.order {
		if e := w.a.edges[k]; e.leadsBack() {
			all = append(all, w.a.kind(k, e))
		}
	}
	slices.Sort(all)
	return "in any order: " + strings.Join(slices.Compact(all), "\n")
}

// walk runs the program along one walk.
func (w *walker) walk(rng *rand.Rand) error {
	a, numbers := w.a, numbering{}
	var r fsfake.Result
	_, err := a.along(func(at uint32, calls int, back bool) (edgeKey, *fsfake.Result, error) {
		if back {
			numbers.forget(a.nodes[at].Knows)
		}
		k, ok := w.next(rng, at, calls)
		if !ok {
			return k, nil, nil
		}
		if r = *k.result; w.renumbers {
			numbers.rename(rng, &r)
		}
		return k, &r, nil
	})
	return err
}

// along runs the program along edges that it was seen to take, as next has them: at a node, after so many calls, back
// says whether it has come there by an edge that leads back. next returns the edge and what the program is told, or
// nil at the end. The program must make the calls, and tell the history, what it did when the edges were learned;
// calls counts those that it has.
func (a *Automaton) along(next func(at uint32, calls int, back bool) (edgeKey, *fsfake.Result, error)) (calls int,
	err error) {
	code, err := a.start(a.process, a.n)
	if err != nil {
		return 0, err
	}
	defer code.Stop()
	if f, ok := code.(*function); ok && a.joined != nil {
		a.tries.Again, a.tries.Tries = true, true
		f.learning = &a.tries
	}
	var k edgeKey
	err = Follow(code, nil, func(op *fsfake.Op, more bool, notes []any) (r *fsfake.Result, err error) {
		at, back := a.first, false
		if calls > 0 {
			e := a.edges[k]
			at, back = e.To&^Begun, e.leadsBack()
			did, err := Digest(a.name, notes)
			if err != nil {
				return nil, err
			}
			if did != e.Effects {
				return nil, a.carriesAcross(calls-1, a.nodes[at].Op, *op, more)
			}
		}
		if nd := &a.nodes[at]; more == nd.Ended || more && *op != nd.Op {
			return nil, a.carriesAcross(calls, nd.Op, *op, more)
		}
		if k, r, err = next(at, calls, back); r != nil {
			calls++
		}
		return r, err
	})
	return calls, err
}

// Repeats reports whether the program can go on for ever, as far as it was learned: it has a
// loop, or makes a call that may wait.
func (a *Automaton) Repeats() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.nodes {
		if a.nodes[i].Op.MayBlock() {
			return true
		}
	}
	return slices.ContainsFunc(a.order, func(k edgeKey) bool { return a.edges[k].leadsBack() })
}
