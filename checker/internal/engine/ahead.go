package engine

import (
	"cmp"
	"errors"
	"runtime"
	"slices"

	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/parallel"
)

// A real program takes long to start, and to answer. So what several of them are to be asked next is
// found first, and then they are asked side by side. Each is asked the same, in the same order, as it
// would be state by state.

// A want is an answer that a task has not been told yet.
type want struct {
	slot      int
	n, result uint32
}

// errPostponed is why a step has no successor yet.
var errPostponed = errors.New("checker: what a program does next is learned later")

// ExpandAhead expands one of n states. Where that lacks what programs are to be asked, it is found out
// first what they are to be asked for all states from there on.
func (w *Expander) ExpandAhead(state func(i int) (id int, row []uint32), at, n int) error {
	w.postpones = w.X.Sc.External && len(w.X.automata) > 1
	defer func() { w.postpones = false }() // whoever expands a state by itself gets all its successors
	_, row := state(at)
	err := w.Expand(row)
	for i := at + 1; err == nil && len(w.wanted) > 0; i++ {
		if i < n {
			_, row := state(i)
			err = w.Expand(row)
			continue
		}
		if err = w.learn(); err == nil {
			return w.ExpandAhead(state, at, n)
		}
	}
	return err
}

// postpone notes a want, once.
func (w *Expander) postpone(slot int, n, result uint32) {
	if is := (want{slot, n, result}); !slices.Contains(w.wanted, is) {
		w.wanted = append(w.wanted, is)
	}
}

// laterIf passes over what is learned later.
func (w *Expander) laterIf(err error) error {
	if errors.Is(err, errPostponed) {
		return nil
	}
	return err
}

// learn learns all that was wanted, that of different tasks side by side. The error is that of what
// was wanted first, of those that have one.
func (w *Expander) learn() error {
	errs := make([]error, len(w.wanted))
	slot := map[*learn.Automaton]int{}
	for i, a := range w.X.automata {
		slot[a] = i
	}
	err := w.X.eachAutomaton(min(runtime.GOMAXPROCS(0), parallel.MaxWorkers), func(a *learn.Automaton) error {
		for i, is := range w.wanted {
			if is.slot != slot[a] {
				continue
			}
			if _, errs[i] = a.Learn(is.n, w.X.machines.result(is.result)); errs[i] != nil {
				break
			}
		}
		return nil
	})
	w.wanted = w.wanted[:0]
	return cmp.Or(append(errs, err)...)
}

// knows reports whether it is known where a result leads.
func (x *Space) knows(slot int, n, result uint32) bool {
	return x.automata[slot].Knows(n, x.machines.result(result))
}

// start learns how each task begins: those that take long to start side by side.
func (x *Space) start() error {
	x.automata = make([]*learn.Automaton, len(x.Slots))
	errs := make([]error, len(x.Slots))
	begin := func(i int) {
		x.automata[i], errs[i] = learn.New(x.Sc, learn.Functions(x.Sc), x.Slots[i].process, x.Slots[i].Task.N)
	}
	if x.Sc.External {
		parallel.Together(len(x.Slots), begin)
	} else {
		for i := range x.Slots {
			if begin(i); errs[i] != nil {
				break
			}
		}
	}
	err := cmp.Or(errs...)
	if err != nil {
		for _, a := range x.automata {
			if a != nil {
				a.Close()
			}
		}
	}
	return err
}
