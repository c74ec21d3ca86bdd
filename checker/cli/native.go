package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/checker/trace"
	"lockpick/internal/native"
	"lockpick/internal/numbers"
	left "lockpick/internal/outcome"
	"lockpick/internal/tempdir"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
	"lockpick/sched"
)

// nativeBudget is the environment's word for --native where that is not given.
const nativeBudget = "LOCKPICK_NATIVE"

// defaultBudget is how long commands run natively where nobody says.
const defaultBudget = 5 * time.Second

// contradicted is why there is no verdict where a native run shows what the model says there is not.
const contradicted = "no schedule breaks it on the model, but run natively the commands end otherwise: lockpick is " +
	"wrong here. Nothing is concluded; please report it, with the line \"native\""

// A challenge runs commands natively, which shares nothing with the machine that the verdicts are of: what "holds" is
// challenged, what is broken is confirmed.
type challenge struct {
	spec   *command.Spec
	from   string // the real directory with the files of the start; empty where there is none
	here   bool   // files outside of it are those of this machine in any case
	budget time.Duration
	temp   tempdir.Dir // for files of the start that lie nowhere
	// checks have the serial ends, with and without orders in which refusing commands have not run; nil where that was
	// not asked yet.
	checks [2]*native.Check
	// killing has the serial ends of some of the commands; nil where that was not asked yet.
	killing *native.Check
	// serial: that what is left behind is serializable is not broken on the model.
	serial bool
	swept  [2]*native.Report // for each reading of refusals
	// carried is what comes of the forced order of a counterexample; nil where that has not begun.
	carried func() (native.Carried, error)
	// sleeps: the commands sleep for long. confirmed: natively something was broken.
	sleeps, confirmed bool
	// onlyConfirms: what holds is not challenged.
	onlyConfirms bool
	begins       func() // is called before anything runs
}

// parseBudget reads --native: a time, or off.
func parseBudget(text string) (time.Duration, error) {
	if text == "" {
		text = os.Getenv(nativeBudget)
	}
	switch text {
	case "":
		return defaultBudget, nil
	case "off":
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("--native %q: give a time such as 30s, or off", text)
	}
	return d, nil
}

func (n *challenge) close() {
	for _, c := range append(n.checks[:], n.killing) {
		if c != nil {
			c.Close()
		}
	}
	n.temp.Remove()
}

// A native run shows whether the commands end as in a serial order, whether they wait for each other, and what a kill
// leaves behind; nothing else.
func (n *challenge) ofEnds(r *checker.Result) bool {
	return r.Property.Native == scenarios.OrderedRuns || r.Property.Native == scenarios.RunsWithKills && n.ofOrder(r)
}

// ofOrder reports whether the order of the commands' own calls breaks what is asked of faults.
func (n *challenge) ofOrder(r *checker.Result) bool {
	return r.Counterexample != nil && !slices.ContainsFunc(r.Counterexample.Schedule, func(c sched.Choice) bool {
		return c.Action != sched.Run || c.Fails != ""
	})
}

func ofHangs(r *checker.Result) bool { return r.Property.Question == scenarios.Stuck }

// answer challenges or confirms a verdict.
func (n *challenge) answer(ctx context.Context, r *checker.Result) {
	if n.budget == 0 {
		return
	}
	var err error
	switch {
	case r.Verdict != checker.Broken && r.Question != nil:
		r.Native = "nothing: it depends on the answer what would be wrong"
	case r.Verdict != checker.Broken && (n.onlyConfirms || r.Counterexample != nil):
	// of what is unknown a native end says more than nothing
	case r.Verdict == checker.Unknown && n.sleeps && n.confirmed: // but not so much that half a minute is worth it
	case r.Verdict != checker.Broken && (n.ofEnds(r) || ofHangs(r)):
		n.serial = n.serial || n.ofEnds(r)
		err = n.challenge(ctx, r)
		n.addUntried(r)
	case n.ofKills(r):
		err = n.kill(ctx, r)
	case r.Verdict == checker.Broken && n.modelOnly(r) != "":
		r.Native = "shown on the model only: " + n.modelOnly(r)
	case r.Verdict == checker.Broken:
		err = n.confirm(ctx, r)
	default:
		r.Native = "nothing: " + cmp.Or(n.untried(r), r.Property.ID+" is shown on the model only")
	}
	switch {
	case err != nil && ctx.Err() != nil:
		r.Native = "not tried: it was stopped"
	case err != nil:
		r.Native = "not tried: " + oneLine(err.Error())
	}
}

// early begins the serial runs of commands that sleep for long while the model is asked, since they take real time.
func (n *challenge) early(ctx context.Context, sc *scenarios.Scenario) {
	if n.sleeps = sc.Slept() >= checker.LongSleep; n.sleeps && n.budget > 0 {
		_, _ = n.check(ctx, true) // who needs it finds out why it cannot be
	}
}

// check makes the serial runs, once for each reading of refusals.
func (n *challenge) check(ctx context.Context, refusals bool) (*native.Check, error) {
	at := 0
	if refused := n.spec.Refused; refused.Declared && len(refused.Statuses) == 0 && !refused.Skips {
		refusals = false
	}
	if refusals {
		at = 1
	}
	if n.checks[at] != nil {
		return n.checks[at], nil
	}
	t, err := n.task()
	if err != nil {
		return nil, err
	}
	if n.begins != nil { // the serial runs take a part of a second, and what the model says is known
		n.begins()
	}
	if refusals {
		t.Refuses, t.AllRefuse = n.spec.Refused.May, n.spec.Refused.All
	}
	n.checks[at], err = native.Open(ctx, t)
	return n.checks[at], err
}

// task is what runs natively.
func (n *challenge) task() (native.Task, error) {
	s := n.spec
	t := native.Task{Dir: s.Dir, From: n.from, Env: slices.Concat(s.Direct(os.Environ()), s.Env), NoStdout: s.NoStdout,
		Ignored: s.Ignored, Sleeps: n.sleeps, StallFor: s.Setting.StallFor}
	if s.Recover != "" {
		t.Recover = command.Line{Shell: s.Recover}.Exec()
	}
	if s.Read != "" {
		t.Read = command.Line{Shell: s.Read}.Exec()
	}
	for i, l := range s.Commands {
		if l.Func != nil {
			return t, fmt.Errorf("%s is a Go function", scenarios.ProcessName(i))
		}
		t.Commands = append(t.Commands, native.Command{Argv: l.Exec(), Stdin: l.Stdin})
	}
	if len(s.Living) > 0 {
		return t, errors.New("a process that has nothing to do with the commands takes part")
	}
	if n.from != "" {
		return t, nil
	}
	if len(s.Outside) > 0 && !n.here {
		return t, errors.New("files outside of the directory are not as they are on this machine")
	}
	temp, err := tempdir.New()
	if err != nil {
		return t, err
	}
	n.temp, n.from = temp, filepath.Join(temp.Path, s.Dir)
	t.From = n.from
	return t, s.Write(temp.Path, time.Now())
}

// challenge looks natively for what a verdict says there is not. One sweep is for all properties. What is unknown was
// asked with every failure for a refusal, as long as none is declared; what holds was asked without them, too.
func (n *challenge) challenge(ctx context.Context, r *checker.Result) error {
	at, refusals := 0, n.spec.Refused.Declared || r.Verdict == checker.Unknown
	if refusals {
		at = 1
	}
	c, err := n.check(ctx, refusals)
	if err != nil {
		return err
	}
	if n.swept[at] == nil {
		n.begins()
		rep, err := c.Sweep(ctx, n.budget, n.serial)
		if err != nil {
			return err
		}
		n.swept[at] = &rep
	}
	rep := n.swept[at]
	found, what := rep.Hang, "they wait for each other for ever"
	if n.ofEnds(r) {
		if found = rep.Bad; found != nil {
			what = "no serial order ends like this: " + strings.Join(found.Differs, "; ")
		}
	}
	if found == nil {
		r.Native = sweptText(rep)
		return nil
	}
	r.Native = fmt.Sprintf("%s: %s (%d of %d runs)", found.Schedule, what, found.Seen, found.Runs)
	if r.Verdict != checker.Holds {
		return nil
	}
	r.Verdict, r.Complete, r.Why = checker.Unknown, false, contradicted
	return nil
}

// sweptText says how much was tried.
func sweptText(rep *native.Report) string {
	if rep.Tried+rep.Random == 0 && rep.NotJudged > 0 {
		return "not tried: " + rep.OnlyHere
	}
	if rep.Tried+rep.Random == 0 && rep.Places > 0 {
		return fmt.Sprintf("not tried: no run ended in %s; give more time, such as --native 1m",
			rep.Took.Round(100*time.Millisecond))
	}
	places := fmt.Sprint(rep.Tried)
	if rep.Tried < rep.Places {
		places = fmt.Sprintf("%d of %d", rep.Tried, rep.Places)
	}
	all := "all as in some serial order"
	if rep.Hang != nil {
		all = "as in some serial order, or waiting for each other for ever"
	}
	if rep.Unended > 0 {
		all = fmt.Sprintf("as in some serial order, but for %d that did not end in time", rep.Unended)
	}
	text := fmt.Sprintf("%s runs with one preemption, %d random, %s", places, rep.Random, all)
	if rep.NotJudged > 0 {
		text += fmt.Sprintf("; %d more say nothing: %s", rep.NotJudged, rep.OnlyHere)
	}
	if len(rep.NotCompared) > 0 {
		text += "; not compared, since it differs between two serial runs: " + numbers.Few(rep.NotCompared)
	}
	if len(rep.Cut) > 0 {
		text += "; the names outside of the directory were other files there: " + numbers.Few(rep.Cut)
	}
	return text
}

// modelOnly says why a counterexample cannot be forced natively; "" when it may be.
func (n *challenge) modelOnly(r *checker.Result) string {
	cx := r.Counterexample
	switch {
	case cx == nil || len(cx.Trace) == 0:
		return "there is no schedule"
	case cx.Cycle > 0:
		return "what repeats for ever cannot be run"
	}
	for _, st := range cx.Trace {
		switch {
		case st.Choice.Action == sched.Kill:
			return "a kill at a call is not forced natively"
		case st.Choice.Action == sched.PowerLoss:
			return "the power is not lost here"
		case st.Choice.Action == sched.Stall && n.stalls(r) > n.budget:
			return fmt.Sprintf("a stall of %s takes longer here than --native %s allows",
				numbers.Time(r.Scenario.Setting.StallFor), n.budget)
		case st.Choice.Action == sched.Stall && n.stalls(r) < 0:
			return "the real clock is not set back"
		case st.Choice.Fails != "":
			return "no call is made to fail here"
		}
	}
	if !n.ofEnds(r) && !ofHangs(r) {
		return "what the commands leave behind does not show it"
	}
	return ""
}

// stalls is for how long nobody goes on in a counterexample.
func (n *challenge) stalls(r *checker.Result) time.Duration {
	return time.Duration(r.Counterexample.Cost.Stalls) * r.Scenario.Setting.StallFor
}

// ahead begins to force the order of a counterexample, which takes as long as the commands sleep. It returns what waits
// for that.
func (n *challenge) ahead(ctx context.Context, r *checker.Result) (wait func()) {
	if n.ofKills(r) || n.modelOnly(r) != "" {
		return func() {}
	}
	c, err := n.check(ctx, n.ofEnds(r))
	if err != nil {
		return func() {} // who needs it finds out why it cannot be
	}
	n.carried = n.carry(ctx, c, r)
	go n.carried()
	return func() { _, _ = n.carried() }
}

// carry returns what forces the order of a counterexample natively, once.
func (n *challenge) carry(ctx context.Context, c *native.Check, r *checker.Result) func() (native.Carried, error) {
	steps, polls := nativeSteps(n.spec, r)
	return sync.OnceValues(func() (native.Carried, error) {
		return c.Carry(ctx, steps, ofHangs(r), r.FollowsOneOrder(), n.budget, polls...)
	})
}

// confirm forces the order of a counterexample natively.
func (n *challenge) confirm(ctx context.Context, r *checker.Result) error {
	c, err := n.check(ctx, n.ofEnds(r))
	if err != nil {
		return err
	}
	n.begins()
	carried := n.carried
	if n.carried = nil; carried == nil {
		carried = n.carry(ctx, c, r)
	}
	hang := ofHangs(r)
	got, err := carried()
	if err != nil {
		return err
	}
	end := "end as in no serial order"
	switch {
	case hang && len(r.Counterexample.Waits) == 0:
		end = "go round without an end"
	case hang:
		end = "wait for ever"
	}
	switch {
	case got.Bad > 0:
		n.confirmed = true
		r.Native = fmt.Sprintf("confirmed: %d of %d native runs in this order %s", got.Bad, got.Runs, end)
	case got.Near != nil:
		n.confirmed = true
		r.Native = fmt.Sprintf("confirmed in another order, %s: %d of %d native runs %s", got.Near.Schedule,
			got.Near.Seen, got.Near.Runs, end)
	case got.Forced == 0 || r.Scenario.Setting.Assumed().Inodes == scenarios.InodesReused:
		r.Native = "not confirmed: the order could not be forced natively, which refutes nothing"
	case n.stalls(r) > 0:
		r.Native = "not confirmed: the order was forced, but not when the commands look at the clock"
	case len(blind(c, r.Counterexample)) > 0:
		r.Native = "not confirmed: the order was forced, but natively these differ between two serial runs as well: " +
			strings.Join(blind(c, r.Counterexample), ", ")
	default:
		r.Native = fmt.Sprintf("%d native runs in this order end as in some serial order: %s", got.Forced, got.End)
		r.Verdict, r.Complete = checker.Unknown, false
		r.Why = "the schedule breaks it on the model; the same calls in the same order end natively as in some " +
			"serial order, so one of the two is not as programs see it: nothing is concluded; please report it"
		if slices.ContainsFunc(r.Conditioned(), func(p scenarios.Premise) bool { return p.Code == "times-shared" }) {
			r.Why = "the schedule breaks it on the model, where changes share file times; the same calls in the same " +
				"order end natively as in some serial order, where each change may have a time of its own: nothing " +
				"is concluded, and where the clock of the file system ticks slowly it may break"
		}
	}
	return nil
}

// blind lists what a counterexample has otherwise than one of the serial orders, if nothing of that can be compared
// natively: keys that are drawn differ there from run to run, and on the model they do not.
func blind(c *native.Check, cx *trace.Counterexample) []string {
	rows := report.TableOf(cx)
	if len(rows) == 0 {
		return nil
	}
	for order := 2; order < len(rows[0]); order++ {
		var names []string
		seen := false
		for _, row := range rows[1:] {
			if here, there := row[1], row[order]; here != there {
				names = append(names, row[0])
				seen = seen || c.Compares(strings.TrimSuffix(row[0], "/"), here != left.Absent && there != left.Absent)
			}
		}
		if !seen {
			return names
		}
	}
	return nil
}

// nativeCalls are the names of calls as package native has them, one for all that do the same. Others do not stop
// there.
var nativeCalls = map[string]string{
	"open": "open", "stat": "stat", "lstat": "stat", "fstat": "stat", "unlink": "unlink", "rename": "rename",
	"link": "link", "linkat": "link",
	"symlink": "symlink", "readlink": "readlink", "mkdir": "mkdir", "rmdir": "rmdir", "truncate": "truncate",
	"ftruncate": "truncate",
	"utimes":    "utimes", "lutimes": "utimes", "futimes": "utimes", "chmod": "chmod", "fchmod": "chmod",
	"chown": "chown", "lchown": "chown", "fchown": "chown",
	"read": "read", "pread": "read", "read-fifo": "read", "readdir": "readdir", "write": "write", "pwrite": "write",
	"close":       "close",
	"flock":       "flock",
	"fcntl-setlk": "lock", "fcntl-getlk": "lock", "ofd-setlk": "lock", "ofd-getlk": "lock", "kill": "kill",
	"mknod": "open", "bind": "bind", "connect": "connect", "listen": "listen",
	"exit": "end", "end": "end",
}

// heldAfter holds a command after its last call so far, so that a signal comes before its next one.
func heldAfter(steps []native.Step, command int) []native.Step {
	for i := len(steps) - 1; i >= 0; i-- {
		if steps[i].Command == command {
			return slices.Insert(steps, i+1, native.Step{Command: command, Call: native.HeldStep})
		}
	}
	return steps
}

// nativeSteps are the calls of a counterexample. A call that waited is made once natively. Names that are not there
// at the start may be random, and are not compared.
func nativeSteps(spec *command.Spec, r *checker.Result) (out []native.Step, polls []int) {
	walk := trace.NewWalk(r.Scenario, r.Counterexample.Trace)
	if end := walk.End(); ofHangs(r) && len(r.Counterexample.Waits) == 0 { // whoever is left goes round
		for i := range spec.Commands {
			if !slices.ContainsFunc(end.Waits, func(b trace.Blocked) bool { return b.Task.Process == i }) &&
				!slices.ContainsFunc(end.Ended, func(e trace.Ended) bool { return e.Process == i }) {
				polls = append(polls, i)
			}
		}
		walk.Steps = walk.Steps[:walk.LastChange()]
	}
	start := map[string]bool{}
	for _, f := range spec.Files {
		name := f.Name
		if !filepath.IsAbs(name) {
			name = filepath.Join(spec.Dir, name)
		}
		start[name] = true
	}
	waits := map[any]bool{}
	for i := range walk.Steps {
		st := &walk.Steps[i]
		if st.Choice.Action == sched.Kill {
			out = append(out, native.Step{Command: st.Choice.Task.Process, Call: native.KillStep})
		}
		if st.Choice.Action == sched.Stall {
			out = append(out, native.Step{Command: native.Nobody})
		}
		for k, c := range st.Calls {
			name := nativeCalls[c.Op.Call.String()]
			by := [2]any{st.Choice.Task, c.By}
			again := waits[by]
			waits[by] = c.Result.Blocked
			if _, notMade := c.Result.Interrupts(); notMade {
				out = heldAfter(out, st.Choice.Task.Process)
				continue
			}
			if name == "" || again {
				continue
			}
			step := native.Step{Command: st.Choice.Task.Process, Call: name}
			for _, on := range st.Targets[k] {
				if start[on.Path] {
					step.Path = on.Path
					break
				}
				step.New = append(step.New, on.Path)
			}
			out = append(out, step)
		}
	}
	for _, i := range polls {
		out = heldAfter(out, i)
	}
	return out, polls
}
