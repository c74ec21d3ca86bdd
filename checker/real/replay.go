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

// Replay has a schedule followed on the fake, and makes the same calls in the same order on the real kernel
// and disk, up to the step that breaks the property on the fake. The error is a fault of the schedule, as
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
	r.report.Broken = broken && len(r.report.Mismatches) == 0
	return r.report, nil
}

// A run makes the calls of a run on the fake.
type run struct {
	sc       *scenarios.Scenario
	property *scenarios.Property
	fake     *fsfake.Machine // as it was after the step
	real     *kernel.Machine
	now      sched.Task // whose step it is
	lost     bool       // the two have parted
	// waits are those in a blocked call, with what that has answered meanwhile; nil for nothing.
	waits map[fsfake.Task]*fsfake.Result
	// signalled are the processes whose handler has begun.
	signalled map[int]bool
	inos      map[uint64]fsfake.InodeID
	ids       map[fsfake.InodeID]uint64
	report    Report
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
	return &run{
		sc: sc, property: p, fake: sc.NewMachine(), real: m, waits: map[fsfake.Task]*fsfake.Result{},
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

// start sets the disk up, and starts every process with its tasks.
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
		if err := r.real.Start(fsfake.Task{Pid: scenarios.Pid(i), N: n}); err != nil {
			return fmt.Errorf("real: starting %s: %w", sched.Task{Process: i, N: n}, err)
		}
	}
	return nil
}

// step takes one step of the fake's run.
func (r *run) step(s trace.Step) error {
	r.report.Steps++
	r.now, r.fake = s.Choice.Task, s.After
	id := fsfake.Task{Pid: scenarios.Pid(r.now.Process), N: r.now.N}
	switch s.Choice.Action {
	case sched.Stall:
		r.report.Emulated["clock"]++
		return nil
	case sched.Signal:
		return r.signal(s.Choice.Task.Process)
	case sched.Kill:
		if err := r.real.KillProc(id.Pid); err != nil {
			return err
		}
	default:
		for _, c := range s.Calls {
			if c.Op.Call == fsfake.CallSleep && c.Result.Blocked {
				continue // its end comes
			}
			who := id
			if c.By != (fsfake.Task{}) {
				who = c.By
			}
			if err := r.call(who, c.Op, c.Result, s.Choice.Fails); err != nil || r.lost {
				return err
			}
		}
	}
	if err := r.wakes(); err != nil {
		return err
	}
	return r.compareDisks()
}

// signal has the handler of a process begin, which is a thread that has done nothing so far.
func (r *run) signal(process int) error {
	first := fsfake.Task{Pid: scenarios.Pid(process), N: 1}
	if _, waits := r.waits[first]; waits || r.signalled[process] {
		return fmt.Errorf("real: on the real kernel a process gets one signal at most, and not while it waits in a "+
			"call: %s gets another, or waits", scenarios.ProcessName(process))
	}
	r.signalled[process] = true
	r.report.Emulated["signal"]++
	return nil
}

// wakes notes what blocked calls have answered meanwhile.
func (r *run) wakes() error {
	ws, err := r.real.Woken()
	for _, w := range ws {
		if _, waits := r.waits[w.Task]; waits {
			r.waits[w.Task] = &w.Result
		}
	}
	return err
}

// call makes a call that the fake has answered, and compares. fails is the error that it was made to fail with.
func (r *run) call(who fsfake.Task, op fsfake.Op, f fsfake.Result, fails string) error {
	switch {
	case fails != "":
		return r.failing(who, op, f, fails)
	case op.Call.IsCell():
		return nil
	case !kernel.Makes(op.Call) && !op.Call.Ends():
		r.report.Emulated[op.Call.String()]++
		return nil
	}
	real, err := r.make(who, op)
	if err != nil {
		return err
	}
	if !r.real.Rooted() { // everybody is the driver's user
		real.Stat.UID, real.Stat.GID = f.Stat.UID, f.Stat.GID
	}
	if r.compare(who, op, f, real); r.lost {
		return nil
	}
	if inode, times := f.Shows(op); inode || times {
		r.report.Emulated["inode number and times of "+op.Call.String()]++
	}
	if delete(r.waits, who); f.Blocked {
		r.waits[who] = nil
	}
	return nil
}

// make makes a call on the real kernel, or looks how one that has been waiting ended.
func (r *run) make(who fsfake.Task, op fsfake.Op) (fsfake.Result, error) {
	woken, waits := r.waits[who]
	switch {
	case !waits:
		r.report.Compared++
		return r.real.Do(who, op)
	case woken == nil:
		return fsfake.Result{Blocked: true}, nil
	}
	return *woken, nil
}

// failing is a call that fails because the schedule says so. The real kernel is not made to
// fail, and nothing happens. A wait is really interrupted by a signal, and a close that fails is really made.
func (r *run) failing(who fsfake.Task, op fsfake.Op, f fsfake.Result, name string) error {
	e, err := fsfake.FailingErrno(name)
	if err != nil {
		return err
	}
	if e == fsfake.EINTR {
		return r.interrupted(who, op, f)
	}
	if op.Call == fsfake.CallClose {
		if _, err := r.real.Do(who, op); err != nil {
			return err
		}
	}
	r.report.Emulated["failing "+op.Call.String()]++
	return nil
}

// interrupted lets a call wait on the real kernel, and ends the wait by a signal.
func (r *run) interrupted(who fsfake.Task, op fsfake.Op, f fsfake.Result) error {
	r.report.Compared++
	real, err := r.real.Do(who, op)
	if err != nil {
		return err
	}
	if real.Blocked {
		if err := r.real.Interrupt(who); err != nil {
			return err
		}
		r.waits[who] = nil
		if err := r.wakes(); err != nil {
			return err
		}
		if woken := r.waits[who]; woken != nil {
			real = *woken
		}
		delete(r.waits, who)
	}
	r.compare(who, op, f, real)
	return nil
}

// differ notes a mismatch after which the two runs have parted.
func (r *run) differ(what, fake, real string) {
	r.lost = true
	r.report.Mismatches = append(r.report.Mismatches, Mismatch{
		Step: r.report.Steps, Task: r.now, What: what, Fake: fake, Real: real,
	})
}
