package engine

import (
	"fmt"

	"lockpick/checker/internal/table"
	"lockpick/fsfake"
)

// A workspace is what a worker carries out operations with: the machine that was rebuilt last, and the one that came of
// the last operation, for mostly the next is on one of the two; room for keys and for the result; and the first few
// answers to each operation, by its number. Comparing a result with a few takes less time than finding it among all.
type workspace struct {
	rebuilder *fsfake.Rebuilder
	base      loaded
	last      *loaded // one of made; nil for none
	made      [2]loaded
	from, to  *loaded // of the operation tried last
	r         fsfake.Result
	said      [][]answer
	ops       []any // by number, those that were asked for
	losses    fsfake.Losses
	lost      uint32 // the machine that those are of
}

// A loaded is a machine in a workspace; m is nil for none.
type loaded struct {
	m    *fsfake.Machine
	id   uint32
	key  table.Split
	room fsfake.Machine // of one that came of an operation
}

// put has machine id in the workspace.
func (t *machineTable) put(b *workspace, id uint32) (*loaded, error) {
	if b.rebuilder == nil {
		b.rebuilder = fsfake.NewRebuilder(t.first)
	}
	switch {
	case b.last != nil && b.last.id == id:
		return b.last, nil
	case b.base.m != nil && b.base.id == id:
		return &b.base, nil
	}
	b.last, b.base.m = nil, nil // the former may share with the latter
	m, err := t.rebuilt(id, b)
	b.base.m, b.base.id = m, id
	return &b.base, err
}

// op returns an operation, which stays what it is.
func (b *workspace) op(t *machineTable, op uint32) any {
	for int(op) >= len(b.ops) {
		b.ops = append(b.ops, nil)
	}
	if b.ops[op] == nil {
		b.ops[op] = t.opOf(op)
	}
	return b.ops[op]
}

// free is where the next machine may lie, which is made from another.
func (b *workspace) free(from *loaded) *loaded {
	if from == &b.made[0] {
		return &b.made[1]
	}
	return &b.made[0]
}

// An answer is a result and its number.
type answer struct {
	result *fsfake.Result
	id     uint32
}

// fewAnswers is how many answers to an operation a workspace has.
const fewAnswers = 4

// answered numbers the result of an operation, which lies in the workspace.
func (t *machineTable) answered(b *workspace, op uint32) uint32 {
	for int(op) >= len(b.said) {
		b.said = append(b.said, nil)
	}
	known := b.said[op]
	for i := range known {
		if *known[i].result == b.r {
			return known[i].id
		}
	}
	id := t.resultID(b.r)
	if len(known) < fewAnswers {
		b.said[op] = append(known, answer{t.result(id), id})
	}
	return id
}

// apply carries out an operation of a task on a copy of machine id.
func (t *machineTable) apply(id, op uint32, task fsfake.Task, b *workspace) (transition, error) {
	mv, err := t.try(id, op, task, b)
	if err == nil {
		mv.machine = t.settle(b, mv)
	}
	return mv, err
}

// unnumbered stands for the number of a machine that came of an operation, and lies in the workspace.
const unnumbered = 1<<32 - 1

// try is apply, but a machine that is another than the one before gets no number.
func (t *machineTable) try(id, op uint32, task fsfake.Task, b *workspace) (transition, error) {
	from, err := t.put(b, id)
	if err != nil {
		return transition{}, err
	}
	v, to, r := b.op(t, op), b.free(from), &b.r
	m := &to.room
	from.m.CloneTo(m)
	b.last, *r = nil, fsfake.Result{}
	var mv transition
	var made fsfake.Op
	if by, ok := v.(opBy); ok {
		task, v = by.task, by.op
	}
	switch v := v.(type) {
	case fsfake.Op:
		made, *r = v, m.Do(task, v)
		if r.Unmodelled != "" {
			return mv, fmt.Errorf("checker: %s: %s: %s", t.sc.ID, v, r.Unmodelled)
		}
		mv.blocked, mv.contended = r.Blocked, v.Call.Contends(r)
		if endsProcess(t.sc, v) {
			t.unmark(m, task.Pid)
		}
	case opFail:
		if v.by != (fsfake.Task{}) {
			task = v.by
		}
		var ok bool
		*r, ok = m.Fail(task, v.op, v.e)
		if mv.blocked = !ok; !ok {
			mv.machine, mv.result = id, t.answered(b, op)
			return mv, nil
		}
		mv.contended = v.op.Call.Contends(r)
	case opMark:
		m.Mark(task, v.Lock, v.Path, lockObject(m, task.Pid, v.Holding))
	case opUnmark:
		m.Unmark(task, v.lock)
	case opForget, opPin:
		forgetNumbers(m, task.Pid, v)
	case opTops:
		v.tell(m, task)
	case opKill:
		t.sc.Setting.KillOn(m, task.Pid)
		t.unmark(m, task.Pid)
	case opInterrupt:
		m.TakeOut(task)
	case opLose:
		if b.lost != id || v.state == 0 {
			if b.losses, err = t.sc.Losses(from.m, t.property); err != nil {
				return mv, err
			}
			b.lost = id
		}
		t.sc.LosePower(m, b.losses, v.state)
	case opStall:
		m.Stall(v.pass, v.left)
	}
	t.touched(made, from.m, m)
	mv.result = t.answered(b, op)
	if mv.machine = unnumbered; m.Untouched(from.m) {
		mv.machine = id
		if from != &b.base {
			b.last = from
		}
	}
	b.from, b.to = from, to
	return mv, nil
}

// settle numbers the machine that came of the operation tried last, and of what was done to it since.
func (t *machineTable) settle(b *workspace, mv transition) uint32 {
	if mv.machine != unnumbered {
		return mv.machine
	}
	to := b.to
	id, kept := t.add(&to.room, b, &to.key, &b.from.key)
	if kept {
		b.rebuilder.Keep() // it may share with what was rebuilt
	}
	to.m, to.id, b.last = &to.room, id, to
	return id
}
