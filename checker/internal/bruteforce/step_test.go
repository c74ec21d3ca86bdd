package bruteforce

import (
	"errors"
	"fmt"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A stepped is what one choice came to.
type stepped struct {
	to    *state
	slot  int  // who stepped, or -1
	slept bool // and gave way
	bad   bool // it breaks the property
}

// turnCalls is how many accesses to cells a turn has that ends.
const turnCalls = 1000

// apply makes a choice, which must be possible.
func (x *space) apply(s *state, c sched.Choice) (stepped, error) {
	out := stepped{to: s.clone(), slot: -1}
	judged := false
	var err error
	switch c.Action {
	case sched.Stall:
		d := x.passes(s)
		if s.rest == 0 {
			out.to.stalls--
			out.to.rest = x.p.stallFor()
		}
		out.to.rest -= d
		out.to.setBack(-d)
		out.to.m.Advance(d)
		out.to.settle()
	case sched.Kill:
		out.to.crashes--
		x.kill(out.to, c.Task.Process)
		judged = true
	case sched.Signal:
		if err := x.signal(out.to, c.Task.Process); err != nil {
			return out, err
		}
	default:
		out.slot = x.slotOf(c.Task)
		out.slept, judged, err = x.step(out.to, out.slot, c.Fails)
	}
	if errors.Is(err, ErrSpins) && x.property.Question == scenarios.Stuck {
		out.bad = true
		return out, nil
	}
	if err != nil {
		return out, err
	}
	out.bad = x.unserial(out.to) || x.property == scenarios.ForeignRelease && foreign(out.to) ||
		judged && x.judge != nil && !x.judge.linearizable(out.to.history)
	return out, nil
}

func (x *space) slotOf(t sched.Task) int {
	for i := range x.slots {
		if x.slots[i].process == t.Process && x.slots[i].n == t.N {
			return i
		}
	}
	return -1
}

// step lets a task make its next call, which fails with an error where one is named. Under an event loop a turn, which is the accesses to
// cells up to the next call of another kind, is one step; operations begin and end between
// steps. judged: an operation was answered.
func (x *space) step(s *state, i int, fails string) (slept, judged bool, err error) {
	sl := x.slots[i]
	if x.exits(s, i) {
		x.exit(s, i)
		return false, true, nil
	}
	a := &s.tasks[i]
	t := *a.task
	a.task = &t
	if a.blocked == nil {
		if t.letsGo != "" {
			by := a
			for j := range s.tasks {
				if t.first && x.slots[j].process == sl.process && x.slots[j].n == 1 {
					by = &s.tasks[j]
				}
			}
			by.letGo(t.letsGo)
		}
		if t.invokes != nil {
			x.event(s, i, t.invokes)
		}
	}
	for made := 0; ; made++ {
		if made > turnCalls {
			return false, false, ErrSpins
		}
		op := t.op()
		if op.Call == fsfake.CallExit {
			x.exit(s, i)
			return false, true, nil
		}
		file, known := x.about(s, sl, op)
		wait := x.waitFor(s, sl, op, file)
		var r fsfake.Result
		if fails != "" {
			r = s.fail(sl.id, op, fails)
		} else if x.p.Lasts {
			r = x.do(s, i, op)
		} else {
			r = s.m.Do(sl.id, op)
		}
		x.keepsTime(s, i, op)
		if r.Unmodelled != "" {
			return false, false, fmt.Errorf("bruteforce: %w: %s", ErrNotModelled, r.Unmodelled)
		}
		if r.Blocked {
			a.blocked = wait
			return op.Call == fsfake.CallSleep, judged, nil
		}
		a.blocked = nil
		x.note(s, sl, op, r)
		if !known && op.Call == fsfake.CallStat {
			file, _ = s.m.Lookup(op.Path)
		}
		if r.Stat.Ino != 0 {
			s.show(sl.process, file)
			t.reg.told = with(t.reg.told, file)
		}
		if op.Call == fsfake.CallStart {
			if err := x.begins(s, sl.process, int(op.Len)); err != nil {
				return false, false, err
			}
		}
		remarks, err := t.take(r, file)
		if err != nil {
			return false, false, err
		}
		s.turn(i)
		x.forget(s, sl.process)
		for _, k := range remarks {
			switch k.kind {
			case answered:
				judged = true
				if x.judge != nil && x.judge.accepts(k.input) {
					s.history[i] = answer(s.history[i], k.output)
				}
			case holds:
				a.holding(x.acquired(s, sl, k))
			}
		}
		inTurn := !x.p.Threads && op.Call.IsCell() && !t.ended() && t.op().Call.IsCell()
		if !inTurn || len(remarks) > 0 || t.invokes != nil || t.letsGo != "" {
			return op.Call == fsfake.CallSleep, judged, nil
		}
	}
}

// begins begins a task that was not started before.
func (x *space) begins(s *state, process, n int) error {
	for i := range s.tasks {
		if x.slots[i].process == process && x.slots[i].n == n && s.tasks[i].dormant && !x.p.handles(process, n) {
			s.tasks[i].dormant = false
			s.turn(i)
			return nil
		}
	}
	return fmt.Errorf("bruteforce: %w: a second start of a task", ErrNotModelled)
}

// about returns the file that a call on a descriptor is about.
func (x *space) about(s *state, sl slot, op fsfake.Op) (fsfake.InodeID, bool) {
	switch op.Call {
	case fsfake.CallFstat, fsfake.CallFlock, fsfake.CallSetlk, fsfake.CallOFDSetlk:
		return s.m.FDInode(sl.id.Pid, op.FD)
	}
	return 0, false
}

// waitFor is what is to be remembered of a call in case it waits.
func (x *space) waitFor(s *state, sl slot, op fsfake.Op, file fsfake.InodeID) *waiting {
	if was := s.tasks[x.slotOf(sl.choice.Task)].blocked; was != nil {
		return was
	}
	w := &waiting{file: file, fd: op.FD}
	if op.Call == fsfake.CallSetlk || op.Call == fsfake.CallOFDSetlk {
		w.on = fmt.Sprint(s.m.View(file).Records)
	}
	return w
}

// acquired finds the object that an acquisition acquired.
func (x *space) acquired(s *state, sl slot, k remark) holding {
	h := holding{path: k.path}
	if k.fd >= 0 {
		if id, ok := s.m.FDInode(sl.id.Pid, k.fd); ok {
			h.file = id
			return h
		}
	}
	h.file, _ = s.m.LookupName(k.path)
	return h
}

// note keeps what the machine does not show: the values of cells, and that the descriptor of
// a waiting call was closed.
func (x *space) note(s *state, sl slot, op fsfake.Op, r fsfake.Result) {
	switch op.Call {
	case fsfake.CallCellStore:
		s.cells[sl.process] = store(s.cells[sl.process], op.Cell, number(op.Value))
	case fsfake.CallCellCAS:
		if swap := op.Value.(fsfake.Swap); r.N == 1 {
			s.cells[sl.process] = store(s.cells[sl.process], op.Cell, number(swap.New))
		}
	case fsfake.CallClose:
		for j := range s.tasks {
			if w := s.tasks[j].blocked; x.slots[j].process == sl.process && w != nil && w.file != 0 && w.fd == op.FD {
				changed := *w
				changed.closed = true
				s.tasks[j].blocked = &changed
			}
		}
	}
}

func store(cells []cell, name string, value int) []cell {
	out := make([]cell, 0, len(cells)+1)
	at := len(cells)
	for i, c := range cells {
		if c.name >= name {
			at = i
			break
		}
	}
	out = append(append(out, cells[:at]...), cell{name, value})
	if at < len(cells) && cells[at].name == name {
		at++
	}
	return append(out, cells[at:]...)
}

// foreign reports whether somebody holds a lock whose object no longer stands at its name.
func foreign(s *state) bool {
	for i := range s.tasks {
		for _, h := range s.tasks[i].held {
			name, ok := s.m.LookupName(h.path)
			leads, too := s.m.Lookup(h.path)
			if (!ok || name != h.file) && (!too || leads != h.file) {
				return true
			}
		}
	}
	return false
}
