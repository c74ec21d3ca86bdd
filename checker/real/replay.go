//go:build linux

package real

import (
	"context"
	"fmt"
	"slices"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/fsfake/kernel"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Replay follows a schedule strictly on the real kernel and disk, up to the step that
// breaks the property on the fake. The error is a fault of the schedule, as
// [checker.Replay] reports it, or of the machinery: of the protocol it says nothing.
func Replay(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, s sched.Schedule) (Report, error) {
	fake, err := checker.Replay(sc, p, s)
	if err != nil {
		return Report{}, err
	}
	r, err := newRun(sc, p)
	if err != nil {
		return Report{}, err
	}
	defer r.real.Close()
	if err := r.start(); err != nil {
		return r.report, err
	}
	for _, step := range fake.Counterexample.Trace {
		if err := ctx.Err(); err != nil {
			return r.report, fmt.Errorf("real: stopped after %d steps: %w", r.report.Steps, err)
		}
		if err := r.step(step); err != nil {
			return r.report, fmt.Errorf("real: step %d: %w", step.N, err)
		}
		if r.lost {
			return r.report, nil
		}
	}
	broken := fake.Broken
	if broken && p.NeedsProbe() {
		if broken, err = r.wedged(); err != nil {
			return r.report, err
		}
	}
	if broken && p.Question == scenarios.Leaves {
		if broken, err = r.leftBehind(); err != nil {
			return r.report, err
		}
	}
	r.compareNotes(fake.Counterexample.Trace)
	r.report.Broken = broken && len(r.report.Mismatches) == 0
	return r.report, nil
}

// A run is a real run, and a fake machine that does the same.
type run struct {
	sc       *scenarios.Scenario
	property *scenarios.Property
	fake     *fsfake.Machine
	real     *kernel.Machine
	tasks    []*task
	now      sched.Task // whose step it is
	lost     bool       // the two have parted
	// signalled are the processes whose handler has begun.
	signalled map[int]bool
	inos      map[uint64]fsfake.InodeID
	ids       map[fsfake.InodeID]uint64
	report    Report
}

// A task is one task of the scenario.
type task struct {
	task  sched.Task
	id    fsfake.Task
	ask   kernel.Ask
	waits bool           // in a blocked call
	woken *fsfake.Result // what that has answered meanwhile
	notes []string
	gone  bool
	by    fsfake.Task // the child that makes the call; zero when it is the task itself
}

// who makes the call.
func (t *task) who() fsfake.Task {
	if t.by != (fsfake.Task{}) {
		return t.by
	}
	return t.id
}

func newRun(sc *scenarios.Scenario, p *scenarios.Property) (*run, error) {
	if sc.Setting.PowerLosses > 0 {
		return nil, fmt.Errorf("real: %s: its power may be lost, and that of a real machine is not cut", sc.ID)
	}
	if set := &sc.Setting; set.Users != nil || len(set.Containers) > 0 {
		return nil, fmt.Errorf("real: %s: its processes are of several users, or in containers, and real ones run beside each other as one user", sc.ID)
	}
	if p := sc.Setting.Machine.Profile; p != fsfake.Posix {
		return nil, fmt.Errorf("real: %s: its file system is %s, and real replays run on the one that temporary files are on: replay it without --fs", sc.ID, p)
	}
	tasks := 1
	for i := range sc.Setting.Processes {
		tasks = max(tasks, sc.Setting.TasksOf(i))
	}
	m, err := kernel.New(kernel.Options{Tasks: tasks, Umask: sc.Setting.Machine.Umask})
	if err != nil {
		return nil, err
	}
	fake := sc.NewMachine()
	fake.EndSleeps() // the trace says what time it is
	return &run{
		sc: sc, property: p, fake: fake, real: m,
		signalled: map[int]bool{}, inos: map[uint64]fsfake.InodeID{}, ids: map[fsfake.InodeID]uint64{},
		report: Report{Emulated: map[string]int{}},
	}, nil
}

// leftBehind reports whether the real disk has what the fake's verdict says is left behind.
func (r *run) leftBehind() (bool, error) {
	left := r.sc.Remainder(r.sc.NewMachine()).Left(r.fake)
	tree, err := r.real.Tree()
	for _, name := range left {
		if !slices.ContainsFunc(tree, func(e kernel.Entry) bool { return e.Path == name }) {
			return false, err
		}
	}
	return len(left) > 0, err
}

// start sets the disk up and brings every program to its first call.
func (r *run) start() error {
	if err := r.real.Import(r.fake); err != nil {
		return err
	}
	for _, pid := range r.fake.Pids() { // others may run beside them, such as one with a dead owner's pid
		if pid == 1 {
			continue
		}
		if err := r.real.AddProc(fsfake.ProcSpec{Pid: pid, Cwd: "/"}); err != nil {
			return err
		}
	}
	for i, n := range r.sc.Setting.EachTask() {
		t := &task{task: sched.Task{Process: i, N: n}, id: fsfake.Task{Pid: scenarios.Pid(i), N: n}}
		what := name{Scenario: r.sc.ID, Processes: r.sc.Setting.Processes, Process: i, N: n}
		ask, err := r.real.Run(t.id, what.String())
		if err != nil {
			return fmt.Errorf("real: starting %s: %w", t.task, err)
		}
		t.take(ask)
		r.tasks = append(r.tasks, t)
	}
	return nil
}

func (t *task) take(a kernel.Ask) {
	t.ask = a
	t.notes = append(t.notes, a.Notes...)
}

// step takes one step of the fake's run.
func (r *run) step(s trace.Step) error {
	r.report.Steps++
	r.now = s.Choice.Task
	switch s.Choice.Action {
	case sched.Stall:
		r.fake.Advance(s.Passed)
		r.report.Emulated["clock"]++
		return nil
	case sched.Signal:
		return r.signal(s.Choice.Task.Process)
	case sched.Kill:
		pid := scenarios.Pid(s.Choice.Task.Process)
		r.fake.KillProc(pid)
		if err := r.real.KillProc(pid); err != nil {
			return err
		}
		r.gone(s.Choice.Task.Process)
	default:
		t := r.task(s.Choice.Task)
		for _, c := range s.Calls {
			if c.Op.Call == fsfake.CallSleep && c.Result.Blocked {
				continue // its end comes
			}
			t.by = c.By
			if err := r.call(t, c.Op, s.Choice); err != nil || r.lost {
				return err
			}
		}
	}
	r.fake.Advance(s.After.Now().Sub(r.fake.Now())) // what was slept
	if err := r.wakes(); err != nil {
		return err
	}
	return r.compareDisks()
}

// signal has the handler of a process begin, which is a thread that has done nothing so far.
func (r *run) signal(process int) error {
	t := r.task(sched.Task{Process: process, N: 1})
	if t.waits || r.signalled[process] {
		return fmt.Errorf("real: on the real kernel a process gets one signal at most, and not while it waits in a call: %s gets another, or waits", t.task)
	}
	r.signalled[process] = true
	r.report.Emulated["signal"]++
	return nil
}

func (r *run) task(t sched.Task) *task {
	for _, have := range r.tasks {
		if have.task == t {
			return have
		}
	}
	panic("real: a schedule that was replayed names a task that there is not")
}

func (r *run) gone(process int) {
	for _, t := range r.tasks {
		t.gone = t.gone || t.task.Process == process
	}
}

// wakes notes what blocked calls have answered meanwhile.
func (r *run) wakes() error {
	ws, err := r.real.Woken()
	for _, w := range ws {
		for _, t := range r.tasks {
			if t.who() == w.Task {
				t.woken = &w.Result
			}
		}
	}
	return err
}

// differ notes a mismatch after which the two runs have parted.
func (r *run) differ(what, fake, real string) {
	r.lost = true
	r.report.Mismatches = append(r.report.Mismatches, Mismatch{
		Step: r.report.Steps, Task: r.now, What: what, Fake: fake, Real: real,
	})
}
