package checker

import (
	"cmp"
	"fmt"

	"lockpick/checker/internal/history"
	"lockpick/checker/internal/learn"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A world is one run of a scenario: the machine, and every task. A live world runs the
// tasks' own Go code as coroutines; one with a cast follows what was learned of it.
type world struct {
	sc      *scenarios.Scenario
	memo    *learn.Memo // nil: live
	m       *fsfake.Machine
	actors  []*actor
	history *history.Recorder
	crashes int // left
	stalls  int // left
	losses  int // of power, left
	last    int // the actor that stepped last, or -1
	view    sched.View
	steps   int
	// invariant is asked for: marks must be kept.
	marks bool
	held  bool // somebody has acquired
	err   error
	// Buffers, kept from run to run.
	calls     []trace.Call
	preempted []bool // by step: it was a preemption
}

// An actor is one task of a world.
type actor struct {
	task    sched.Task
	id      fsfake.Task
	index   int
	code    learn.Code // nil: not live, or not begun
	node    uint32     // where it is, when it is not live
	op      fsfake.Op
	begins  learn.Effects // begins with the next call: invoked, letGo
	ended   bool          // the program has returned
	gone    bool          // the process has exited or was killed, or has not begun
	blocked bool
	asleep  bool
	idle    bool
	// rounds are the retry loops that it is in, the innermost last. roundVersion is the
	// machine's version at the top of the round begun last.
	rounds       []round
	roundVersion uint64
	holding      *scenarios.Holding
	since        int            // the step with which the hold began, from 1
	object       fsfake.InodeID // what it is of, in a run that is recorded
}

// A round is one of a retry loop, begun at a version of the machine.
type round struct {
	loop    int
	version uint64
}

// newWorld starts a live run, every task up to its first call. Stop must be called in
// the end.
func newWorld(sc *scenarios.Scenario, p *scenarios.Property, m *fsfake.Machine) *world {
	w := emptyWorld(sc, p)
	w.start(m)
	return w
}

func emptyWorld(sc *scenarios.Scenario, p *scenarios.Property) *world {
	w := &world{sc: sc, marks: p.Invariant != nil}
	for i := range sc.Setting.Processes {
		for n := 1; n <= sc.Setting.TasksOf(i); n++ {
			w.actors = append(w.actors, &actor{
				task: sched.Task{Process: i, N: n}, index: len(w.actors),
				id: fsfake.Task{Pid: scenarios.FirstPid + i, N: n},
			})
		}
	}
	w.history = history.NewRecorder(len(w.actors) + sc.Setting.Processes)
	w.view.Tasks = make([]sched.TaskView, len(w.actors))
	return w
}

// start begins a run on m, which must be the world's own.
func (w *world) start(m *fsfake.Machine) {
	w.m, w.last, w.steps, w.err = m, -1, 0, nil
	w.crashes, w.stalls, w.losses = w.sc.Setting.Crashes, w.sc.Setting.Stalls, w.sc.Setting.PowerLosses
	w.history.Reset()
	w.preempted = w.preempted[:0]
	for _, a := range w.actors {
		if w.sc.Setting.AfterReboot(a.task.Process) {
			*a = actor{task: a.task, id: a.id, index: a.index, gone: true}
		} else {
			w.begin(a)
		}
	}
}

// begin starts a task.
func (w *world) begin(a *actor) {
	*a = actor{task: a.task, id: a.id, index: a.index}
	if w.memo != nil {
		at, e := w.memo.Start(a.index)
		a.node, a.op, a.ended = at.Node, at.Op, at.Ended
		w.settle(a, e)
		return
	}
	var err error
	if a.code, err = learn.Functions(w.sc)(a.task.Process, a.task.N); err != nil {
		w.err = cmp.Or(w.err, err)
		return
	}
	w.resume(a)
}

// stop unwinds every live task.
func (w *world) stop() {
	for _, a := range w.actors {
		if a.code != nil {
			a.code.Stop()
		}
	}
}

// fail remembers the first harness error, which ends the run.
func (w *world) fail(format string, args ...any) {
	if w.err == nil {
		w.err = fmt.Errorf("checker: "+format, args...)
	}
}

// proceed gives a task the result of its call and applies what it does until its next.
func (w *world) proceed(a *actor, r *fsfake.Result) {
	if w.memo == nil {
		if err := a.code.Answer(*r); err != nil {
			w.err = cmp.Or(w.err, err)
			return
		}
		w.resume(a)
		return
	}
	at, e, err := w.memo.Proceed(a.index, a.node, r)
	if err != nil {
		w.err = cmp.Or(w.err, err)
		return
	}
	a.node, a.op, a.ended = at.Node, at.Op, at.Ended
	w.settle(a, e)
}

// resume runs a live task until its next call.
func (w *world) resume(a *actor) {
	op, more, notes, err := a.code.Next()
	if err != nil {
		w.err = cmp.Or(w.err, err)
		return
	}
	a.op, a.ended = op, !more
	e, err := learn.Digest(a.task.String(), notes)
	if err != nil {
		w.fail("%w", err)
		return
	}
	w.settle(a, e)
}

// settle applies what a task did between two calls.
func (w *world) settle(a *actor, e learn.Effects) {
	if e.Returned {
		if w.history.Open[a.index] < 0 {
			w.fail("%s: an operation returned %v that was never invoked", a.task, e.Output)
			return
		}
		w.history.Return(a.index, w.steps, e.Output)
	}
	if e.Holds {
		w.hold(a, e.Holding)
	}
	a.turnRound(&e, w.m.Version())
	if a.ended && e.Invoked {
		w.fail("%s: operation %v made no call: every recorded operation needs at least one", a.task, e.Input)
	}
	a.begins = e
}

// turnRound keeps count of the rounds. A task is idle when it comes back to the top of a
// loop and nothing has changed since it was there.
func (a *actor) turnRound(e *learn.Effects, version uint64) {
	if e.Again != 0 {
		i := len(a.rounds) - 1
		for i > 0 && a.rounds[i].loop != e.Again {
			i--
		}
		if i < 0 || a.rounds[i].loop != e.Again {
			// Learned code gives a loop begun again the number that it had at first.
			i = len(a.rounds) - 1
		}
		if i >= 0 {
			a.idle = a.rounds[i].version == version
			a.rounds = append(a.rounds[:i], round{e.Again, version})
		}
		a.roundVersion = version
	}
	for _, loop := range e.Begun {
		if loop != 0 {
			a.rounds = append(a.rounds, round{loop, version})
		}
	}
}

func (w *world) hold(a *actor, h scenarios.Holding) {
	a.holding, a.since, w.held = &h, w.steps+1, w.held || h.Path != ""
	if w.marks && h.Path != "" {
		w.m.Mark(a.id, h.Path, lockObject(w.m, a.id.Pid, h))
	}
}

// lockObject finds the inode that an acquisition acquired.
func lockObject(m *fsfake.Machine, pid int, h scenarios.Holding) fsfake.InodeID {
	if h.FD >= 0 {
		if id, ok := m.FDInode(pid, h.FD); ok {
			return id
		}
	}
	id, _ := m.Lookup(h.Path)
	return id
}

// exits reports whether a's next step is the exit of its process: the first task of a
// process makes it, when the programs of all have ended.
func (w *world) exits(a *actor) bool {
	if !a.ended || a.task.N != 1 || a.gone || w.sc.Setting.Daemons {
		return false
	}
	for _, b := range w.actors {
		if b.task.Process == a.task.Process && !b.ended {
			return false
		}
	}
	return true
}

// finished reports whether a will never step again.
func (w *world) finished(a *actor) bool { return a.gone || a.ended && !w.exits(a) }

func (w *world) enabled(a *actor) bool {
	if w.finished(a) {
		return false
	}
	return !a.blocked || w.m.Ready(a.id, a.op)
}

// look brings the view up to date. It reports whether anybody can move at all, and
// whether that would be worth it: when all that can move poll in vain, nothing new will
// happen any more.
func (w *world) look() (moves, lively bool) {
	v := &w.view
	v.Step, v.Last = w.steps, w.last
	version := w.m.Version()
	for i, a := range w.actors {
		on := w.enabled(a)
		idle := a.idle && a.roundVersion == version
		v.Tasks[i] = sched.TaskView{Task: a.task, Enabled: on, Asleep: a.asleep, Idle: idle}
		moves = moves || on
		lively = lively || on && !idle
	}
	v.Kills = v.Kills[:0]
	if w.crashes > 0 {
		for i := range w.sc.Setting.Processes {
			if w.sc.Setting.CanDie(i) && w.killable(i) {
				v.Kills = append(v.Kills, i)
			}
		}
	}
	v.Stall = w.stalls > 0 && w.unfinished()
	v.Losses = w.lossStates()
	if len(v.Kills) > 0 || v.Stall || v.Losses > 0 {
		return true, true
	}
	return moves, lively
}

// killable: a process that has anything left to do can be killed.
func (w *world) killable(process int) bool {
	for _, a := range w.actors {
		if a.task.Process == process && !w.finished(a) {
			return true
		}
	}
	return false
}

func (w *world) unfinished() bool {
	for _, a := range w.actors {
		if !w.finished(a) {
			return true
		}
	}
	return false
}

// apply carries out one choice, which must be possible. It returns the calls made; the
// slice is only valid until the next apply.
func (w *world) apply(c sched.Choice, calls []trace.Call) []trace.Call {
	switch c.Action {
	case sched.Stall:
		w.stalls--
		w.m.Advance(w.sc.Setting.StallFor)
		for _, a := range w.actors { // who polls may now see that something has expired
			a.idle = false
		}
	case sched.Kill:
		w.crashes--
		w.kill(c.Task.Process)
	case sched.PowerLoss:
		w.losePower(c.State)
	default:
		for _, a := range w.actors {
			if a.task == c.Task {
				calls = w.step(a, calls)
				break
			}
		}
	}
	w.steps++
	return calls
}

func (w *world) kill(process int) {
	w.m.KillProc(scenarios.FirstPid + process)
	for _, a := range w.actors {
		if a.task.Process == process {
			w.history.Cut(a.index, w.steps)
			w.gone(a)
		}
	}
	w.history.Crash(len(w.actors)+process, w.steps, scenarios.ProcessName(process))
}

// gone takes a task out of the run: its process has ended.
func (w *world) gone(a *actor) {
	a.gone, a.holding = true, nil
	if a.code != nil {
		a.code.Stop()
	}
	if w.marks {
		w.m.Unmark(a.id)
	}
}

// step lets a make its next call. Under an event loop a turn, the cell accesses up to
// the next system call, is one step.
func (w *world) step(a *actor, calls []trace.Call) []trace.Call {
	w.last = a.index
	a.asleep, a.idle = false, false
	if w.exits(a) {
		a.op = fsfake.Op{Call: fsfake.CallExit}
	}
	if a.begins.LetGo && a.holding != nil {
		a.holding = nil
		if w.marks {
			w.m.Unmark(a.id)
		}
	}
	if a.begins.Invoked {
		w.history.Invoke(a.index, w.steps, a.begins.Input)
	}
	a.begins = learn.Effects{}
	turn := w.sc.Setting.Concurrency == scenarios.EventLoop && a.op.Call.IsCell()
	for {
		op := a.op
		r := w.m.Do(a.id, op)
		calls = append(calls, trace.Call{Op: op, Result: r})
		if r.Unmodelled != "" {
			w.fail("%s: %s: %s", a.task, op.Call, r.Unmodelled)
			return calls
		}
		if a.blocked = r.Blocked; r.Blocked {
			return calls
		}
		if op.Call == fsfake.CallExit {
			w.exit(a)
			return calls
		}
		a.asleep = op.Call == fsfake.CallSleep
		w.proceed(a, &r)
		if !turn || a.ended || !a.op.Call.IsCell() || w.err != nil {
			return calls
		}
		if a.begins.Invoked || a.begins.LetGo || a.begins.Returned {
			// Operations begin and end between steps.
			return calls
		}
	}
}

// exit ends a's process: no task of it steps again.
func (w *world) exit(a *actor) {
	for _, b := range w.actors {
		if b.task.Process == a.task.Process {
			w.gone(b)
		}
	}
}
