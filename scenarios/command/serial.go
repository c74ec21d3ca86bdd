package command

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// Refused says by which exit statuses a command may refuse to do anything, so that it need
// not have run at all.
type Refused struct {
	// Declared: the statuses are as listed, also when none is. Otherwise any status but 0 may
	// be a refusal, or not: both are decided, and where they differ there is no verdict.
	Declared bool
	Statuses []int
}

// serializable is the id of the property that [Spec.serializable] makes.
const serializable = "serializable"

// serializable returns the property of commands whose serial runs are given.
func (s *Spec) serializable(serial []order) *scenarios.Property {
	return &scenarios.Property{
		ID:      serializable,
		Meaning: "What the commands leave behind is what they leave behind one after the other, in some order.",
		Invariant: func(v scenarios.View) string {
			if v.Running() > 0 {
				return ""
			}
			return s.judge(s.outcome(v), serial)
		},
		Table: func(v scenarios.View) [][]string { return s.table(s.outcome(v), serial) },
	}
}

// whole are the orders in which every one of so many commands has run.
func whole(serial []order, commands int) []order {
	return slices.DeleteFunc(slices.Clone(serial), func(o order) bool { return len(o.ran) < commands })
}

// An order is the outcome of running some commands one after the other, each to its end or until
// it is killed. Those that are left out have not run.
type order struct {
	ran     []int
	killed  []int // of those
	outcome Outcome
	called  string // a name of its own, or empty
}

// name is the order as people say it: "A then B".
func (o order) name() string {
	if o.called != "" {
		return o.called
	}
	var names []string
	for _, i := range o.ran {
		name := scenarios.ProcessName(i)
		if slices.Contains(o.killed, i) {
			name += " killed"
		}
		names = append(names, name)
	}
	if len(names) == 1 && len(o.outcome.Exits) > 1 {
		return names[0] + " alone"
	}
	return strings.Join(names, " then ")
}

// serial runs the commands in every order, and where refusals may count also in every order
// of some of them. A command whose own calls can go on side by side ends in as many ways as they
// have orders; where these are too many, only one is followed, here and in all that is decided.
func (s *Spec) serial(sc *scenarios.Scenario) ([]order, error) {
	s.early = s.startEarly()
	defer func() {
		s.early.close()
		s.early = nil
	}()
	out, err := s.orders(sc)
	if errors.Is(err, errManyOrders) {
		s.record, s.oneOrder = newRecord(len(s.Commands)), true
		out, err = s.orders(sc)
	}
	return out, err
}

// orders lists the outcomes of the serial runs, each once.
func (s *Spec) orders(sc *scenarios.Scenario) ([]order, error) {
	var out []order
	var run func(m *fsfake.Machine, ran, killed []int) error
	run = func(m *fsfake.Machine, ran, killed []int) error {
		if len(ran) == len(s.Commands) || len(ran) > 0 && s.mayRefuse() {
			out = addOrder(out, order{ran: slices.Clone(ran), killed: slices.Clone(killed), outcome: s.outcome(scenarios.NewView(m))})
		}
		for i := range s.Commands {
			if slices.Contains(ran, i) {
				continue
			}
			ends, err := s.everyWay(sc, m, i, len(ran) == 0 && !s.Left)
			if (len(killed) > 0 || s.Left) && errors.As(err, new(stuck)) {
				err = nil // for want of what a killed one has not done: this order has no end
			}
			if err != nil {
				return err
			}
			if len(ran) == 0 && !s.hasEarlier(i) && ends[0].m != nil {
				if err := s.asOnTheKernel(sc, i, ends[0].steps, ends[0].m); err != nil {
					return err
				}
			}
			for _, e := range ends {
				if err := s.runOn(run, e, i, ran, killed); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err := run(sc.NewMachine(), nil, nil)
	return out, err
}

// runOn goes on with the others when a command has ended, or has been killed.
func (s *Spec) runOn(run func(m *fsfake.Machine, ran, killed []int) error, e aloneEnd, i int, ran, killed []int) error {
	ran = append(slices.Clone(ran), i)
	if e.m != nil {
		if err := run(e.m, ran, killed); err != nil {
			return err
		}
	}
	if len(killed) == s.Crashes {
		return nil
	}
	for _, m := range e.cuts {
		if err := run(m, ran, append(slices.Clone(killed), i)); err != nil {
			return err
		}
	}
	return nil
}

// addOrder adds an order, unless it is there with the same outcome.
func addOrder(list []order, o order) []order {
	all := func(int) bool { return true }
	if slices.ContainsFunc(list, func(k order) bool {
		return slices.Equal(k.ran, o.ran) && slices.Equal(k.killed, o.killed) && k.outcome.key(all) == o.outcome.key(all)
	}) {
		return list
	}
	return append(list, o)
}

// An aloneEnd is how a command ends that runs alone: the machine, or nil if it makes no end, and
// the steps that led there. cuts are the machines that it leaves behind when it is killed on the way.
type aloneEnd struct {
	m     *fsfake.Machine
	steps []Step
	cuts  []*fsfake.Machine
}

// maxOrders is how many orders of its own calls a command that runs alone may have, and
// maxChoosing how often it may choose among them: two children that make six calls each have
// 924 orders.
const (
	maxOrders   = 100
	maxChoosing = 8
)

var errManyOrders = errors.New("command: its calls have too many orders")

// everyWay runs a command alone in every order of those of its own calls that can go on side by
// side, and returns the machines that it leaves behind. The first is that of the first order. The
// error may be that it makes no end, a stuck; then what a kill leaves behind is returned none the
// less.
func (s *Spec) everyWay(sc *scenarios.Scenario, m *fsfake.Machine, process int, first bool) ([]aloneEnd, error) {
	var out []aloneEnd
	var endless error
	seen := map[string]bool{}
	isNew := func(m *fsfake.Machine) bool {
		all := func(int) bool { return true }
		key := string(m.AppendKey(nil)) + s.outcome(scenarios.NewView(m)).key(all)
		was := seen[key]
		seen[key] = true
		return !was
	}
	var ways []way
	for n := 0; ; n++ {
		if n == maxOrders || len(ways) > maxChoosing {
			return nil, errManyOrders
		}
		end := aloneEnd{m: m.Clone()}
		port, err := s.alone(sc, end.m, process, first, ways, never)
		if err != nil && !errors.As(err, new(stuck)) {
			return nil, err
		}
		end.steps, ways = port.steps, port.ways
		if err != nil {
			endless, end.m = err, nil
		}
		cuts, err := s.killed(sc, m, process, port)
		if err != nil {
			return nil, err
		}
		for _, cut := range cuts {
			if isNew(cut) {
				end.cuts = append(end.cuts, cut)
			}
		}
		if end.m == nil || isNew(end.m) || len(end.cuts) > 0 {
			out = append(out, end)
		}
		if ways = nextWays(ways, 0); ways == nil {
			return out, endless
		}
	}
}

// nextWays are the ways after these that have the first so many in common with them; nil when
// there are none.
func nextWays(ways []way, common int) []way {
	for len(ways) > common && ways[len(ways)-1].which+1 == ways[len(ways)-1].of {
		ways = ways[:len(ways)-1]
	}
	if len(ways) <= common {
		return nil
	}
	ways[len(ways)-1].which++
	return ways
}

// killed returns what a command that ran alone, from a machine on, leaves behind when it is killed
// before one of its steps. What it has started goes on, to its end and in every way.
func (s *Spec) killed(sc *scenarios.Scenario, m *fsfake.Machine, process int, ran *alonePort) ([]*fsfake.Machine, error) {
	var out []*fsfake.Machine
	for at := range ran.before {
		cuts, err := s.killedBefore(sc, m, process, ran, at)
		if err != nil {
			return nil, err
		}
		out = append(out, cuts...)
	}
	return out, nil
}

// killedBefore is killed of one step.
func (s *Spec) killedBefore(sc *scenarios.Scenario, m *fsfake.Machine, process int, ran *alonePort, at int) ([]*fsfake.Machine, error) {
	before := ran.before[at]
	if !before.goesOn {
		before.m.KillProc(scenarios.Pid(process))
		return []*fsfake.Machine{before.m}, nil
	}
	var out []*fsfake.Machine
	ways := slices.Clone(ran.ways[:before.chosen])
	for n := 0; ways != nil; n++ {
		if n == maxOrders {
			return out, errManyOrders
		}
		end := m.Clone()
		port, err := s.alone(sc, end, process, false, ways, at)
		switch {
		case err == nil:
			out = append(out, end)
		case !errors.As(err, new(stuck)): // what waits for ever has no end to compare with
			return nil, err
		}
		ways = nextWays(port.ways, before.chosen)
	}
	return out, nil
}

// A way is which of so many ways a step went.
type way struct{ which, of int }

// hasEarlier reports whether an earlier command is the same.
func (s *Spec) hasEarlier(process int) bool {
	return slices.ContainsFunc(s.Commands[:process], func(l Line) bool {
		return l.String() == s.Commands[process].String() && l.Stdin == s.Commands[process].Stdin
	})
}

// asOnTheKernel runs a command that has run alone on the fake once more on the real kernel, by
// the same calls. An answer that differs is an error: what the fake gets wrong cannot be
// judged on it.
func (s *Spec) asOnTheKernel(sc *scenarios.Scenario, process int, steps []Step, end *fsfake.Machine) error {
	c := s.early.carrier(s, process).carries(context.Background(), steps, end)
	who := fmt.Sprintf("%s (%s), run alone,", scenarios.ProcessName(process), s.Commands[process])
	switch {
	case c.Differs != "" && s.FileSystem != "":
		assume(sc, fmt.Sprintf("%s is answered on %s as by the fake machine; here the kernel answers otherwise: %s", who, s.FileSystem, c.Differs))
	case c.Differs != "":
		return fmt.Errorf("command: %s is answered otherwise by the kernel than by the fake machine: %s: nothing can be said of it", who, c.Differs)
	case c.Cannot != "":
		assume(sc, fmt.Sprintf("the fake machine answers %s as the kernel does, which could not be compared: %s", who, c.Cannot))
	}
	return nil
}

func (s *Spec) mayRefuse() bool { return !s.Refused.Declared || len(s.Refused.Statuses) > 0 }

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
func (s *Spec) alone(sc *scenarios.Scenario, m *fsfake.Machine, process int, first bool, ways []way, killAt int) (port *alonePort, err error) {
	name := scenarios.ProcessName(process)
	who := fmt.Sprintf("command: %s (%s), run alone,", name, s.Commands[process])
	port = &alonePort{m: m, kills: s.Crashes > 0 && killAt == never, killAt: killAt, process: process, task: fsfake.Task{Pid: scenarios.Pid(process), N: 1}, ways: ways}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case scenarios.Fault:
			err = e.Err
		case stuck:
			err = fmt.Errorf("%s %w: nothing can be said of it beside others", who, e)
		default:
			panic(e)
		}
	}()
	sc.Program(process, 1)(scenarios.NewTask(port, process, 1))
	if port.thread {
		assume(sc, threads)
	}
	if !first {
		return port, nil
	}
	e, ok := scenarios.NewView(m).Exit(name)
	status := exitText(e, ok)
	switch {
	case s.Inside != "" && !port.inside:
		return nil, fmt.Errorf("%s never makes %s, which marks its critical section: make it where the section begins and remove it where it ends", who, s.Inside)
	case port.files == 0:
		return nil, fmt.Errorf("%s makes no call on a file in %s: is that the directory that it works in? See --dir", who, s.Dir)
	case status != "exit 0" && !(s.Refused.Declared && s.Refused.has(status)):
		return nil, fmt.Errorf("%s fails with %s on the files at the start: %s; make it work alone first, or say that this is a refusal with --refused", who, status, oneLine(port.stderr))
	}
	return port, nil
}

// threads is assumed of commands in which several threads make calls.
const threads = "threads of one command that wait for each other, or look at the same memory, do so in one order"

// assume notes that a verdict assumes something.
func assume(sc *scenarios.Scenario, text string) {
	if !slices.Contains(sc.Assumes, text) {
		sc.Assumes = append(sc.Assumes, text)
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

// has reports whether an outcome's exit is among the statuses.
func (r Refused) has(exit string) bool {
	return slices.ContainsFunc(r.Statuses, func(n int) bool { return exit == fmt.Sprintf("exit %d", n) })
}

// stuck is why a command that runs alone makes no end.
type stuck string

// Error implements error.
func (s stuck) Error() string { return string(s) }

// An alonePort answers the calls of one command from a machine, at once.
type alonePort struct {
	m       *fsfake.Machine
	process int
	task    fsfake.Task
	by      fsfake.Task
	steps   []Step
	sleeps  int
	files   int // calls on files
	chosen  int // among its own calls, so far
	ways    []way
	thread  bool // another thread than the first has made a call
	kills   bool // it may be killed: before has how things stood before each step then
	before  []moment
	killAt  int // before this step it is killed
	family  scenarios.Family
	// stderr is what the command has written there; inside, whether it was.
	stderr string
	inside bool
}

// A moment is how things stood before a step of a command: the machine, what it had chosen, and
// whether it goes on when its first process is killed.
type moment struct {
	m      *fsfake.Machine
	chosen int
	goesOn bool
}

// Do implements fsfake.Port.
func (p *alonePort) Do(op fsfake.Op) fsfake.Result {
	if len(p.steps) == p.killAt {
		p.m.KillProc(p.task.Pid)
		p.by = fsfake.Task{}
		p.steps = append(p.steps, Step{Process: p.process, Kill: true})
		return fsfake.Result{Value: scenarios.Killed{}}
	}
	chosen := p.chosen
	if op.Ways() > 1 {
		if p.chosen == len(p.ways) {
			p.ways = append(p.ways, way{of: op.Ways()})
		}
		op = op.Way(p.ways[p.chosen].which)
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
	switch op.Call {
	case fsfake.CallForkAs, fsfake.CallExec, fsfake.CallExit, fsfake.CallEnd, fsfake.CallSleep, fsfake.CallNow, fsfake.CallKill, fsfake.CallChoose:
	default:
		p.files++
	}
	if p.kills {
		p.before = append(p.before, moment{p.m.Clone(), chosen, p.family.Outlives()})
	}
	r := p.m.Do(task, op)
	step.Result = r
	p.steps = append(p.steps, step)
	p.family = p.family.After(&op, &r)
	switch {
	case r.Unmodelled != "":
		panic(scenarios.Fault{Err: errors.New("command: " + r.Unmodelled)})
	case r.Blocked:
		panic(stuck("waits for ever in " + op.String()))
	}
	return r
}

// Note implements fsfake.Port.
func (p *alonePort) Note(v any) {
	switch v := v.(type) {
	case scenarios.By:
		p.by = v.Task
		p.thread = p.thread || v.Task.N > 1
	case said:
		p.stderr = v.text
	case scenarios.Returned:
		p.inside = p.inside || v.Output == (model.Acquired{OK: true})
	}
}

// refuses reports whether a command may have ended by a refusal.
func (s *Spec) refuses(o Outcome, i int) bool {
	return o.Exits[i] != "exit 0" && (!s.Refused.Declared || s.Refused.has(o.Exits[i]))
}

// explains reports whether an order can be that of an outcome: whoever has not run in it has
// refused.
func (s *Spec) explains(k order, o Outcome) bool {
	for i := range s.Commands {
		if !slices.Contains(k.ran, i) && !s.refuses(o, i) {
			return false
		}
	}
	return true
}

// judge compares an outcome with those of the serial orders. It returns "" when it is one
// of them.
func (s *Spec) judge(o Outcome, serial []order) string {
	for _, k := range serial {
		ran := func(i int) bool { return slices.Contains(k.ran, i) }
		if s.explains(k, o) && o.key(ran) == k.outcome.key(ran) {
			return ""
		}
	}
	return "no order of the commands ends like this"
}
