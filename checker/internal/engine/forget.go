package engine

import (
	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
)

// Inode numbers are a process's own, counted as files are shown to it, and all that a program can
// do with two is compare them. So a number that a program will never compare again makes no
// difference, but in the key of the state: a lock that is opened and looked at in every round of
// a retry loop would have a state for every set of files that it ever met, and none at the end
// where each round makes a file. The graph has the machine forget such numbers:
//
//   - when the program has ended, and
//   - on the way back to the top of a retry loop, all that were shown since the top of the first
//     round: a round has promised to carry nothing over. The promise is tried out with numbers
//     that differ from round to round (learn.Automaton.FuzzLoops), and live runs, which forget
//     nothing, are followed through the graph ([Space.Verify]).
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

// forget has the machine of a state forget what nobody will use after an edge of a task.
func (w *Expander) forget(next []uint32, slot int, l *knownEdge) error {
	op := w.forgets(next, slot, l)
	if op == 0 {
		return nil
	}
	m, err := w.transition(next[wordMachine], slot, op)
	next[wordMachine] = m.machine
	return err
}

// forgets is the operation for that, or 0. The nodes of the other tasks of its process are those of the state.
func (w *Expander) forgets(next []uint32, slot int, l *knownEdge) uint32 {
	if l.pins || !l.forgets {
		return l.forget
	}
	keep := l.keeps
	for j := range w.X.Slots {
		if n := next[wordNodes+j] &^ learn.Begun; j != slot && w.X.Slots[j].process == w.X.Slots[slot].process {
			keep |= w.node(j, n).knows
		}
	}
	switch keep {
	case learn.All:
		return 0
	case l.keeps:
		return l.forget
	}
	return w.X.machines.op(opForget{keep})
}

// Where a task forgets after most calls, the machine between the call and that would be one for each
// state that comes up in none. So the two are one operation, of which that machine is not numbered.

// opThen is an operation, and what is forgotten after it.
type opThen struct{ op, forget uint32 }

// call is transition for the call of a task at a node. Where it returns the edge that the task goes on along, the machine has forgotten already
// what it forgets there.
func (w *Expander) call(next []uint32, slot int, n, op uint32, pl *knownNode) (transition, *knownEdge, error) {
	machine := next[wordMachine]
	if pl.exit || pl.starts != 0 || w.X.KeepNumbers {
		m, err := w.transition(machine, slot, op)
		return m, nil, err
	}
	m, known := w.recall(machine, slot, op)
	if known && m.machine != unnumbered {
		return m, nil, nil
	}
	var err error
	if !known {
		if m, err = w.X.machines.try(machine, op, w.X.Slots[slot].id, &w.workspace); err != nil {
			return m, nil, err
		}
	}
	var l *knownEdge
	then := uint32(0)
	if !m.blocked && m.machine == unnumbered {
		if l, err = w.edge(slot, n, m.result); err != nil {
			return m, nil, err
		}
		if l.mark == 0 && l.tops == 0 {
			then = w.forgets(next, slot, l)
		}
	}
	if !known {
		if then == 0 {
			m.machine = w.X.machines.settle(&w.workspace, m)
		}
		w.note(machine, slot, op, m)
	}
	if then == 0 {
		if m.machine == unnumbered {
			m, err = w.transition(machine, slot, op)
		}
		return m, nil, err
	}
	m, err = w.thenForgets(machine, slot, opThen{op, then}, m, !known)
	return m, l, err
}

// thenForgets carries out both; m is what the first came to, and tried tells that its machine is in the workspace.
func (w *Expander) thenForgets(machine uint32, slot int, both opThen, m transition, tried bool) (transition, error) {
	key := uint64(both.op)<<32 | uint64(both.forget)
	op, ok := w.thens[key]
	if !ok {
		op = w.X.machines.op(both)
		w.thens[key] = op
	}
	if m, known := w.recall(machine, slot, op); known {
		return m, nil
	}
	t, id := w.X.machines, w.X.Slots[slot].id
	if !tried {
		var err error
		if m, err = t.try(machine, both.op, id, &w.workspace); err != nil {
			return m, err
		}
	}
	forgetNumbers(&w.workspace.to.room, id.Pid, w.workspace.op(t, both.forget))
	w.workspace.of.forget = both.forget
	m.machine = t.settle(&w.workspace, m)
	w.note(machine, slot, op, m)
	return m, nil
}

// forgetNumbers has a process of a machine forget inode numbers, or none any more.
func forgetNumbers(m *fsfake.Machine, pid int, op any) {
	switch op := op.(type) {
	case opForget:
		m.ForgetInodes(pid, uint64(op.keep))
	case opPin:
		m.PinInodes(pid)
	}
}
