package bruteforce

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A slot is a task's place in the space.
type slot struct {
	process, n int
	id         fsfake.Task
	choice     sched.Choice
}

// A state is everything that decides what can happen next. States are values: a step makes
// a new one.
type state struct {
	m       *fsfake.Machine
	tasks   []actor
	history history
	cells   [][]cell // by process
	// shown lists, by process, the files whose inode numbers it was told: number n is at n-1, and
	// 0 stands for a number that is free again. Numbers are handed out from the lowest. They stay
	// while a task of the process may compare them, which is all that depends on them; for
	// starvation they stay for ever, as its lap ends where nothing at all is different.
	shown   [][]fsfake.InodeID
	crashes int // left
	stalls  int
	rest    time.Duration // of a stall that has begun
}

// An actor is a task in a state.
type actor struct {
	*task
	gone    bool  // its process has exited or was killed
	begun   bool  // it is punctual, and has made a call
	wakes   int64 // and sleeps until then, in nanoseconds; 0: it does not
	blocked *waiting
	held    []holding // by path
}

// A waiting is a call that has begun. What the machine keeps of it cannot be looked at, so it
// is remembered here.
type waiting struct {
	file   fsfake.InodeID
	fd     int
	closed bool   // the descriptor was closed meanwhile
	on     string // the locks that were there when it began
}

// A holding is a lock that a task holds: its name, the object acquired last, and how often it was
// acquired and not released.
type holding struct {
	path  string
	file  fsfake.InodeID
	times int
}

// holding adds a lock that was acquired; the slice is not changed in place.
func (a *actor) holding(h holding) {
	out := make([]holding, 0, len(a.held)+1)
	h.times = 1
	for _, k := range a.held {
		if k.path == h.path {
			h.times += k.times
		} else {
			out = append(out, k)
		}
	}
	out = append(out, h)
	slices.SortFunc(out, func(a, b holding) int { return strings.Compare(a.path, b.path) })
	a.held = out
}

// letGo takes a lock away once.
func (a *actor) letGo(path string) {
	var out []holding
	for _, k := range a.held {
		if k.path == path {
			k.times--
		}
		if k.times > 0 {
			out = append(out, k)
		}
	}
	a.held = out
}

type cell struct {
	name  string
	value int
}

// space is what is the same in all states.
type space struct {
	p        *Protocol
	property *scenarios.Property
	slots    []slot
	judge    *judge // nil for a property that is not judged by history
}

// ErrNotModelled is the error of [Solve] for a protocol that makes a call which the machine
// does not model.
var ErrNotModelled = errors.New("a call is not modelled")

func newSpace(p *Protocol, property *scenarios.Property) (*space, *state, error) {
	x := &space{p: p, property: property, judge: newJudge(property)}
	s := &state{
		m: p.Scenario().NewMachine(), crashes: p.Crashes, stalls: p.Stalls,
		cells: make([][]cell, len(p.Programs)), shown: make([][]fsfake.InodeID, len(p.Programs)),
	}
	for i, tasks := range p.Programs {
		for n := range tasks {
			x.slots = append(x.slots, slot{
				process: i, n: n + 1, id: fsfake.Task{Pid: 101 + i, N: n + 1},
				choice: sched.Choice{Action: sched.Run, Task: sched.Task{Process: i, N: n + 1}},
			})
			t, err := newTask(compile(tasks[n]), processName(i))
			if err != nil {
				return nil, nil, err
			}
			t.trails = property == scenarios.Starvation
			s.tasks = append(s.tasks, actor{task: t})
		}
	}
	s.history = make(history, len(x.slots)+len(p.Programs))
	return x, s, nil
}

func processName(i int) string { return string(rune('A' + i)) }

// clone is a copy that a step may change.
func (s *state) clone() *state {
	c := *s
	c.m = s.m.Clone()
	c.tasks = append([]actor(nil), s.tasks...)
	c.history = append(history(nil), s.history...)
	c.cells = append([][]cell(nil), s.cells...)
	c.shown = append([][]fsfake.InodeID(nil), s.shown...)
	return &c
}

// exits reports whether the next step of a task is the exit of its process: the first task
// makes it when the programs of all have ended.
func (x *space) exits(s *state, i int) bool {
	if x.p.Daemons || x.slots[i].n != 1 || s.tasks[i].gone {
		return false
	}
	for j := range s.tasks {
		if x.slots[j].process == x.slots[i].process && !s.tasks[j].ended() {
			return false
		}
	}
	return true
}

// finished: the task will never take a step again.
func (x *space) finished(s *state, i int) bool {
	return s.tasks[i].gone || s.tasks[i].ended() && !x.exits(s, i)
}

func (x *space) unfinished(s *state) bool {
	for i := range s.tasks {
		if !x.finished(s, i) {
			return true
		}
	}
	return false
}

// enabled: the task can take a step now.
func (x *space) enabled(s *state, i int) bool {
	if x.finished(s, i) {
		return false
	}
	a := &s.tasks[i]
	return a.blocked == nil || s.m.Ready(x.slots[i].id, a.op())
}

// killable: the process lives, and may be killed.
func (x *space) killable(s *state, process int) bool {
	if x.p.Mortal != nil {
		mortal := false
		for _, p := range x.p.Mortal {
			mortal = mortal || p == process
		}
		if !mortal {
			return false
		}
	}
	for i := range s.tasks {
		if x.slots[i].process == process && !s.tasks[i].gone {
			return true
		}
	}
	return false
}

// choices lists what can happen in a state, in the order of schedules: steps by task, kills
// by process, the stall.
func (x *space) choices(s *state) []sched.Choice {
	var out []sched.Choice
	for i := range s.tasks {
		if x.enabled(s, i) {
			out = append(out, x.slots[i].choice)
		}
	}
	for p := range x.p.Programs {
		if s.crashes > 0 && x.killable(s, p) {
			out = append(out, sched.Choice{Action: sched.Kill, Task: sched.Task{Process: p, N: 1}})
		}
	}
	if x.passes(s) > 0 {
		out = append(out, sched.Choice{Action: sched.Stall})
	}
	return out
}

// passes is how far the clock may move. Time that was begun to be lost goes on being lost first. Who
// is punctual is not robbed of any: nothing passes before the step that it could take, and what
// it sleeps ends in time.
func (x *space) passes(s *state) time.Duration {
	if !x.unfinished(s) {
		return 0
	}
	d := s.rest
	if d == 0 && s.stalls > 0 {
		d = x.p.stallFor()
	}
	for i := range s.tasks {
		if a := &s.tasks[i]; a.begun && x.enabled(s, i) {
			d = max(0, min(d, time.Duration(a.wakes-s.m.Now().UnixNano())))
		}
	}
	return d
}

// keepsTime notes that a task has made a call, which may be a sleep.
func (x *space) keepsTime(s *state, i int, op fsfake.Op) {
	a := &s.tasks[i]
	a.begun, a.wakes = slices.Contains(x.p.Punctual, x.slots[i].process) && x.p.Stalls > 0, 0
	if a.begun && op.Call == fsfake.CallSleep {
		a.wakes = s.m.Now().UnixNano() + op.Time
	}
}

// A stepped is what one choice came to.
type stepped struct {
	to    *state
	slot  int  // who stepped, or -1
	slept bool // and gave way
	bad   bool // it breaks the property
}

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
		out.to.m.Advance(d)
	case sched.Kill:
		out.to.crashes--
		x.kill(out.to, c.Task.Process)
		judged = true
	default:
		out.slot = x.slotOf(c.Task)
		out.slept, judged, err = x.step(out.to, out.slot)
	}
	if err != nil {
		return out, err
	}
	out.bad = x.property == scenarios.ForeignRelease && foreign(out.to) ||
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

// kill ends a process between two of its steps.
func (x *space) kill(s *state, process int) {
	s.m.KillProc(101 + process)
	x.die(s, process)
}

// die ends what the tasks of a process have begun, and what they hold: the process was killed
// or has exited.
func (x *space) die(s *state, process int) {
	for i := range s.tasks {
		if x.slots[i].process == process {
			x.remember(s, i, func(o []operation) []operation { return cutShort(o) })
		}
	}
	x.event(s, len(x.slots)+process, model.Crash{Owner: processName(process)})
	x.remember(s, len(x.slots)+process, func(o []operation) []operation { return answer(o, model.Crashed{}) })
	x.end(s, process)
}

// end takes the tasks of a process out.
func (x *space) end(s *state, process int) {
	for i := range s.tasks {
		if x.slots[i].process == process {
			s.tasks[i].gone, s.tasks[i].held, s.tasks[i].blocked = true, nil, nil
		}
	}
	s.cells[process], s.shown[process] = nil, nil
}

// event begins an operation of a client.
func (x *space) event(s *state, client int, input any) {
	if x.judge == nil || !x.judge.accepts(input) {
		return
	}
	ops := s.history[client]
	s.history[client] = append(ops[:len(ops):len(ops)], operation{
		input: input, before: s.history.returned(), text: fmt.Sprintf(";%T%v", input, input),
	})
}

func (x *space) remember(s *state, client int, change func([]operation) []operation) {
	if x.judge != nil {
		s.history[client] = change(s.history[client])
	}
}

// step lets a task make its next call. Under an event loop a turn, which is the accesses to
// cells up to the next call of another kind, is one step; operations begin and end between
// steps. judged: an operation was answered.
func (x *space) step(s *state, i int) (slept, judged bool, err error) {
	sl := x.slots[i]
	if x.exits(s, i) {
		s.m.Do(sl.id, fsfake.Op{Call: fsfake.CallExit})
		x.die(s, sl.process)
		return false, true, nil
	}
	a := &s.tasks[i]
	t := *a.task
	a.task = &t
	if a.blocked == nil {
		if t.letsGo != "" {
			a.letGo(t.letsGo)
		}
		if t.invokes != nil {
			x.event(s, i, t.invokes)
		}
	}
	for {
		op := t.op()
		file, known := x.about(s, sl, op)
		wait := x.waitFor(s, sl, op, file)
		r := s.m.Do(sl.id, op)
		x.keepsTime(s, i, op)
		if r.Unmodelled != "" {
			return false, false, fmt.Errorf("bruteforce: %w: %s", ErrNotModelled, r.Unmodelled)
		}
		if r.Blocked {
			a.blocked = wait
			return false, judged, nil
		}
		a.blocked = nil
		x.note(s, sl, op)
		if !known && op.Call == fsfake.CallStat {
			file, _ = s.m.Lookup(op.Path)
		}
		if r.Stat.Ino != 0 {
			s.show(sl.process, file)
			t.reg.told = with(t.reg.told, file)
		}
		remarks, err := t.take(r, file)
		if err != nil {
			return false, false, err
		}
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

// show remembers that a process was told the inode number of a file.
func (s *state) show(process int, file fsfake.InodeID) {
	shown := slices.Clone(s.shown[process])
	free := slices.Index(shown, 0)
	switch {
	case slices.Contains(shown, file):
		return
	case free >= 0:
		shown[free] = file
	default:
		shown = append(shown, file)
	}
	s.shown[process] = shown
}

// forget frees the numbers that no task of a process knows any more.
func (x *space) forget(s *state, process int) {
	if x.property == scenarios.Starvation {
		return
	}
	shown := slices.Clone(s.shown[process])
	for n, file := range shown {
		known := false
		for i := range s.tasks {
			known = known || x.slots[i].process == process && !s.tasks[i].ended() && slices.Contains(s.tasks[i].reg.told, file)
		}
		if !known {
			shown[n] = 0
		}
	}
	for len(shown) > 0 && shown[len(shown)-1] == 0 {
		shown = shown[:len(shown)-1]
	}
	s.shown[process] = shown
}

func with(files []fsfake.InodeID, file fsfake.InodeID) []fsfake.InodeID {
	if slices.Contains(files, file) {
		return files
	}
	return append(files[:len(files):len(files)], file)
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
func (x *space) note(s *state, sl slot, op fsfake.Op) {
	switch op.Call {
	case fsfake.CallCellStore:
		s.cells[sl.process] = store(s.cells[sl.process], op.Cell, number(op.Value))
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
