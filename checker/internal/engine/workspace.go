package engine

import (
	"fmt"

	"lockpick/fsfake"
)

// A workspace is what a worker carries out operations with: the machine that was loaded last, and the one that came of
// the last operation, for mostly the next is on one of the two; and room for keys.
type workspace struct {
	base   loaded
	last   *loaded // one of made; nil for none
	made   [2]loaded
	key    []byte
	losses fsfake.Losses
	lost   uint32 // the machine that those are of
}

// A loaded is a machine in a workspace; m is nil for none.
type loaded struct {
	m    *fsfake.Machine
	id   uint32
	room fsfake.Machine
}

// put has machine id in the workspace.
func (t *machineTable) put(b *workspace, id uint32) *loaded {
	switch {
	case b.last != nil && b.last.id == id:
		return b.last
	case b.base.m != nil && b.base.id == id:
		return &b.base
	}
	b.base.m, b.base.id = t.load(id, &b.base.room), id
	return &b.base
}

// free is where the next machine may lie, which is made from another.
func (b *workspace) free(from *loaded) *loaded {
	if from == &b.made[0] {
		return &b.made[1]
	}
	return &b.made[0]
}

// apply carries out an operation of a task on a copy of machine id.
func (t *machineTable) apply(id, op uint32, task fsfake.Task, b *workspace) (mv transition, err error) {
	from, v := t.put(b, id), t.opOf(op)
	to, r := b.free(from), fsfake.Result{}
	m := &to.room
	from.m.CloneTo(m)
	of := origin{from: id, op: op, pid: int32(task.Pid), task: int32(task.N), steps: 1}
	b.last = nil
	if lose, is := v.(opLose); is {
		if err = t.lose(b, from, m, lose.state); err != nil {
			return mv, err
		}
		of.steps = 0 // what a disk may hold takes long to find
	} else {
		r, mv.blocked = t.carryOut(m, task, v)
	}
	mv.result = t.resultID(r)
	var made fsfake.Op
	switch v := v.(type) {
	case fsfake.Op:
		made = v
	case opBy:
		made = v.op
	case opFail:
		mv.contended = v.op.Call.Contends(&r)
		if mv.blocked {
			return transition{machine: id, result: mv.result, blocked: true}, nil
		}
	}
	if made.Call != 0 {
		if r.Unmodelled != "" {
			return mv, fmt.Errorf("checker: %s: %s: %s", t.sc.ID, made, r.Unmodelled)
		}
		mv.contended = made.Call.Contends(&r)
	}
	t.touched(made, from.m, m)
	mv.machine = t.add(m, of, b)
	to.m, to.id, b.last = m, mv.machine, to
	return mv, nil
}

// carryOut carries out an operation of a task, but for [opLose]. blocked: it waits, or it is a failure that there is
// none of.
func (t *machineTable) carryOut(m *fsfake.Machine, task fsfake.Task, v any) (r fsfake.Result, blocked bool) {
	if by, ok := v.(opBy); ok {
		task, v = by.task, by.op
	}
	switch v := v.(type) {
	case fsfake.Op:
		r = m.Do(task, v)
		if endsProcess(t.sc, v) {
			t.unmark(m, task.Pid)
		}
		return r, r.Blocked
	case opFail:
		if v.by != (fsfake.Task{}) {
			task = v.by
		}
		r, ok := m.Fail(task, v.op, v.e)
		return r, !ok
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
	case opStall:
		m.Stall(v.pass, v.left)
	case opPermute:
		m.Permute(v.of.ids, v.of.perms[v.perm])
	}
	return r, false
}

// lose has a machine lose its power, which was one in the workspace before. The disk is in one of its states then.
func (t *machineTable) lose(b *workspace, from *loaded, m *fsfake.Machine, state int) (err error) {
	if b.lost != from.id || state == 0 {
		if b.losses, err = t.sc.Losses(from.m, t.property); err != nil {
			return err
		}
		b.lost = from.id
	}
	t.sc.LosePower(m, b.losses, state)
	return nil
}
