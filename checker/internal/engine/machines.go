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
	property  *scenarios.Property
	marks     bool
	mu        sync.Mutex
	first     *fsfake.Machine
	keys      *table.Collapse
	kept      map[uint32]*fsfake.Machine
	bad       map[uint32]bool // by the invariant
	once      []uint64        // a bit for each machine that was rebuilt
	ops       *table.Interner
	results   *resultTable
	// footprint is what programs change; touching guards it.
	footprint fsfake.Footprint
	touching  sync.Mutex
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

func newMachineTable(sc *scenarios.Scenario, p *scenarios.Property) *machineTable {
	return &machineTable{
		sc: sc, property: p, invariant: p.Invariant, marks: p.Invariant != nil,
		keys: table.NewCollapse(), ops: table.NewInterner(),
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

// add numbers a machine, which came of the one whose key is like its own, and tells whether it was kept itself,
// because it cannot be rebuilt from its key; it and its clones must stay as they are then.
func (t *machineTable) add(m *fsfake.Machine, b *workspace, key, like *table.Split) (id uint32, kept bool) {
	key.Ends = key.Ends[:0]
	key.Key = m.AppendParts(key.Key[:0], &key.Ends)
	bad := false
	if t.invariant != nil {
		if id, ok := t.find(key, like); ok {
			return id, false
		}
		bad = t.invariant(scenarios.NewView(m)) != ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	id, isNew := t.keys.ID(key, like)
	if kept = isNew && !b.rebuilder.Rebuilds(m); kept {
		t.kept[id] = m.Clone() // which is shared from here on, and reading it is safe for everybody
	}
	if isNew && bad {
		t.bad[id] = true
	}
	return id, kept
}

// number is add for a machine that stays as it is.
func (t *machineTable) number(m *fsfake.Machine) uint32 {
	id, _ := t.add(m, &workspace{rebuilder: fsfake.NewRebuilder(t.first)}, &table.Split{}, nil)
	return id
}

func (t *machineTable) find(key, like *table.Split) (uint32, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.keys.Find(key, like)
}

// machineBytes is about what a machine takes that is kept itself, beside its key, measured: some 200 bytes
// for itself, and what it does not share with its neighbours.
const machineBytes = 550

// get returns machine id. The error is a fault of lockpick: the machine that was made from its key has another.
func (t *machineTable) get(id uint32) (*fsfake.Machine, error) {
	return t.rebuilt(id, &workspace{rebuilder: fsfake.NewRebuilder(t.first)})
}

// rebuilt is get in a workspace, where the next machine takes the place of this.
func (t *machineTable) rebuilt(id uint32, b *workspace) (*fsfake.Machine, error) {
	t.mu.Lock()
	kept, again := t.kept[id], t.rebuiltOnce(id)
	t.keys.Get(id, &b.base.key)
	t.mu.Unlock()
	if kept != nil {
		return kept, nil
	}
	make := b.rebuilder.Machine
	if again {
		make = b.rebuilder.Again
	}
	if m, ok := make(b.base.key.Key); ok {
		return m, nil
	}
	return nil, fmt.Errorf("checker: %s: machine %d has another key when it is rebuilt: this is a fault of "+
		"lockpick", t.sc.ID, id)
}

// rebuiltOnce reports whether a machine was rebuilt before, as it is from now on. Where it had another key then, there is an
// error already.
func (t *machineTable) rebuiltOnce(id uint32) bool {
	for int(id/64) >= len(t.once) {
		t.once = append(t.once, 0)
	}
	is := t.once[id/64]>>(id%64)&1 != 0
	t.once[id/64] |= 1 << (id % 64)
	return is
}

// opOf returns an operation.
func (t *machineTable) opOf(op uint32) any {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ops.Values[op]
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
	return t.keys.Len(), t.keys.Bytes() + 8*cap(t.once) + machineBytes*len(t.kept)
}

// touched notes what a call has made of a machine.
func (t *machineTable) touched(op fsfake.Op, before, after *fsfake.Machine) {
	if !t.sc.External {
		return
	}
	t.touching.Lock()
	defer t.touching.Unlock()
	t.footprint.Note(op, before, after)
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
