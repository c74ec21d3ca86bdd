package command

import (
	"errors"
	"fmt"
	"path"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/model"
	"lockpick/scenarios"
)

// program is the program of a process: it runs the command under the tracer, and asks the
// machine whatever the command asks.
func (s *Spec) program(process, _ int) scenarios.Program {
	return func(t *scenarios.Task) {
		d := &driver{spec: s, t: t, root: scenarios.Pid(process), children: map[int]bool{}}
		if err := d.drive(process); err != nil {
			t.Fault(fmt.Errorf("command: %s (%s): %w", t.Process, s.Commands[process], err))
		}
	}
}

// A driver answers the calls of one run of a command.
type driver struct {
	spec     *Spec
	t        *scenarios.Task
	root     int
	children map[int]bool // by pid: it runs
	run      *tracer.Run
	inside   bool
	acquires bool // an acquisition has been invoked
}

func (d *driver) drive(process int) error {
	run, err := tracer.Start(d.spec.config(process))
	if err != nil {
		return err
	}
	defer run.Stop()
	d.run = run
	for {
		set, err := run.Next()
		if err != nil {
			return err
		}
		if len(set) == 0 {
			return d.ended()
		}
		p := d.pick(set)
		r := d.ask(p)
		if err := run.Answer(p.Task, r); err != nil {
			return err
		}
	}
}

// pick takes the call that is let go on: one that cannot block before one that may, a call
// before the end of a wait, and of those the first. That others could have gone on instead
// is noted.
func (d *driver) pick(set []tracer.Pending) tracer.Pending {
	best := set[0]
	for _, p := range set {
		if rank(p) < rank(best) {
			best = p
		}
	}
	if len(set) > 1 {
		d.t.Note(scenarios.OneOrder{})
	}
	return best
}

func rank(p tracer.Pending) int {
	switch {
	case p.Timer:
		return 2
	case p.Op.MayBlock():
		return 1
	}
	return 0
}

// ask makes a call of the command on the machine.
func (d *driver) ask(p tracer.Pending) fsfake.Result {
	op := p.Op
	switch op.Call {
	case fsfake.CallFork:
		op = fsfake.Op{Call: fsfake.CallForkAs, Pid: d.newPid()}
	case fsfake.CallExit:
		if delete(d.children, p.Task.Pid); p.Task.Pid == d.root {
			op = fsfake.Op{Call: fsfake.CallEnd, Flags: endFlags(p.Exit), Data: d.printed()}
		}
	}
	leaves := d.before(op)
	if main := (fsfake.Task{Pid: d.root, N: 1}); p.Task != main {
		d.t.Note(scenarios.By{Task: p.Task})
	}
	r := d.t.Do(op)
	d.after(op, r, leaves)
	return r
}

// endFlags is how a process ends, as a [fsfake.CallEnd] says it.
func endFlags(e tracer.Exit) int { return e.Status + e.Signal<<8 }

// printed is what the command has printed, when its first process ends.
func (d *driver) printed() string {
	if d.spec.NoStdout {
		return ""
	}
	return d.run.Stdout()
}

// newPid is the pid of the next process that the command starts: the lowest that none of its
// processes has. So it does not hang on what other commands do, and one round of a loop that
// starts processes is like the next.
func (d *driver) newPid() int {
	if d.spec.Crashes > 0 {
		d.t.Fault(errors.New("it starts another process, and kills are only modelled for commands of one: ask without crashes"))
	}
	pid := d.root*1000 + 1
	for d.children[pid] {
		pid++
	}
	d.children[pid] = true
	return pid
}

// onMark reports whether a call is about the name that marks the critical section. A name
// that is not absolute is taken for one in the directory.
func (d *driver) onMark(op fsfake.Op) bool {
	name := op.Path
	if !path.IsAbs(name) {
		name = path.Join(d.spec.Dir, name)
	}
	return path.Clean(name) == path.Join(d.spec.Dir, d.spec.Inside)
}

// before notes what begins with a call: an attempt to get inside, or the way out.
func (d *driver) before(op fsfake.Op) (leaves bool) {
	if d.spec.Inside == "" {
		return false
	}
	leaves = d.inside && d.onMark(op) && (op.Call == fsfake.CallRmdir || op.Call == fsfake.CallUnlink)
	switch {
	case leaves:
		d.t.Note(scenarios.LetGo{})
		d.t.Note(scenarios.Invoked{Input: model.Release{Owner: d.t.Process}})
	case !d.inside && !d.acquires:
		d.t.Note(scenarios.Invoked{Input: model.Acquire{Owner: d.t.Process}})
		d.acquires = true
	}
	return leaves
}

// after notes what ended with a call. Whoever finds the mark there when he makes it is
// inside as well: so is somebody else.
func (d *driver) after(op fsfake.Op, r fsfake.Result, leaves bool) {
	if d.spec.Inside == "" {
		return
	}
	makes := d.onMark(op) && (op.Call == fsfake.CallMkdir || op.Call == fsfake.CallOpen && op.Flags&fsfake.O_CREAT != 0)
	switch {
	case leaves:
		d.t.Note(scenarios.Returned{Output: model.Released{}})
		d.inside, d.acquires = false, false
	case makes && !d.inside && (r.Errno == 0 || r.Errno == fsfake.EEXIST):
		d.t.Note(scenarios.Returned{Output: model.Acquired{OK: true}})
		d.t.Note(scenarios.Holding{Path: path.Join(d.spec.Dir, d.spec.Inside), FD: -1})
		d.inside = true
	}
}

// said is noted at the end: what the command has written to its standard error.
type said struct{ text string }

var errNeverStarted = errors.New("it made no call in the virtual directory and was not asked to end")

// ended is the end of the command and all that it has started.
func (d *driver) ended() error {
	if _, ok := d.run.Exit(d.root); !ok {
		return errNeverStarted
	}
	d.t.Note(said{d.run.Stderr()})
	if d.spec.Inside != "" && d.acquires && !d.inside {
		d.t.Note(scenarios.Returned{Output: model.Acquired{}})
	}
	return nil
}
