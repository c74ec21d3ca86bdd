package command

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"lockpick/fsfake"
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

// acts reports whether something may hang on the call of the step beside which process lives.
func (s Step) acts() bool {
	c := s.Op.Call
	return c.Is(fsfake.Changes|fsfake.Locks|fsfake.Records) || c.Is(fsfake.Asks) && c.Is(fsfake.Public) ||
		c == fsfake.CallOpen && s.Op.Flags&(fsfake.O_CREAT|fsfake.O_TRUNC) != 0
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
	// Stderr is the last line that each command that failed has written to its standard error: "B: ValueError: …".
	Stderr []string
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
	lines := again.asked(ctx, s, steps, end, true).Sources
	pid := func(i int) int { return steps[i].task(steps[i].Process).Pid }
	tells := map[int]bool{} // by pid: it is an interpreter that tells lines
	for i, at := range lines {
		tells[pid(i)] = tells[pid(i)] || at.Line > 0 && at != out.Sources[i]
	}
	for i, at := range lines {
		if at.Line > 0 || tells[pid(i)] { // what was found for a call without a line is the interpreter's own
			out.Sources[i] = at
		}
	}
	return out
}

// hooked are the interpreters that can be made to tell the lines of scripts, see [tracer.Config.Lines].
var hooked = regexp.MustCompile(`^(python[\d.]*|perl[\d.]*|ruby[\d.]*|node(js)?|php[\d.]*|sh|dash|bash|ash|m?ksh|zsh)$`)

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
