package command

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/outcome"
	"lockpick/internal/tempdir"
	"lockpick/scenarios"
)

// A carrier carries out one run.
type carrier struct {
	spec    *Spec
	temp    tempdir.Dir
	root    string // the real directory that stands for the root
	runs    []*carriedRun
	carried Carried
	// held is called at the end in place of a comparison, unless it is nil; heldError is its answer.
	held      func(Held) error
	heldError error
	// lines has interpreters tell the lines of scripts; executed are the programs that were, if it matters.
	lines    bool
	executed []string
}

// A carriedRun is one command.
type carriedRun struct {
	*tracer.Run
	root   int // pid
	killed bool
	signs  bool // it has made the sign that it is inside, and nothing since has removed it
	// waits are the calls whose last answer by the fake was that they wait.
	waits []waitingCall
}

type waitingCall struct {
	task fsfake.Task
	op   fsfake.Op
}

// waiting reports whether a task waits on the fake.
func (r *carriedRun) waiting(t fsfake.Task) bool {
	return slices.ContainsFunc(r.waits, func(w waitingCall) bool { return w.task == t })
}

// wait notes whether a task waits in a call on the fake.
func (r *carriedRun) wait(t fsfake.Task, op fsfake.Op, waits bool) {
	r.waits = slices.DeleteFunc(r.waits, func(w waitingCall) bool { return w.task == t })
	if waits {
		r.waits = append(r.waits, waitingCall{t, op})
	}
}

func (c *carrier) carry(ctx context.Context, steps []Step, end *fsfake.Machine) error {
	defer c.close()
	if err := c.spec.movable(steps); err != nil {
		return err
	}
	if slices.ContainsFunc(steps, func(st Step) bool { return st.PowerLoss }) {
		return errors.New("the power is not lost here")
	}
	if slices.ContainsFunc(steps, func(st Step) bool {
		return st.Fails && st.Op.Call == fsfake.CallFsync && st.Result.Errno == fsfake.EIO
	}) {
		return errors.New("an fsync that fails drops what it was to write, and no disk fails here")
	}
	if err := c.spec.notCarried(steps); err != nil {
		return err
	}
	takesPart := make([]bool, len(c.spec.Commands))
	for _, st := range steps {
		takesPart[st.Process] = true
	}
	if err := c.begin(takesPart); err != nil {
		return err
	}
	for i, st := range steps {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("stopped before step %d of %d: %w", i+1, len(steps), err)
		}
		if err := c.step(i+1, &st); err != nil {
			return c.forced(err)
		}
		if err := c.sign(&st); err != nil {
			return err
		}
	}
	if c.held != nil {
		return c.hold()
	}
	return c.ends(end)
}

// begin makes the directory and starts the commands that take part, unless that was done before.
func (c *carrier) begin(takesPart []bool) error {
	if c.root != "" {
		return nil
	}
	temp, err := tempdir.New()
	if err != nil {
		return err
	}
	c.temp, c.root = temp, filepath.Join(temp.Path, "root")
	if err := c.spec.write(c.root); err != nil {
		return err
	}
	sources := &tracer.Sources{}
	for _, file := range c.executed {
		sources.Know(file)
	}
	for i := range c.spec.Commands {
		r := &carriedRun{root: scenarios.Pid(i)}
		c.runs = append(c.runs, r)
		if !takesPart[i] {
			continue
		}
		config := c.spec.config(i)
		config.Through, config.Sources = c.root+c.spec.Dir, sources
		config.CPU++ // beside the execution on the fake machine
		config.Lines = c.lines
		if r.Run, err = tracer.Start(config); err != nil {
			return err
		}
	}
	return nil
}

// close ends the commands and removes the directory.
func (c *carrier) close() {
	for _, r := range c.runs {
		if r.Run != nil {
			if c.carried.Sources != nil && !c.lines {
				c.executed = append(c.executed, r.Executed()...)
			}
			r.Stop()
		}
	}
	c.temp.Remove()
}

// forced tells a difference from what no schedule can force.
func (c *carrier) forced(err error) error {
	var d *difference
	if errors.As(err, &d) && c.woken() {
		return fmt.Errorf("the kernel gave a lock to a command that waited for it before the schedule has that go on: %s", d.Error())
	}
	return err
}

// ends compares what there is at the end: the files, how commands have ended and what they
// have printed. Those that wait on the fake must wait on the kernel.
func (c *carrier) ends(end *fsfake.Machine) error {
	fake := c.spec.wholeOutcome(scenarios.NewView(end))
	real := outcome.Outcome{}
	for i, r := range c.runs {
		exit, printed := fake.Exits[i], fake.Printed[i]
		if r.Run != nil {
			set, err := r.Next()
			if err != nil {
				return err
			}
			if e, ok := r.Exit(r.root); ok && !r.killed {
				exit, printed = outcome.ExitText(fsfake.Exit{Status: e.Status, Signal: e.Signal}, true), r.Stdout()
				if text := lastLine(r.Stderr()); e.Status != 0 && text != "" {
					c.carried.Stderr = append(c.carried.Stderr, scenarios.ProcessName(i)+": "+text)
				}
			}
			for _, w := range slices.Clone(r.waits) { // what may go on by now the kernel has let go on, or somebody else
				if end.Ready(w.task, w.op) {
					continue
				}
				waits := blocked(set, w.task)
				if waits && tracer.Parks(w.op) {
					got, err := r.Let(w.task, fsfake.Result{Blocked: true})
					if err != nil {
						return err
					}
					waits = got.Blocked
				}
				if !waits {
					return &difference{"at the end, " + w.op.String() + " of " + scenarios.ProcessName(i), "that it waits", "that it does not"}
				}
			}
		}
		if c.spec.NoStdout {
			printed = ""
		}
		real.Exits, real.Printed = append(real.Exits, exit), append(real.Printed, printed)
	}
	var err error
	if real.Tree, err = c.spec.realTree(c.root); err != nil {
		return err
	}
	named := map[string]outcome.Entry{}
	for _, e := range fake.Tree {
		named[e.Name] = e
	}
	for i := range real.Tree { // where contents have no numbers, and the clock is another one
		e := &real.Tree[i]
		f := named[e.Name]
		if e.Time = f.Time; f.Text == e.Text {
			e.Large = f.Large
		}
	}
	if diff := fake.Differs(real); len(diff) > 0 {
		return &difference{"at the end", strings.Join(diff, ", "), strings.Join(real.Differs(fake), ", ")}
	}
	return nil
}

// config is how the command of a process is run.
func (s *Spec) config(process int) tracer.Config {
	l := s.Commands[process]
	return tracer.Config{
		Argv: l.argv(), Dir: s.Dir, Cwd: s.Dir, Env: s.env(), Stdin: l.Stdin,
		Pid: scenarios.Pid(process), Parent: s.parent, Seed: max(s.seed, usualSeed),
		Now: begin.Add(s.later), AskTime: s.lasting, Timeout: s.Timeout,
		Program: s.tells(process),
		Shared:  s.Outside, Protect: !s.RealOutside, Known: s.files(), Wrong: s.Wrong,
		CPU: 1 + int(crc32.ChecksumIEEE([]byte(s.summary()))&0xff) + process, // other scenarios may run beside this one
	}
}

// lastLine is the last line of a text that is not empty: a traceback ends with what went wrong.
func lastLine(text string) string {
	text = strings.TrimSpace(text)
	return strings.TrimSpace(text[strings.LastIndexByte(text, '\n')+1:])
}
