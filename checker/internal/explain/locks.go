package explain

import (
	"fmt"
	"slices"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/sched"
)

// A held is a kernel lock that a task has got.
type held struct {
	task sched.Task
	step int
	pid  int
	// id is the file, desc the description that owns a flock or an OFD lock; 0 for a record
	// lock, which its process owns.
	id   fsfake.InodeID
	desc int
	path string
	call fsfake.Op
	// until is the step in which it went; 0 when it is there at the end. by is the call that
	// took it away when that was not its owner's unlocking or closing.
	until int
	by    fsfake.Op
	lost  bool
}

// kernelLocks goes through the walk and lists the kernel locks that were got.
func (s *story) kernelLocks() []held {
	var out []held
	for i := range s.walk.Steps {
		st := &s.walk.Steps[i]
		for k := range out {
			if h := &out[k]; h.until == 0 && !has(st.After, h) {
				h.until = st.N
				h.by, h.lost = takenBy(st, h)
			}
		}
		if h, ok := locked(st); ok {
			out = append(out, h)
		}
	}
	return out
}

// locked is the kernel lock that a step has got.
func locked(st *trace.Walked) (held, bool) {
	for i, c := range st.Calls {
		if !c.Result.OK() || unlocks(&c.Op) || len(st.Targets[i]) == 0 {
			continue
		}
		on := st.Targets[i][0]
		h := held{task: st.Choice.Task, step: st.N, pid: st.By(&c).Pid, id: on.ID, path: on.Path, call: c.Op}
		if !c.Op.Call.IsLock() {
			continue
		}
		if c.Op.Call.Is(fsfake.OfDescription) {
			h.desc = on.Desc
		}
		return h, true
	}
	return held{}, false
}

// has reports whether a lock is still there.
func has(s *trace.State, h *held) bool {
	if h.desc == 0 {
		return slices.ContainsFunc(s.Inode(h.id).Records, func(r fsfake.RecordView) bool { return r.Lock.Pid == h.pid })
	}
	for _, p := range s.Procs {
		for _, d := range p.FDs {
			if d.Desc == h.desc {
				return d.Flock != 0 || h.call.Call == fsfake.CallOFDSetlk
			}
		}
	}
	return false
}

// takenBy finds the call with which a step took a lock away, and whether that was not its
// owner's unlocking it or closing it.
func takenBy(st *trace.Walked, h *held) (fsfake.Op, bool) {
	if st.Choice.Action != sched.Run {
		return fsfake.Op{}, false
	}
	for i, c := range st.Calls {
		if len(st.Targets[i]) == 0 {
			continue
		}
		on := st.Targets[i][0]
		switch {
		case c.Op.Call.IsCell():
		case c.Op.Call == fsfake.CallClose && h.desc == 0 && on.ID == h.id:
			return c.Op, c.Op.FD != h.call.FD
		case c.Op.Call == fsfake.CallFlock && on.Desc == h.desc && !unlocks(&c.Op):
			return c.Op, !c.Result.OK() // a conversion that was refused, or waits
		default:
			return c.Op, st.Choice.Task != h.task
		}
	}
	return fsfake.Op{}, false
}

// unlocked tells of a kernel lock that was taken away from its holder, or from the task
// whose answer nothing explains.
func (t *teller) unlocked() bool {
	last := t.last()
	for _, l := range slices.Backward(t.kernelLocks()) {
		wrong := t.blamedStep()
		held := last != nil && holds(last, l.task)
		if !l.lost || !held && (wrong == nil || wrong.Choice.Task != l.task) {
			continue
		}
		t.say("%s locked %s %s", l.task, t.called(t.named(l.id)), t.at(l.step))
		if held {
			t.say(" and holds")
		}
		who := t.walk.Steps[l.until-1].Choice.Task
		at := t.did(l.until)
		switch {
		case l.desc == 0:
			t.say(". The close of fd %d by %s %s dropped the lock: when a process closes any descriptor of a file, all its record locks on the file go.", l.by.FD, who, at)
		case who == l.task:
			t.say(". It asked for another mode %s and did not get it: flock gives the lock back before it asks for the new one.", at)
		default:
			t.say(". %s unlocked it %s: the lock belongs to the open file, which both have.", who, at)
		}
		switch {
		case held && last.Choice.Task != l.task:
			t.say(" So %s got it, too, and was told so %s.", last.Choice.Task, t.at(last.N))
		case !held:
			t.say(" ")
			t.torn()
		}
		return true
	}
	return false
}

// refused tells of somebody who was refused while nobody held: what stood in the way.
func (t *teller) refused() bool {
	st := t.blamedStep()
	if st == nil || !isRefusal(st.Returned) {
		return false
	}
	op := t.operationAt(st)
	for n := st.N; n >= op.first && n > 0; n-- {
		at := &t.walk.Steps[n-1]
		if at.Choice.Task != st.Choice.Task {
			continue
		}
		for i := range at.Calls {
			if t.inTheWay(at, i) {
				return true
			}
		}
	}
	t.gaveUpByItself(st.Choice.Task, op)
	return true
}

// gaveUpByItself tells of a refusal that no call has made: it was decided by what was seen.
func (t *teller) gaveUpByItself(me sched.Task, op operation) {
	t.say("%s gave up %s, although none of its calls was refused and nobody held the lock", me, t.did(op.last))
	if l := t.recent[me]; l != nil && l.step >= op.first && l.how != created && l.how != acted {
		t.say(": it had %s%s", t.told(l), t.judgements(l, 0, op.last+1))
		if by, ok := t.maker(l.path, l.file.ID, l.step); ok && by.By != me {
			t.say(", which %s had put there %s; but %s did not hold the lock", by.By, t.at(by.Step), by.By)
		}
	}
	t.say(".")
}

// operationAt is the operation that returned with a step.
func (s *story) operationAt(st *trace.Walked) operation {
	for _, op := range s.done {
		if op.task == st.Choice.Task && op.last == st.N {
			return op
		}
	}
	return operation{}
}

// inTheWay tells what stood in the way of a call that was refused.
func (t *teller) inTheWay(st *trace.Walked, i int) bool {
	c := &st.Calls[i]
	if c.Result.OK() || c.Result.Blocked || len(st.Targets[i]) == 0 {
		return false
	}
	me, on := st.Choice.Task, &st.Targets[i][len(st.Targets[i])-1]
	if refs := st.Before.InTheWay(st.By(c), c.Op); len(refs) > 0 {
		who := t.walk.Who(refs[0].Pid)
		t.say("%s was refused %s because %s had a %s on %s; but %s.", me, t.did(st.N), who, lockName(&c.Op),
			t.called(t.fileOf(on)), t.standing(who, refs[0], st))
		return true
	}
	if !on.Before.Exists {
		return false
	}
	t.say("%s was refused %s because %s was there", me, t.did(st.N), t.called(&on.Before))
	if by, ok := t.maker(on.Path, on.Before.ID, st.N); ok {
		t.say(", which %s had made %s; but %s did not hold the lock", by.By, t.at(by.Step), by.By)
	} else {
		t.say("; but nobody held the lock")
	}
	t.say(".")
	return true
}

// fileOf is what a target is, under its name.
func (t *teller) fileOf(on *trace.Target) *trace.FileState {
	if on.AtName() {
		return &on.After
	}
	return &trace.FileState{Path: on.Path, Exists: true, FileView: t.walk.End().Inode(on.ID)}
}

func lockName(op *fsfake.Op) string {
	switch op.Call {
	case fsfake.CallFlock:
		return "flock"
	case fsfake.CallOFDSetlk:
		return "OFD lock"
	}
	return "record lock"
}

// standing says what somebody was about who had a kernel lock and did not hold.
func (t *teller) standing(who string, ref fsfake.FDRef, st *trace.Walked) string {
	i, ours := t.walk.Process(ref.Pid)
	if !ours {
		return who + " only has a descriptor that it inherited, and did not hold the lock"
	}
	if text := t.duplicate(who, ref, st); text != "" {
		return text
	}
	for _, task := range trace.Tasks(&t.sc.Setting) {
		op := t.during(task, st.N)
		if task.Process != i || op.input == nil {
			continue
		}
		switch op.input.(type) {
		case model.Acquire:
			return who + " was only trying it, and did not hold the lock"
		case model.Release:
			return who + " was about to give it back, and held it no more"
		}
	}
	for _, l := range slices.Backward(t.kernelLocks()) {
		if l.pid == ref.Pid && l.step < st.N && (l.until == 0 || l.until >= st.N) {
			return fmt.Sprintf("%s, which had locked it %s, did not hold the lock", who, t.at(l.step))
		}
	}
	return who + " did not hold the lock"
}

// duplicate tells of a lock that stays because a duplicate of the descriptor does.
func (t *teller) duplicate(who string, ref fsfake.FDRef, st *trace.Walked) string {
	for _, p := range st.Before.Procs {
		for _, d := range p.FDs {
			if p.Pid != ref.Pid || d.FD != ref.FD || d.Opened.Step == 0 {
				continue
			}
			made := t.walk.Steps[d.Opened.Step-1].Calls
			if first := int(made[len(made)-1].Result.N); first != ref.FD {
				return fmt.Sprintf("%s had closed fd %d, and fd %d, a duplicate of it, kept the lock", who, first, ref.FD)
			}
		}
	}
	return ""
}

// during is the operation that a task was in at a step.
func (s *story) during(task sched.Task, step int) operation {
	if op, pending := s.begun[task]; pending && op.first <= step {
		return op
	}
	for _, op := range s.done {
		if op.task == task && op.first <= step && op.last >= step {
			return op
		}
	}
	return operation{}
}
