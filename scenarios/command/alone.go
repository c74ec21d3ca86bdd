package command

import (
	"context"
	"errors"
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/internal/outcome"
	"lockpick/model"
	"lockpick/scenarios"
)

// A command that runs alone, on the fake machine and on the kernel: so it is seen what it does at all,
// and what the serial orders are made of.

// An aloneEnd is how a command ends that runs alone: the machine, or nil if it makes no end, and
// the steps that led there. cuts are the machines that it leaves behind when it is killed on the way.
type aloneEnd struct {
	m     *fsfake.Machine
	steps []Step
	cuts  []*fsfake.Machine
}

// maxOrders is how many orders of its own calls a command that runs alone may have, where nobody can say which of them
// meet, or where it ends in several ways: these are what there is to tell of it. Two goroutines that count under a lock
// have 24, two children that make six calls each 924.
const maxOrders = 200

// ErrDeadlocks is that a command deadlocks in some order of its own calls, and ends in another, without a kill.
var ErrDeadlocks = errors.New("deadlocks in some order of its own processes, without a kill")

var errManyOrders = errors.New("command: its calls have too many orders")

// everyWay runs a command alone in every order of those of its own calls that can go on side by
// side, and returns the machines that it leaves behind, with those that a kill leaves if it is to be killed. The first
// is that of the first order. The error may be that it makes no end, a stuck; then what a kill leaves behind is
// returned none the less.
//
// What commutes with the others' calls goes first ([fsfake.Machine.LocalWay]). That hangs on what they change, of which
// is known what was seen: where more is seen, all begins anew.
func (s *Spec) everyWay(sc *scenarios.Scenario, m *fsfake.Machine, process int, first, kills bool) ([]aloneEnd,
	error) {
	for {
		s.record.changes.Rely()
		out, err := s.someWays(sc, m, process, first, kills)
		if !s.record.changes.Refuted() {
			return out, err
		}
	}
}

// someWays is everyWay, as far as what was relied on holds.
func (s *Spec) someWays(sc *scenarios.Scenario, m *fsfake.Machine, process int, first, kills bool) ([]aloneEnd,
	error) {
	var out []aloneEnd
	var endless error
	seen, ends := map[string]bool{}, map[string]bool{}
	isNew := func(m *fsfake.Machine) bool {
		key := string(m.AppendKey(nil)) + s.outcome(scenarios.NewView(m)).Key(nil)
		was := seen[key]
		seen[key] = true
		return !was
	}
	met, bereft := &meeting{at: map[string]bool{}, changes: &s.record.changes}, &meeting{}
	*bereft = meeting{at: map[string]bool{}, changes: met.changes}
	var ways []fsfake.WayTaken
	var ran []wayRun
	toKill := 0 // executions that kills take at least
	for n := 0; n == 0 || ways != nil; n++ {
		dear := met.unknown || len(ends) > 1 && !s.everyBirth
		if s.ownOrders == 0 && (dear && n >= maxOrders || n > 0 && s.record.another() ||
			n >= fewThreadOrders && s.mayLookFirst()) {
			return nil, errManyOrders
		}
		r := wayRun{end: aloneEnd{m: m.Clone()}, known: len(ways)}
		port, err := s.alone(sc, r.end.m, process, first, ways, never, met)
		if err != nil && !errors.As(err, new(stuck)) {
			return nil, err
		}
		r.port, r.end.steps, ways, s.record.threads = port, port.steps, port.ways, s.record.threads || port.thread
		s.record.acts = s.record.acts || slices.ContainsFunc(port.steps, Step.acts)
		switch {
		case err != nil && port.waitsOn(): // its other ways are that a timer goes off meanwhile
			r.end.m = nil
		case err != nil:
			if r.end.m = nil; !errors.Is(endless, stuck(errAlone.Error())) {
				endless = err
			}
		case port.meets:
			r.end.m = nil
		default:
			ends[s.outcome(scenarios.NewView(r.end.m)).Key(nil)] = true
		}
		if kills && s.DeadlocksFirst && s.keeps == nil && len(ends) > 0 && endless != nil &&
			!errors.Is(endless, stuck(errAlone.Error())) {
			return nil, fmt.Errorf("%s %w", s.runAlone(process), ErrDeadlocks)
		}
		if kills {
			if toKill += s.killRuns(process, port, r.known); s.tooLong(toKill) {
				return nil, ErrTooLong
			}
		}
		ran, ways = append(ran, r), fsfake.NextWays(ways, 0)
	}
	for _, r := range ran {
		var cuts []*fsfake.Machine
		if kills {
			var err error
			if cuts, err = s.killed(sc, m, process, r.port, r.known, bereft); err != nil {
				return nil, err
			}
		}
		for _, cut := range cuts {
			if isNew(cut) {
				r.end.cuts = append(r.end.cuts, cut)
			}
		}
		if r.end.m == nil || isNew(r.end.m) || len(r.end.cuts) > 0 {
			out = append(out, r.end)
		}
	}
	switch is := slices.ContainsFunc(out, func(e aloneEnd) bool { return e.m != nil }); {
	case is && (s.ownOrders > 0 || !errors.Is(endless, stuck(errAlone.Error()))): // a deadlock
		endless = nil
	case !is && endless == nil:
		endless = s.noEnd(process, stuck(errAlone.Error()))
	}
	return out, endless
}

// A wayRun is a run of a command in one order of its own calls. Up to so many choices that were known it is an earlier
// one.
type wayRun struct {
	port  *alonePort
	end   aloneEnd
	known int
}

// A meeting is where the orders of a command's own calls meet: the states of the machine and of the command in which it
// has chosen before. It goes on alike from there, so that an order need not be followed further.
type meeting struct {
	at      map[string]bool
	unknown bool // the state of the command is not known everywhere, or one order was followed somewhere
	changes *fsfake.Footprint
}

// before reports whether a command has chosen in this state before.
func (met *meeting) before(m *fsfake.Machine, state string) bool {
	if met.unknown = met.unknown || state == ""; state == "" {
		return false
	}
	key := string(m.AppendKey(nil)) + state
	was := met.at[key]
	met.at[key] = true
	return was
}

// maxMeeting is how many more orders of all commands together may be followed to where they meet others, and
// dearMeeting how many of commands of which an execution makes more than dearCalls system calls. Such an execution
// takes most of a second. That it is dear is told by the calls, which do not depend on the machine and its load.
const maxMeeting, dearMeeting, dearCalls = 2000, 8, 5000

// hasEarlier reports whether an earlier command is the same.
func (s *Spec) hasEarlier(process int) bool { return s.sameAs(process) != process }

// asOnTheKernel runs a command that has run alone on the fake once more on the real kernel, by
// the same calls. An answer that differs is an error: what the fake gets wrong cannot be
// judged on it.
func (s *Spec) asOnTheKernel(sc *scenarios.Scenario, process int, steps []Step, end *fsfake.Machine) error {
	c := s.early.carrier(s, process).carries(context.Background(), steps, end)
	who := fmt.Sprintf("%s (%s), run alone,", scenarios.ProcessName(process), s.Commands[process])
	switch {
	case c.Differs != "" && s.FileSystem() != "":
		assume(sc, "kernel-answers-otherwise",
			fmt.Sprintf("%s is answered on %s as by the fake machine; here the kernel answers "+
				"otherwise: %s", who, s.FileSystem(), c.Differs))
	case c.Differs != "":
		return fmt.Errorf("command: the kernel and the fake machine answer %s differently, so there is no verdict: %s",
			who, c.Differs)
	case c.Cannot != "":
		assume(sc, "kernel-not-compared",
			fmt.Sprintf("the fake machine answers %s as the kernel does, which could not be compared: "+
				"%s", who, c.Cannot))
	}
	return nil
}

// aloneCalls is how many calls a command may make when it runs alone, and aloneSleeps how
// often it may sleep: one that waits for something then waits for ever.
const (
	aloneCalls  = 20_000
	aloneSleeps = 100
)

// never is the step at which nobody is killed.
const never = -1

// errAlone ends a run that makes no end.
var errAlone = errors.New("it does not end")

// alone runs one command on a machine, with nobody else there. The first one must get
// through: of commands that fail on the files as they are at the start nothing can be
// learned. Where its own calls can go on side by side they go in the given ways, and then in the
// first. Before the step killAt, if it comes to that, its first process is killed. What it did is
// in the port, also when the error is that it makes no end, a stuck.
func (s *Spec) alone(
	sc *scenarios.Scenario, m *fsfake.Machine, process int, first bool, ways []fsfake.WayTaken, killAt int,
	met *meeting, stalls ...int,
) (port *alonePort, err error) {
	name := scenarios.ProcessName(process)
	command := fmt.Sprintf("command: %s (%s)", name, s.Commands[process])
	who := s.runAlone(process)
	port = &alonePort{m: m, command: command, kills: s.Crashes > 0 && killAt == never, killAt: killAt, stalls: stalls,
		stallFor: sc.Setting.StallFor, process: process, task: fsfake.Task{Pid: scenarios.Pid(process), N: 1},
		ways: ways, met: met}
	if s.Inside != "" {
		port.mark = s.at(s.Inside)
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case meets:
			port.meets = true
		case scenarios.Fault:
			err = e.Err
		case stuck:
			err = s.noEnd(process, e)
		default:
			panic(e)
		}
	}()
	t := scenarios.NewTask(port, process, 1)
	t.Learning = s.keeps
	sc.Program(process, 1)(t)
	if port.thread {
		assume(sc, "threads-in-one-order", threads)
	}
	if !first {
		return port, nil
	}
	e, ok := scenarios.NewView(m).Exit(name)
	status := outcome.ExitText(e, ok)
	fails := status != "exit 0" && !(s.Refused.Declared && s.Refused.has(status))
	nowhere := ""
	if port.files == 0 && ways == nil { // another of its orders may make none
		nowhere = fmt.Sprintf(" makes no call on a file in %s: is that the directory that it works in? See --dir", s.Dir)
	}
	switch {
	case fails && len(port.refused) > 0:
		return nil, notModelled{fmt.Errorf("%s fails with %s: %s; that may be lockpick's doing, which does not model "+
			"a call of it and answered %s: have the program do without it", who, status, oneLine(port.stderr),
			strings.Join(port.refused, ", "))}
	case fails && nowhere != "":
		return nil, fmt.Errorf("%s fails with %s: %s. It%s", who, status, oneLine(port.stderr), nowhere)
	case s.Inside != "" && !port.inside:
		return nil, fmt.Errorf("%s never makes %s, which marks its critical section: make it where the section begins and "+
			"remove it where it ends", who, s.Inside)
	case port.locksMark:
		return nil, fmt.Errorf("%s locks %s itself, which is to mark its critical section: whoever waits for a lock has "+
			"opened its file already. Leave out --inside, or have the command make and remove another name while it "+
			"holds the lock", who, s.Inside)
	case fails:
		return nil, fmt.Errorf("%s fails with %s on the files at the start: %s; make it work alone first, or say that "+
			"this is "+
			"a refusal with --refused", who, status, oneLine(port.stderr))
	case nowhere != "":
		return nil, fmt.Errorf("%s%s", who, nowhere)
	}
	return port, nil
}

// runAlone names, in messages, a command that runs alone.
func (s *Spec) runAlone(process int) string {
	return fmt.Sprintf("command: %s (%s), run alone,", scenarios.ProcessName(process), s.Commands[process])
}

// noEnd says that a command has no end alone, so that there is no serial order to compare with.
func (s *Spec) noEnd(process int, why stuck) error {
	err := fmt.Errorf("%s %w, so it cannot be judged beside others", s.runAlone(process), why)
	if why != stuck(errAlone.Error()) {
		return err
	}
	return fmt.Errorf("%w. If it waits for what another one does, make one command of both, sh -c '(A) & (B) & wait', "+
		"of which every order is followed", err)
}

// threads is assumed of commands in which several threads make calls.
const threads = "threads of one command that wait for each other, or look at the same memory, do so in one order"

// assume notes that a verdict assumes something.
func assume(sc *scenarios.Scenario, code, text string) {
	if p := (scenarios.Premise{Code: code, Text: text}); !slices.Contains(sc.Assumes, p) {
		sc.Assumes = append(sc.Assumes, p)
	}
}

// oneLine is the last line of a text that says anything, or "it says nothing".
func oneLine(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	if last := lines[len(lines)-1]; last != "" {
		return fmt.Sprintf("%q", last)
	}
	return "it says nothing"
}

// stuck is why a command that runs alone makes no end.
type stuck string

// Error implements error.
func (s stuck) Error() string { return string(s) }

// meets ends a run that meets another.
type meets struct{}

// An alonePort answers the calls of one command from a machine, at once.
type alonePort struct {
	m       *fsfake.Machine
	command string // in messages
	process int
	task    fsfake.Task
	by      fsfake.Task
	steps   []Step
	sleeps  int
	files   int // calls on files
	chosen  int // among its own calls, so far
	ways    []fsfake.WayTaken
	met     *meeting
	meets   bool          // it has met another order of its calls
	state   func() string // see [scenarios.Remembers]
	thread  bool          // another thread than the first has made a call
	kills   bool          // it may be killed: before has how things stood before each step then
	before  []moment
	killAt  int // before this step it is killed
	// before these steps the clock jumps so far
	stalls   []int
	stallFor time.Duration
	family   scenarios.Family
	// stderr is what the command has written there, refused which of its calls were; inside, whether it was.
	stderr  string
	refused []string // calls
	inside  bool
	// mark is the name that marks the critical section, or empty; locksMark: the command has locked it.
	mark      string
	locksMark bool
}

// A moment is how things stood before a step of a command: the machine, what it had chosen, and which of its processes
// lived.
type moment struct {
	m      *fsfake.Machine
	chosen int
	family scenarios.Family
}

// Do implements fsfake.Port.
func (p *alonePort) Do(op fsfake.Op) fsfake.Result {
	for _, at := range p.stalls {
		if at == len(p.steps) {
			p.m.Stall(p.stallFor, 0)
		}
	}
	if len(p.steps) == p.killAt {
		p.m.KillProc(p.task.Pid)
		p.by = fsfake.Task{}
		p.steps = append(p.steps, Step{Process: p.process, Kill: true})
		return fsfake.Result{Value: scenarios.Killed{}}
	}
	chosen := p.chosen
	if op.Ways() > 1 {
		if p.chosen == len(p.ways) {
			shut := p.shut(&op)
			open := bits.TrailingZeros64(^shut)
			one := ^shut&(1<<op.Ways()-1)&^(1<<open) == 0
			if (!one || p.chosen%8 == 0) && p.met != nil && p.state != nil && p.met.before(p.m, p.state()) {
				panic(meets{})
			}
			if open == op.Ways() {
				panic(stuck("waits for ever: " + p.waits(op)))
			}
			p.ways = append(p.ways, fsfake.WayTaken{Which: open, Of: op.Ways(), Shut: shut})
		}
		op = op.Way(p.ways[p.chosen].Which)
		p.chosen++
	}
	step := Step{Process: p.process, By: p.by, Op: op}
	task := p.task
	if p.by != (fsfake.Task{}) {
		task, p.by = p.by, fsfake.Task{}
	}
	if op.Call == fsfake.CallSleep {
		p.sleeps++
	}
	if len(p.steps) > aloneCalls || p.sleeps > aloneSleeps {
		panic(stuck(errAlone.Error()))
	}
	if !op.Call.Is(fsfake.NoFile) {
		p.files++
	}
	if p.kills {
		p.before = append(p.before, moment{p.m.Clone(), chosen, p.family})
	}
	before := p.m
	if p.met != nil {
		before = p.m.Clone()
	}
	r := p.m.Do(task, op)
	if p.met != nil {
		p.met.changes.Note(op, before, p.m)
	}
	if op.Call == fsfake.CallSleep && r.Blocked { // nobody else is there
		r = p.m.Do(task, op)
	}
	step.Result = r
	p.steps = append(p.steps, step)
	p.family = p.family.After(&op, &r)
	p.locksMark = p.locksMark || p.locked(task, op)
	switch {
	case r.Unmodelled != "":
		panic(scenarios.Fault{Err: notModelled{fmt.Errorf("%s: %s: %s; have the program do without it", p.command,
			brief(op.String()), r.Unmodelled)}})
	case r.Blocked:
		panic(stuck("waits for ever in " + op.String()))
	}
	return r
}

// shut are the ways of a call that are not to be followed.
func (p *alonePort) shut(op *fsfake.Op) uint64 {
	if p.met != nil {
		if which := p.m.LocalWay(op, true, p.met.changes); which >= 0 {
			return ^(1 << which)
		}
	}
	return p.m.Shut(p.task, *op)
}

// waitsOn reports whether the last call waits because that was chosen beside a timer, which was left alone.
func (p *alonePort) waitsOn() bool {
	if len(p.steps) < 3 {
		return false
	}
	chosen := p.steps[len(p.steps)-2].Op
	return chosen.Call == fsfake.CallChoose && chosen.Off == 0 && strings.HasSuffix(chosen.Data, goesOffMeanwhile)
}

// locked reports whether a call locks the name that marks the critical section.
func (p *alonePort) locked(by fsfake.Task, op fsfake.Op) bool {
	if p.mark == "" || !op.Call.IsLock() {
		return false
	}
	at, is := p.m.LookupName(p.mark)
	of, open := p.m.FDInode(by.Pid, op.FD)
	return is && open && of == at
}

// waits tells for whom the command's own processes wait, where none can go on.
func (p *alonePort) waits(op fsfake.Op) string {
	var parts []string
	for _, w := range op.Waiting() {
		name := w.Op.String()
		on, _ := p.m.FDInode(w.Task.Pid, w.Op.FD)
		for _, f := range p.m.Tree() {
			if f.ID == on {
				name = "flock on " + f.Path
			}
		}
		by := "another"
		if refs := p.m.InTheWay(w.Task, w.Op); len(refs) > 0 { // its children may have inherited it
			by = fmt.Sprintf("process %d", refs[0].Pid)
		}
		parts = append(parts, fmt.Sprintf("process %d for the %s, which %s has", w.Task.Pid, name, by))
	}
	return strings.Join(parts, "; ")
}

// Note implements fsfake.Port.
func (p *alonePort) Note(v any) {
	if p.met != nil && v == any(scenarios.OneOrder) { // nothing will hold, and that is not worth more orders
		p.met.unknown = true
	}
	switch v := v.(type) {
	case scenarios.Remembers:
		p.state = v.State
	case scenarios.By:
		p.by = v.Task
		p.thread = p.thread || v.Task.N > 1
	case said:
		p.stderr, p.refused = v.text, v.refused
	case scenarios.Returned:
		p.inside = p.inside || v.Output == (model.Acquired{OK: true})
	}
}
