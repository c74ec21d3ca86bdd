package command

import (
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/internal/outcome"
	"lockpick/scenarios"
)

// A Step is one step of a run on the fake machine, for [Spec.Carry].
type Step struct {
	// Process is whose step it is, from 0. Kill: the process is killed instead of going on.
	Process int
	Kill    bool
	// PowerLoss: the power is lost instead, which no kernel is asked to do. Fails: the call fails although
	// nothing stands in its way, and the kernel is not asked.
	PowerLoss, Fails bool
	// By is the thread or the child that makes the call; zero is the process's first thread.
	By     fsfake.Task
	Op     fsfake.Op
	Result fsfake.Result
}

// task is who makes a step of a command that runs alone.
func (s Step) task(process int) fsfake.Task {
	if s.By == (fsfake.Task{}) {
		return fsfake.Task{Pid: scenarios.Pid(process), N: 1}
	}
	return s.By
}

// A Carried is what became of a run's steps on the real kernel.
type Carried struct {
	// Calls is how many calls the kernel has answered.
	Calls int
	// Differs says where the kernel and the fake machine part, and how; empty when they do not.
	Differs string
	// Cannot says why the steps could not be carried out to their end; empty when they could.
	Cannot string
	// Parked is how many calls waited for a lock and tried again when the steps say that they get
	// it, instead of in the kernel.
	Parked int
	// Failed is how many calls were made to fail as the steps say, instead of being made.
	Failed int
	// Maps says that a command mapped a file: on the kernel it sees what others write to it later, on the fake machine not.
	Maps bool
	// Sources are, step by step, where in the commands' sources the calls stand, as far as that is
	// known; nil unless they were asked for.
	Sources []scenarios.Source
}

// Confirmed reports that everything went on the kernel as on the fake machine.
func (c Carried) Confirmed() bool { return c.Differs == "" && c.Cannot == "" }

// Agrees begins what [Carried.String] says of a run that went on the kernel as on the fake machine.
const Agrees = "the model agrees with this kernel"

// String says what became of the run in a sentence.
func (c Carried) String() string {
	switch {
	case c.Differs != "":
		return "differs on this kernel: " + c.Differs
	case c.Cannot != "":
		return "not carried out on this kernel: " + c.Cannot
	}
	parked := ""
	if c.Failed > 0 {
		parked = fmt.Sprintf("; %d of the calls made to fail, and not asked of it", c.Failed)
	}
	if c.Parked > 0 {
		parked += "; who waited for a lock tried again when it was its turn"
	}
	return fmt.Sprintf("%s: %d calls in this order, answered as on the fake machine, with the same end%s", Agrees,
		c.Calls, parked)
}

// Carry carries out a run on the real kernel: the commands run in a temporary directory that
// holds the files of the start, and their calls are made one at a time in the order of the
// steps. Each answer is compared with the fake's, and in the end what the commands leave
// behind with the machine after the last step, end. What is compared is what package tracer
// leaves to the kernel: pids, clocks, inode numbers and the times of files are the fake's, and so
// are the size and the links of directories, which differ between file systems. Names are listed
// in order on both sides.
//
// Carry makes every verdict about a run, good and bad, in its answer. With locates it looks before each call where in
// its source that stands.
func (s Spec) Carry(ctx context.Context, steps []Step, end *fsfake.Machine, locates bool) Carried {
	var c carrier
	out := c.asked(ctx, s, steps, end, locates)
	if !slices.ContainsFunc(c.executed, func(file string) bool { return hooked.MatchString(filepath.Base(file)) }) {
		return out
	}
	// Its environment is another one, so it may go otherwise: what it shows until then counts.
	again := carrier{lines: true, executed: c.executed}
	for i, at := range again.asked(ctx, s, steps, end, true).Sources {
		if at.Line > 0 {
			out.Sources[i] = at
		}
	}
	return out
}

// hooked are the interpreters that can be made to tell the lines of scripts, see [tracer.Config.Lines].
var hooked = regexp.MustCompile(`^(python[\d.]*|perl[\d.]*|node(js)?|sh|dash|bash|ash|m?ksh|zsh)$`)

// asked is [Spec.Carry].
func (c *carrier) asked(ctx context.Context, s Spec, steps []Step, end *fsfake.Machine, locates bool) Carried {
	s.lasting = s.lasting || slices.ContainsFunc(steps, func(st Step) bool { return st.Op.Call == fsfake.CallNow })
	if locates {
		c.carried.Sources = make([]scenarios.Source, len(steps))
	}
	if s.Dir == "" {
		s.Dir = defaultDir
	}
	c.spec = &s
	return c.carries(ctx, steps, end)
}

// carries says what became of the steps.
func (c *carrier) carries(ctx context.Context, steps []Step, end *fsfake.Machine) Carried {
	if c.spec.Wrong != nil {
		c.carried.Cannot = "the tracer is wrong on purpose"
		return c.carried
	}
	err := c.carry(ctx, steps, end)
	var d *difference
	switch {
	case err == nil:
	case errors.As(err, &d) && c.spec.FileSystem() != "":
		c.carried.Cannot = fmt.Sprintf("it is of %s, which answers otherwise than the directory of temporary files here: %s", c.spec.FileSystem(), d.Error())
	case errors.As(err, &d):
		c.carried.Differs = d.Error()
	default:
		c.carried.Cannot = err.Error()
	}
	return c.carried
}

// A difference is where the kernel and the fake part.
type difference struct{ at, fake, kernel string }

func (d *difference) Error() string {
	return fmt.Sprintf("%s: the fake machine says %s, the kernel %s", d.at, brief(d.fake), brief(d.kernel))
}

// brief is a text without its end, when that is far away: a call may write much.
func brief(text string) string {
	const most = 200
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// A carrier carries out one run.
type carrier struct {
	spec    *Spec
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
	tracer.Sweep()
	root, err := os.MkdirTemp("", fmt.Sprintf("lockpick-run-%d-", os.Getpid()))
	if err != nil {
		return err
	}
	c.root = filepath.Join(root, "root")
	if err := c.spec.write(c.root); err != nil {
		return err
	}
	sources := &tracer.Sources{}
	for _, file := range c.executed {
		sources.KnowShell(file)
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
	if c.root != "" {
		remove(filepath.Dir(c.root))
	}
}

// forced tells a difference from what no schedule can force.
func (c *carrier) forced(err error) error {
	var d *difference
	if errors.As(err, &d) && c.woken() {
		return fmt.Errorf("the kernel gave a lock to a command that waited for it before the schedule has that go on: %s", d.Error())
	}
	return err
}

// step carries out one step.
func (c *carrier) step(n int, st *Step) error {
	if st.Op.Call == fsfake.CallChoose || st.Op.Call == fsfake.CallSleep && st.Result.Blocked {
		return nil // whose call is next, the next step says; and it is when it ends that a sleep is told of
	}
	r := c.runs[st.Process]
	name := scenarios.ProcessName(st.Process)
	if st.Kill {
		r.killed = true
		dies := []int{r.root}
		if c.spec.Kill == scenarios.KillGroup {
			dies = r.Living()
		}
		r.waits = slices.DeleteFunc(r.waits, func(w waitingCall) bool { return slices.Contains(dies, w.task.Pid) })
		_, err := r.Next() // the last call has done all that it does
		if err == nil {
			err = r.Kill(dies...)
		}
		if err == nil {
			_, err = r.Next()
		}
		return err
	}
	who := st.By
	if who == (fsfake.Task{}) {
		who = fsfake.Task{Pid: r.root, N: 1}
	}
	at := func(what string) string { return fmt.Sprintf("step %d, %s of %s", n, what, name) }
	set, err := next(r.Run, nil)
	if err != nil {
		return err
	}
	timer := st.Op.Call == fsfake.CallSleep
	i := slices.IndexFunc(set, func(p tracer.Pending) bool { return p.Task == who && p.Timer == timer })
	if i < 0 { // of equal threads another may have taken the work
		i = slices.IndexFunc(set, func(p tracer.Pending) bool {
			return p.Task.Pid == who.Pid && p.Timer == timer && !p.Blocked && c.sameCall(r, p, st.Op)
		})
		if i >= 0 {
			who = set[i].Task
		}
	}
	waited := r.waiting(who)
	if waited && !tracer.Parks(st.Op) { // the call has been made, and the kernel answers when it can
		if waits := i >= 0 && set[i].Blocked; waits != st.Result.Blocked {
			return &difference{at(brief(st.Op.String())), told(st.Op, st.Result), told(st.Op, fsfake.Result{Blocked: waits})}
		}
		r.wait(who, st.Op, st.Result.Blocked)
		return nil
	}
	if i < 0 || !c.sameCall(r, set[i], st.Op) {
		next := "no call of it comes"
		if i >= 0 {
			next = "it asks for " + set[i].Op.String()
		}
		return &difference{at("the next call"), st.Op.String(), next}
	}
	if c.carried.Sources != nil {
		c.carried.Sources[n-1] = scenarios.Source(r.Where(who))
	}
	if st.Fails {
		c.carried.Failed++
		return r.Answer(who, st.Result)
	}
	c.carried.Maps = c.carried.Maps || set[i].Maps
	got, err := r.Let(who, st.Result)
	if err != nil {
		return err
	}
	if got.Blocked && st.Op != set[i].Op { // it was tried, as in [driver.waitInTime]
		got = fsfake.Result{Errno: fsfake.EAGAIN}
	}
	if waited {
		if !got.Blocked {
			c.carried.Parked++
		}
	} else {
		c.carried.Calls++
	}
	if seen(st.Op, got) != seen(st.Op, st.Result) {
		return &difference{at(brief(st.Op.String())), told(st.Op, st.Result), told(st.Op, got)}
	}
	r.wait(who, st.Op, got.Blocked)
	if st.Op.Call.Ends() || st.Op.Call == fsfake.CallExec { // it has closed descriptors when the program has come to rest
		_, err = r.Next()
	}
	return err
}

// sign removes the sign of a command that was killed when nothing of it runs any more, as the machine does.
func (c *carrier) sign(st *Step) error {
	r := c.runs[st.Process]
	if c.spec.Inside != "" && path.Base(st.Op.Path) == path.Base(c.spec.Inside) && st.Result.Errno == 0 {
		r.signs = makesName(st.Op) || r.signs && !st.Op.Call.Changes()
	}
	if !r.killed || !r.signs {
		return nil
	}
	set, err := next(r.Run, nil)
	if len(set) > 0 || err != nil {
		return err
	}
	r.signs = false
	_ = os.Remove(filepath.Join(c.root, c.spec.at(c.spec.Inside)))
	return nil
}

// sameCall reports whether a program asks for what the fake's run did; see [driver.ask].
func (c *carrier) sameCall(r *carriedRun, p tracer.Pending, op fsfake.Op) bool {
	switch op.Call {
	case fsfake.CallForkAs:
		return p.Op.Call == fsfake.CallFork
	case fsfake.CallEnd:
		printed := ""
		if !c.spec.NoStdout {
			printed = r.Stdout()
		}
		return p.Op.Call == fsfake.CallExit && p.Task.Pid == r.root && op.Flags&^fsfake.ExitIdle == endFlags(p.Exit) &&
			op.Data == printed
	}
	return p.Op == op || p.Op.Call.IsLock() && tracer.WithoutWait(p.Op) == op
}

// seen is what both sides must agree on of an answer.
func seen(op fsfake.Op, r fsfake.Result) fsfake.Result {
	s := fsfake.Result{Errno: r.Errno, N: r.N, Data: r.Data, Blocked: r.Blocked}
	s.Stat = fsfake.Stat{Mode: r.Stat.Mode, UID: r.Stat.UID, GID: r.Stat.GID, Size: r.Stat.Size, Nlink: r.Stat.Nlink}
	if r.Stat.Mode.IsDir() { // file systems differ
		s.Stat.Size, s.Stat.Nlink = 0, 0
	}
	if op.Call == fsfake.CallReadlink {
		s.N = 0
	}
	return s
}

// told is an answer in words.
func told(op fsfake.Op, r fsfake.Result) string {
	switch text := r.Describe(op); {
	case r.Blocked:
		return "that it waits"
	case text == "":
		return "that it is done"
	default:
		return text
	}
}

// woken reports whether the kernel has let a command go on that waits on the fake: locks are
// handed to whoever waits as soon as they are free, and no schedule can delay that.
func (c *carrier) woken() bool {
	for _, r := range c.runs {
		if r.Run == nil {
			continue
		}
		for _, w := range r.waits {
			if set, err := r.Next(); err == nil && !blocked(set, w.task) {
				return true
			}
		}
	}
	return false
}

// blocked reports whether a task waits in the kernel.
func blocked(set []tracer.Pending, t fsfake.Task) bool {
	return slices.ContainsFunc(set, func(p tracer.Pending) bool { return p.Task == t && p.Blocked })
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
		Pid: scenarios.Pid(process), Seed: 1, Now: begin, AskTime: s.lasting, Timeout: s.Timeout,
		Program: s.tells(process),
		Shared:  s.Outside, Protect: !s.RealOutside, Known: s.files(), Wrong: s.Wrong,
		CPU: 1 + int(crc32.ChecksumIEEE([]byte(s.summary()))&0xff) + process, // other scenarios may run beside this one
	}
}
