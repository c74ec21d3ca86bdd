package checker

import (
	"lockpick/checker/internal/history"
	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/parallel"
	"lockpick/checker/internal/table"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A worker computes successors of states. It has caches of its own of what is small and
// asked for all the time.
type worker struct {
	x      *explorer
	places [][]place
	leaps  table.Cache[leap]
	bads   map[uint32]bool
	losses map[uint32]int // states of the disk after a loss of power, by machine
	out    []successor
	words  []uint32
	key    []byte
	tmp    []uint32
	// unfinished: the state expanded last has somebody who is not finished.
	unfinished bool
	_          [parallel.CacheLine]byte
}

type historyStep struct {
	to uint32
	ok bool
}

// A successor is one transition out of a state.
type successor struct {
	choice sched.Choice
	at     int  // where its words begin in worker.words
	slot   int  // who stepped, or -1
	bad    bool // it breaks the property
	met    bool // it met somebody else's lock
	asleep bool // whoever stepped has given way
}

func newWorker(x *explorer) *worker {
	return &worker{
		x: x, places: make([][]place, len(x.slots)), bads: map[uint32]bool{}, losses: map[uint32]int{},
		tmp: make([]uint32, x.width()+2*parallel.CacheLine/4)[parallel.CacheLine/4:][:x.width()],
	}
}

// state returns the words of a successor; they are valid until the next expand.
func (w *worker) state(s *successor) []uint32 { return w.words[s.at : s.at+w.x.width()] }

func (w *worker) place(slot int, n uint32) *place {
	ps := w.places[slot]
	if int(n) >= len(ps) {
		ps = append(ps, make([]place, int(n)+64-len(ps))...)
		w.places[slot] = ps
	}
	if !ps[n].known {
		ps[n] = w.x.place(slot, n)
	}
	return &ps[n]
}

func (w *worker) leap(slot int, n, result uint32) (leap, error) {
	key := uint64(slot)<<58 | uint64(n)<<32 | uint64(result)
	if l, ok := w.leaps.Get(key); ok {
		return l, nil
	}
	l, err := w.x.leap(slot, n, result)
	if err == nil {
		w.leaps.Put(key, l)
	}
	return l, err
}

func (w *worker) move(machine uint32, slot int, op uint32) (move, error) {
	key := uint64(machine)<<32 | uint64(slot)<<26 | uint64(op)
	if m := w.x.moves.Get(key); m != 0 {
		return unpackMove(m), nil
	}
	var m move
	var err error
	m, w.key, err = w.x.machines.apply(machine, op, w.x.slots[slot].id, w.key)
	if err == nil {
		w.x.moves.Put(key, m.pack())
	}
	return m, err
}

// remember appends an event to a past; event 0 is none.
func (w *worker) remember(past uint32, client int, event uint32) historyStep {
	if event == 0 {
		return historyStep{past, true}
	}
	key := history.StepKey(past, client, event)
	if s := w.x.steps.Get(key); s != 0 {
		return historyStep{uint32(s >> 2), s&2 != 0}
	}
	var to uint32
	var ok bool
	to, ok, w.key = w.x.histories.Append(past, client, event, w.key)
	s := uint64(to)<<2 | 1
	if ok {
		s |= 2
	}
	w.x.steps.Put(key, s)
	return historyStep{to, ok}
}

// status tells whether the task of a slot is finished, and if not whether its next
// step is the exit of its process: the first task makes it when all have ended.
func (w *worker) status(s []uint32, slot int) (finished, exits bool) {
	n := s[wordNodes+slot] &^ learn.Begun
	if n == learn.Gone {
		return true, false
	}
	if !w.place(slot, n).ended {
		return false, false
	}
	sl := &w.x.slots[slot]
	if sl.task.N != 1 || w.x.sc.Setting.Daemons {
		return true, false
	}
	for j := range w.x.slots {
		if w.x.slots[j].process == sl.process {
			m := s[wordNodes+j] &^ learn.Begun
			if m == learn.Gone || !w.place(j, m).ended {
				return true, false
			}
		}
	}
	return false, true
}

// expand computes every successor of s, in the order of sched.View.Options.
func (w *worker) expand(s []uint32) error {
	w.out, w.words, w.unfinished = w.out[:0], w.words[:0], false
	set := &w.x.sc.Setting
	for i := range w.x.slots {
		finished, exits := w.status(s, i)
		if finished {
			continue
		}
		w.unfinished = true
		if err := w.step(s, i, exits); err != nil {
			return err
		}
	}
	b := unpackBudgets(s[len(s)-1])
	if b.crashes > 0 && w.unfinished {
		for p := range set.Processes {
			if set.CanDie(p) && w.killable(s, p) {
				if err := w.kill(s, p, b); err != nil {
					return err
				}
			}
		}
	}
	if b.stalls > 0 && w.unfinished {
		m, err := w.move(s[wordMachine], 0, w.x.special.stall)
		if err != nil {
			return err
		}
		next, succ := w.begin(s, sched.Choice{Action: sched.Stall}, -1)
		next[wordMachine] = m.machine
		next[len(next)-1] = budgets{b.crashes, b.stalls - 1, b.losses}.pack()
		w.end(succ, next)
	}
	if b.losses > 0 {
		return w.losePower(s, b)
	}
	return nil
}

// begin starts a successor as a copy of s.
func (w *worker) begin(s []uint32, c sched.Choice, slot int) ([]uint32, successor) {
	next := w.tmp
	copy(next, s)
	return next, successor{choice: c, slot: slot}
}

// end stores a successor.
func (w *worker) end(succ successor, next []uint32) {
	if w.x.machines.marks && w.isBad(next[wordMachine]) {
		succ.bad = true
	}
	succ.at = len(w.words)
	w.words = append(w.words, next...)
	w.out = append(w.out, succ)
}

func (w *worker) isBad(machine uint32) bool {
	bad, ok := w.bads[machine]
	if !ok {
		bad = w.x.machines.isBad(machine)
		w.bads[machine] = bad
	}
	return bad
}

// step is the mirror of world.step on numbers.
func (w *worker) step(s []uint32, slot int, exits bool) error {
	x := w.x
	next, succ := w.begin(s, sched.Choice{Action: sched.Run, Task: x.slots[slot].task}, slot)
	if exits {
		m, err := w.move(s[wordMachine], slot, x.special.exit)
		if err != nil {
			return err
		}
		next[wordMachine] = m.machine
		w.gone(next, x.slots[slot].process)
		w.end(succ, next)
		return nil
	}
	word := s[wordNodes+slot]
	n, begun := word&^learn.Begun, word&learn.Begun != 0
	pl := *w.place(slot, n)
	if !begun {
		if pl.unmark {
			m, err := w.move(next[wordMachine], slot, x.special.unmark)
			if err != nil {
				return err
			}
			next[wordMachine] = m.machine
		}
		st := w.remember(next[wordHistory], slot, pl.inv)
		next[wordHistory] = st.to
		succ.bad = succ.bad || !st.ok
	}
	turn := pl.cell && x.sc.Setting.Concurrency == scenarios.EventLoop
	for first := true; ; first = false {
		m, err := w.move(next[wordMachine], slot, pl.op)
		if err != nil {
			return err
		}
		succ.met = succ.met || m.met
		if m.blocked {
			if first && begun && m.machine == next[wordMachine] {
				return nil // still not granted: it cannot take a step
			}
			next[wordMachine], next[wordNodes+slot] = m.machine, n|learn.Begun
			break
		}
		next[wordMachine] = m.machine
		if pl.exit {
			w.gone(next, x.slots[slot].process)
			break
		}
		l, err := w.leap(slot, n, m.result)
		if err != nil {
			return err
		}
		st := w.remember(next[wordHistory], slot, l.ret)
		next[wordHistory] = st.to
		succ.bad = succ.bad || !st.ok
		if l.mark != 0 {
			if m, err = w.move(next[wordMachine], slot, l.mark); err != nil {
				return err
			}
			next[wordMachine] = m.machine
		}
		succ.asleep = pl.sleep
		next[wordNodes+slot] = l.to
		n, begun = l.to&^learn.Begun, l.to&learn.Begun != 0
		pl = *w.place(slot, n)
		if !turn || pl.ended || !pl.cell || pl.begins && !begun || l.returned {
			break
		}
	}
	w.end(succ, next)
	return nil
}

// gone takes the tasks of a process out of a state.
func (w *worker) gone(next []uint32, process int) {
	for j := range w.x.slots {
		if w.x.slots[j].process == process {
			next[wordNodes+j] = learn.Gone
		}
	}
}

func (w *worker) killable(s []uint32, process int) bool {
	for j := range w.x.slots {
		if w.x.slots[j].process == process {
			if finished, _ := w.status(s, j); !finished {
				return true
			}
		}
	}
	return false
}

// kill is the mirror of world.kill.
func (w *worker) kill(s []uint32, process int, b budgets) error {
	x := w.x
	next, succ := w.begin(s, sched.Choice{Action: sched.Kill, Task: sched.Task{Process: process, N: 1}}, -1)
	for j := range x.slots {
		if x.slots[j].process != process {
			continue
		}
		if x.slots[j].task.N == 1 {
			m, err := w.move(s[wordMachine], j, x.special.kill)
			if err != nil {
				return err
			}
			next[wordMachine] = m.machine
		}
		if x.histories != nil {
			next[wordHistory] = w.remember(next[wordHistory], j, x.histories.Cut).to
		}
	}
	if x.histories != nil {
		st := w.remember(next[wordHistory], len(x.slots)+process, x.histories.Crash[process])
		next[wordHistory] = st.to
		succ.bad = !st.ok
	}
	w.gone(next, process)
	next[len(next)-1] = budgets{b.crashes - 1, b.stalls, b.losses}.pack()
	w.end(succ, next)
	return nil
}

// op returns the call that a task would make next, for reports.
func (x *explorer) op(s []uint32, slot int) fsfake.Op {
	return x.automata[slot].Node(s[wordNodes+slot] &^ learn.Begun).Op
}
