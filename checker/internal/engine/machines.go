package engine

import (
	"fmt"
	"sync"
	"time"

	"lockpick/checker/internal/table"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A machineTable holds the distinct states of the machine, numbered in order of
// arrival, the distinct operations, and the distinct results. A state of the whole
// world refers to its machine by number: few machines are shared by many states.
//
// Of a machine its key is kept, which says all of it: whoever needs the machine has it rebuilt. The few that cannot be
// are kept themselves.
type machineTable struct {
	sc *scenarios.Scenario
	// invariant says what is wrong in a state, for a property that is judged so; marks
	// tells whether marks are kept, which is then.
	invariant func(scenarios.View) string
	marks     bool
	mu        sync.Mutex
	first     *fsfake.Machine
	keys      table.Keys
	kept      map[uint32]*fsfake.Machine
	bad       map[uint32]bool // by the invariant
	ops       *table.Interner
	results   *resultTable
}

type resultTable struct {
	ids map[fsfake.Result]uint32
	all []*fsfake.Result
}

// Operations on a machine that no program makes.
type (
	opMark   struct{ scenarios.Holding }
	opUnmark struct{ lock string }
	opKill   struct{}
	// opInterrupt takes a task out of the call that it waits in, if it does.
	opInterrupt struct{}
)

// An opStall moves the clock; see [piece].
type opStall struct{ pass, left time.Duration }

// An opBy is a call that is not the task's own: see scenarios.By.
type opBy struct {
	task fsfake.Task
	op   fsfake.Op
}

// A transition is what an operation on a machine came to.
type transition struct {
	machine, result    uint32
	blocked, contended bool
}

// pack returns the move as a word that is not 0. There are fewer than 1<<29 results.
func (m transition) pack() uint64 {
	w := uint64(m.machine)<<32 | uint64(m.result)<<3 | 1
	if m.blocked {
		w |= 2
	}
	if m.contended {
		w |= 4
	}
	return w
}

func unpackTransition(w uint64) transition {
	return transition{machine: uint32(w >> 32), result: uint32(w) >> 3, blocked: w&2 != 0, contended: w&4 != 0}
}

func newMachineTable(sc *scenarios.Scenario, invariant func(scenarios.View) string) *machineTable {
	return &machineTable{
		sc: sc, invariant: invariant, marks: invariant != nil, ops: table.NewInterner(),
		results: &resultTable{ids: map[fsfake.Result]uint32{}}, kept: map[uint32]*fsfake.Machine{}, bad: map[uint32]bool{},
	}
}

// start numbers the machine at the start.
func (t *machineTable) start(m *fsfake.Machine) uint32 {
	t.first = m.Clone()
	return t.number(m)
}

// op numbers an operation.
func (t *machineTable) op(v any) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ops.ID(v)
}

// add numbers a machine, and tells whether it was kept itself, because r does not rebuild it from its key; the machine
// and its clones must stay as they are then. key is scratch.
func (t *machineTable) add(m *fsfake.Machine, r *fsfake.Rebuilder, key []byte) (id uint32, kept bool, scratch []byte) {
	key = m.AppendKey(key[:0])
	bad, keep := false, (*fsfake.Machine)(nil)
	if kept = !r.Rebuilds(m); kept || t.invariant != nil {
		if id, ok := t.find(key); ok {
			return id, false, key
		}
		if bad = t.invariant != nil && t.invariant(scenarios.NewView(m)) != ""; kept {
			keep = m.Clone() // which is shared from here on, and reading it is safe for everybody
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	id, isNew := t.keys.ID(key)
	if isNew && kept {
		t.kept[id] = keep
	}
	if isNew && bad {
		t.bad[id] = true
	}
	return id, kept, key
}

// number is add for a machine that stays as it is.
func (t *machineTable) number(m *fsfake.Machine) uint32 {
	id, _, _ := t.add(m, fsfake.NewRebuilder(t.first), nil)
	return id
}

func (t *machineTable) find(key []byte) (uint32, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.keys.Find(key)
}

// machineBytes is about what a machine takes that is kept itself, beside its key, measured: some 200 bytes
// for itself, and what it does not share with its neighbours.
const machineBytes = 550

// get returns machine id. The error is a fault of lockpick: the machine that was made from its key has another.
func (t *machineTable) get(id uint32) (*fsfake.Machine, error) {
	return t.rebuilt(id, fsfake.NewRebuilder(t.first))
}

// rebuilt is get with a rebuilder, whose next machine takes the place of this.
func (t *machineTable) rebuilt(id uint32, r *fsfake.Rebuilder) (*fsfake.Machine, error) {
	t.mu.Lock()
	kept, key := t.kept[id], t.keys.Key(id)
	t.mu.Unlock()
	if kept != nil {
		return kept, nil
	}
	if m, ok := r.Machine(key); ok {
		return m, nil
	}
	return nil, fmt.Errorf("checker: %s: machine %d has another key when it is rebuilt: this is a fault of lockpick", t.sc.ID, id)
}

// opOf returns an operation.
func (t *machineTable) opOf(op uint32) any {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ops.Values[op]
}

// key is a copy of the key of a machine.
func (t *machineTable) key(id uint32) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	return append([]byte(nil), t.keys.Key(id)...)
}

func (t *machineTable) isBad(id uint32) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.bad[id]
}

func (t *machineTable) result(id uint32) *fsfake.Result {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.results.all[id]
}

func (t *machineTable) len() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.keys.Len()
}

func (t *machineTable) count() (machines, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.keys.Len(), t.keys.Bytes() + machineBytes*len(t.kept)
}

// A bench is what a worker carries out operations with: the machine that was rebuilt last, and the one that came of the last
// operation, for mostly the next is on one of the two; room for keys and for the result; and the first few
// answers to each operation, by its number. Comparing a result with a few takes less time than
// finding it among all.
type bench struct {
	rebuilder *fsfake.Rebuilder
	base      onBench
	last      onBench
	room      [2]fsfake.Machine // last lies in one of them
	key       []byte
	r         fsfake.Result
	said      [][]answer
}

// An onBench is a machine on a bench, and its number; m is nil for none.
type onBench struct {
	m  *fsfake.Machine
	id uint32
}

// put has machine id on the bench.
func (t *machineTable) put(b *bench, id uint32) (*fsfake.Machine, error) {
	if b.rebuilder == nil {
		b.rebuilder = fsfake.NewRebuilder(t.first)
	}
	switch {
	case b.last.m != nil && b.last.id == id:
		return b.last.m, nil
	case b.base.m != nil && b.base.id == id:
		return b.base.m, nil
	}
	b.base, b.last = onBench{}, onBench{} // the latter may share with the former
	m, err := t.rebuilt(id, b.rebuilder)
	b.base = onBench{m, id}
	return m, err
}

// free is where the next machine may lie, which is made from another.
func (b *bench) free(from *fsfake.Machine) *fsfake.Machine {
	if from == &b.room[0] {
		return &b.room[1]
	}
	return &b.room[0]
}

// An answer is a result and its number.
type answer struct {
	result *fsfake.Result
	id     uint32
}

// fewAnswers is how many answers to an operation a bench has.
const fewAnswers = 4

// answered numbers the result of an operation, which lies on the bench.
func (t *machineTable) answered(b *bench, op uint32) uint32 {
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
func (t *machineTable) apply(id, op uint32, task fsfake.Task, b *bench) (transition, error) {
	from, err := t.put(b, id)
	if err != nil {
		return transition{}, err
	}
	v, m, r := t.opOf(op), b.free(from), &b.r
	from.CloneTo(m)
	b.last, *r = onBench{}, fsfake.Result{}
	var mv transition
	if by, ok := v.(opBy); ok {
		task, v = by.task, by.op
	}
	switch v := v.(type) {
	case fsfake.Op:
		*r = m.Do(task, v)
		if r.Unmodelled != "" {
			return mv, fmt.Errorf("checker: %s: %s: %s", t.sc.ID, v, r.Unmodelled)
		}
		mv.blocked, mv.contended = r.Blocked, v.Call.Contends(r)
		if v.Call == fsfake.CallExit {
			t.unmark(m, task.Pid)
		}
	case opFail:
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
	case opForget:
		m.ForgetInodes(task.Pid, uint64(v.keep))
	case opTops:
		v.tell(m, task)
	case opPin:
		m.PinInodes(task.Pid)
	case opKill:
		m.KillProc(task.Pid)
		t.unmark(m, task.Pid)
	case opInterrupt:
		m.TakeOut(task)
	case opLose:
		t.sc.LosePower(m, v.state)
	case opStall:
		m.Stall(v.pass, v.left)
	}
	if mv.machine = id; !m.Untouched(from) {
		var kept bool
		if mv.machine, kept, b.key = t.add(m, b.rebuilder, b.key); kept {
			b.rebuilder.Keep() // it may share with what was rebuilt
		}
	}
	b.last = onBench{m, mv.machine}
	mv.result = t.answered(b, op)
	return mv, nil
}

// resultID numbers a result.
func (t *machineTable) resultID(r fsfake.Result) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok := t.results.ids[r]
	if !ok {
		id = uint32(len(t.results.all))
		kept := r // r itself stays off the heap
		t.results.ids[r] = id
		t.results.all = append(t.results.all, &kept)
	}
	return id
}

// intern returns the one pointer of a result.
func (t *machineTable) intern(r fsfake.Result) *fsfake.Result { return t.result(t.resultID(r)) }

// unmark removes the marks of all tasks of a process, or of the one task of a child or a
// probe.
func (t *machineTable) unmark(m *fsfake.Machine, pid int) {
	if !t.marks {
		return
	}
	tasks := 1
	if process, ok := scenarios.ProcessOf(pid); ok {
		tasks = t.sc.Setting.TasksOf(process)
	}
	for n := 1; n <= tasks; n++ {
		m.UnmarkAll(fsfake.Task{Pid: pid, N: n})
	}
}
