package engine

import (
	"crypto/sha256"
	"sync"
	"time"
	"unsafe"

	"lockpick/checker/internal/table"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A machineTable holds the distinct states of the machine, numbered in order of
// arrival, the distinct operations, and the distinct results. A state of the whole
// world refers to its machine by number: few machines are shared by many states.
//
// Of a machine a digest of its key is kept, and how it came about: whoever needs the machine has the operations carried
// out once more, from the last machine on the way that is kept itself.
type machineTable struct {
	sc *scenarios.Scenario
	// invariant says what is wrong in a state, for a property that is judged so; marks
	// tells whether marks are kept, which is then.
	invariant func(scenarios.View) string
	property  *scenarios.Property
	marks     bool
	mu        sync.Mutex
	ids       map[digest]uint32
	origins   []origin // by machine
	kept      map[uint32]*fsfake.Machine
	bad       map[uint32]bool // by the invariant
	ops       *table.Interner
	results   *resultTable
	// footprint is what programs change; touching guards it.
	footprint fsfake.Footprint
	touching  sync.Mutex
}

// An origin says how a machine came about: by an operation of a task on another machine. steps is how many operations
// lie between it and a machine that is kept; 0: it is kept.
type origin struct {
	from, op         uint32
	pid, task, steps int32
}

// mostSteps: on each way one machine in so many is kept. With 8 a machine takes about 70 bytes beside its number, in
// place of 550, and at most 7 operations are carried out once more.
const mostSteps = 8

// A digest tells keys apart, which may be long: the first half of a SHA-256.
type digest [sha256.Size / 2]byte

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

// An opPermute is a renaming of processes.
type opPermute struct {
	of   *Symmetry
	perm int
}

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
		ids: map[digest]uint32{}, ops: table.NewInterner(),
		results: &resultTable{ids: map[fsfake.Result]uint32{}}, kept: map[uint32]*fsfake.Machine{}, bad: map[uint32]bool{},
	}
}

// start numbers the machine at the start.
func (t *machineTable) start(m *fsfake.Machine) uint32 { return t.number(m) }

// op numbers an operation.
func (t *machineTable) op(v any) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.ops.ID(v)
}

// add numbers a machine that came about so.
func (t *machineTable) add(m *fsfake.Machine, of origin, b *workspace) (id uint32) {
	b.key = m.AppendKey(b.key[:0])
	sum := sha256.Sum256(b.key)
	key, bad := digest(sum[:len(digest{})]), false
	if t.invariant != nil {
		if id, ok := t.find(key); ok {
			return id
		}
		bad = t.invariant(scenarios.NewView(m)) != ""
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	id, known := t.ids[key]
	if known {
		return id
	}
	id = uint32(len(t.origins))
	t.ids[key] = id
	if of.steps > 0 {
		of.steps = (t.origins[of.from].steps + 1) % mostSteps
	}
	t.origins = append(t.origins, of)
	if of.steps == 0 {
		t.kept[id] = m.Clone() // which is shared from here on, and reading it is safe for everybody
	}
	if bad {
		t.bad[id] = true
	}
	return id
}

// number is add for a machine that is kept.
func (t *machineTable) number(m *fsfake.Machine) uint32 {
	return t.add(m, origin{}, &workspace{})
}

func (t *machineTable) find(key digest) (id uint32, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id, ok = t.ids[key]
	return id, ok
}

// permuted numbers machine id with its processes renamed.
func (t *machineTable) permuted(id uint32, v opPermute) uint32 {
	m := t.get(id).Clone()
	t.carryOut(m, fsfake.Task{}, v)
	return t.add(m, origin{from: id, op: t.op(v), steps: 1}, &workspace{})
}

// numberBytes is about what a machine takes, with its place in a map, and machineBytes what one takes beside that which
// is kept itself, measured: some 200 bytes for itself, and what it does not share with its neighbours.
const numberBytes, machineBytes = int(unsafe.Sizeof(origin{})) + 32, 550

// get returns machine id, which must stay as it is.
func (t *machineTable) get(id uint32) *fsfake.Machine {
	return t.load(id, &fsfake.Machine{})
}

// load is get with room for the machine, where it is not kept.
func (t *machineTable) load(id uint32, room *fsfake.Machine) *fsfake.Machine {
	var way [mostSteps]origin
	n := 0
	t.mu.Lock()
	for ; t.origins[id].steps > 0; id = t.origins[id].from {
		way[n] = t.origins[id]
		n++
	}
	m := t.kept[id]
	t.mu.Unlock()
	if n == 0 {
		return m
	}
	m.CloneTo(room)
	for n--; n >= 0; n-- {
		of := &way[n]
		t.carryOut(room, of.by(), t.opOf(of.op))
	}
	return room
}

// by is who made the operation.
func (o *origin) by() fsfake.Task { return fsfake.Task{Pid: int(o.pid), N: int(o.task)} }

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
	return len(t.origins)
}

func (t *machineTable) count() (machines, bytes int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.origins), numberBytes*cap(t.origins) + machineBytes*len(t.kept)
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
