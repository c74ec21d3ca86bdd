package engine

import "lockpick/checker/internal/learn"

// Inode numbers are a process's own, counted as files are shown to it, and all that a program can
// do with two is compare them. So a number that a program will never compare again makes no
// difference, but in the key of the state: a lock that is opened and looked at in every round of
// a retry loop would have a state for every set of files that it ever met, and none at the end
// where each round makes a file. The graph has the machine forget such numbers:
//
//   - when the program has ended;
//   - on the way back to the top of a retry loop, all that were shown since the top of the first
//     round: a round has promised to carry nothing over. The promise is tried out with numbers
//     that differ from round to round (learn.Automaton.FuzzLoops), and live runs, which forget
//     nothing, are followed through the graph ([Space.Verify]);
//   - where automata are merged, also wherever it is dead (learn/dead.go).
//
// A number that another task of the process knows is kept. Where a number itself may have been
// told to somebody, or written down, nothing is right but to keep all: the process pins them when
// a task gets hold of one itself (fsfake.NumberSeen) instead of having two compared. What a
// program in another language does with a number is not known: it forgets when it has ended.
// Where cycles are asked for, nothing is forgotten: what is shown as a lap ends where it began.

// opForget has a process forget inode numbers, opPin has it forget none any more.
type (
	opForget struct{ keep learn.Numbers }
	opPin    struct{}
)

// forget has the machine of a state forget what nobody will use after an edge of a task. The
// nodes of the other tasks of its process are those of the state.
func (w *Expander) forget(next []uint32, slot int, l *leap) error {
	if !l.pins && !l.forgets {
		return nil
	}
	op := l.forget
	if !l.pins {
		keep := l.keeps
		for j := range w.X.Slots {
			if n := next[wordNodes+j] &^ learn.Begun; j != slot && w.X.Slots[j].process == w.X.Slots[slot].process {
				keep |= w.place(j, n).knows
			}
		}
		if keep == learn.All {
			return nil
		}
		if keep != l.keeps {
			op = w.X.machines.op(opForget{keep})
		}
	}
	m, err := w.transition(next[wordMachine], slot, op)
	next[wordMachine] = m.machine
	return err
}
