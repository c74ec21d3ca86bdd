package engine

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"lockpick/checker/internal/history"
	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/table"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A Space is the graph of states of one scenario for one property. It holds what all who
// expand states share: the learned automata, and the numbered machines, histories
// and states. A state is a row of words:
//
//	machine, history, a node for each task, budgets left
//
// and from there on exploration is pure data: look up what the task's next call does to
// the machine, follow the edge of its automaton, append to the history. What is not known
// yet is computed once, with the real machine or the task's real code.
type Space struct {
	Sc          *scenarios.Scenario
	Property    *scenarios.Property
	Slots       []slot
	machines    *machineTable
	Histories   *history.Table // nil for a property that is not judged by history
	prober      *Prober        // nil but for wedge
	remainder   *Remainder     // nil but for what is left behind
	mu          sync.Mutex     // guards prober, and learning for all automata at once
	automata    []*learn.Automaton
	Initial     []uint32
	rebooted    []uint32 // the nodes after a loss of power
	special     specialOps
	alike       bool          // processes are verified to be interchangeable
	KeepNumbers bool          // processes remember inode numbers that they will never use again
	Reduce      bool          // explore up to symmetry
	lasts       bool          // sleeps take as long as they say
	transitions table.Shared  // what operations come to on machines
	steps       *table.Shared // what events come to on histories
	oneOrder    atomic.Bool   // see OneOrder
	timedWait   atomic.Bool   // see TimedWait
	someDisks   atomic.Bool   // see SomeDisks
	observed    observer
	kinds       map[uint32]scenarios.Kind // by machine that breaks the property
}

// OneOrder reports whether somewhere in what was explored several threads or processes of
// one program asked at once, and one order of their calls was followed.
func (x *Space) OneOrder() bool { return x.oneOrder.Load() }

// TimedWait reports whether somewhere in what was explored somebody waits who has a timer that would end it.
func (x *Space) TimedWait() bool { return x.timedWait.Load() }

// SomeDisks reports whether somewhere in what was explored a loss of power may leave more disks than were looked at.
func (x *Space) SomeDisks() bool { return x.someDisks.Load() }

// JoinRounds takes rounds of polling of real programs to carry nothing over: see [learn.Automaton.JoinRounds].
func (x *Space) JoinRounds(clean bool) {
	for _, a := range x.automata {
		a.JoinRounds(clean)
	}
}

// SleepsAsOwner reports whether a program is known to sleep before it has changed anything, and also afterwards.
func (x *Space) SleepsAsOwner() bool {
	return slices.ContainsFunc(x.automata, (*learn.Automaton).SleepsAsOwner)
}

// MayJoin reports whether it may help to join rounds of polling. That is done after a sleep only, and orders of a
// program's own calls do not meet then: where there are such orders, a program must have been seen to sleep.
func (x *Space) MayJoin() bool {
	return !x.OwnOrders() || x.calls(fsfake.CallSleep)
}

// OwnOrders reports whether a program is known of whose own calls several can go on.
func (x *Space) OwnOrders() bool { return x.calls(fsfake.CallChoose) }

func (x *Space) calls(c fsfake.Call) bool {
	return slices.ContainsFunc(x.automata, func(a *learn.Automaton) bool { return a.Calls(c) })
}

// Close ends the runs of programs that are kept for further learning.
func (x *Space) Close() {
	for _, a := range x.automata {
		a.Close()
	}
}

// A slot is the place of one task in a state.
type slot struct {
	Task    sched.Task
	id      fsfake.Task
	process int
}

// specialOps are the numbers of operations that every exploration needs.
type specialOps struct{ exit, kill, stall, interrupt uint32 }

// Words of a state before the nodes, and after them.
const (
	wordMachine = 0
	WordHistory = 1
	wordNodes   = 2
)

// NewSpace returns the space of a scenario, of which nothing is known but where it begins.
// The error is a fault of the scenario, or a property that it cannot be asked.
func NewSpace(sc *scenarios.Scenario, p *scenarios.Property) (*Space, error) {
	if err := sc.Validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	if p.OfSerialRuns() {
		return nil, fmt.Errorf("checker: %s: %s was not made for this scenario: call serial.Bind first", sc.ID, p)
	}
	x := &Space{
		Sc: sc, Property: p, steps: &table.Shared{}, KeepNumbers: p.OfCycles(),
		lasts: sc.Setting.Assume.Sleeps == scenarios.SleepsLast, kinds: map[uint32]scenarios.Kind{},
	}
	for i, n := range sc.Setting.EachTask() {
		x.Slots = append(x.Slots, slot{
			Task: sched.Task{Process: i, N: n}, process: i,
			id: fsfake.Task{Pid: scenarios.Pid(i), N: n},
		})
	}
	if err := x.start(); err != nil {
		return nil, err
	}
	for i, a := range x.automata {
		begins := a.Node(a.First()).Begins
		x.observed.effects(&begins)
		if err := x.heard(i, &begins); err != nil {
			return nil, err
		}
	}
	x.machines = newMachineTable(sc, p)
	x.special = specialOps{
		exit: x.machines.op(exitOf(p)),
		kill: x.machines.op(opKill{}), stall: x.machines.op(opStall{pass: sc.Setting.StallFor}),
		interrupt: x.machines.op(opInterrupt{}),
	}
	switch p.Judgement() {
	case scenarios.ByHistory:
		x.Histories = x.noHistories()
	case scenarios.ByGraph:
		if p.NeedsProbe() && sc.Probe == nil {
			return nil, NoProbe(sc, p)
		}
		x.prober = NewProber(sc, p)
	}
	m, err := MachineAtFirst(sc, p)
	if err != nil {
		return nil, err
	}
	x.remainder = NewRemainder(sc, p, m)
	first := x.machines.start(m)
	x.Initial = append(x.Initial, first, history.Empty)
	for i, a := range x.automata {
		first, again := a.First(), uint32(learn.Gone)
		switch at := &x.Slots[i]; {
		case !sc.Setting.RunsAtFirst(at.process, at.Task.N):
			first = learn.Gone
		case sc.Setting.AfterReboot(at.process):
			first, again = again, first
		}
		x.Initial, x.rebooted = append(x.Initial, first), append(x.rebooted, again)
	}
	s := &sc.Setting
	left := budgets{crashes: s.Crashes, failing: s.FailingCalls, stalls: s.Stalls, losses: s.PowerLosses,
		signals: s.Signals}
	x.Initial = append(x.Initial, left.pack())
	return x, nil
}

// noHistories returns a table of histories that has none yet.
func (x *Space) noHistories() *history.Table {
	t := history.NewTable(x.Property.Spec, len(x.Slots)+x.Sc.Setting.Processes)
	t.Deaths(x.Sc.Setting.Processes)
	return t
}

// RememberMonitors has states remember monitors from here on, and returns what goes back to
// what they remembered before. Everything else that is known of the space stays known. States
// and expanders are good for one of the two only.
func (x *Space) RememberMonitors() (back func()) {
	if x.Histories == nil || x.Histories.MonitorsOnly {
		return func() {}
	}
	histories, steps := x.Histories, x.steps
	x.Histories, x.steps = x.noHistories(), &table.Shared{}
	x.Histories.RememberMonitors()
	return func() { x.Histories, x.steps = histories, steps }
}

// budgets are the faults left in a state.
type budgets struct{ crashes, failing, stalls, losses, signals int }

// The bits of each: scenarios.MaxProcesses, MaxFailingCalls, MaxStalls, MaxSignals and 1 fit in.
func (b budgets) pack() uint32 {
	return uint32(b.crashes) | uint32(b.failing)<<8 | uint32(b.stalls)<<16 | uint32(b.signals)<<26 | uint32(b.losses)<<31
}

func unpackBudgets(w uint32) budgets {
	return budgets{crashes: int(w & 0xff), failing: int(w >> 8 & 0xff), stalls: int(w >> 16 & 0x3ff), signals: int(w >> 26 & 0x1f), losses: int(w >> 31)}
}

// WithoutFaults returns a state as it is when no fault can happen any more.
func (x *Space) WithoutFaults(row []uint32) []uint32 {
	out := append([]uint32(nil), row...)
	out[len(out)-1] = budgets{}.pack()
	return out
}

// Width is the number of words of a state.
func (x *Space) Width() int { return wordNodes + len(x.Slots) + 1 }

// A knownNode is what a worker needs to know of a node.
type knownNode struct {
	known   bool
	op      uint32
	ways    []uint32     // the operations, where the call can go in several ways
	failing []failingWay // in which it can fail, if nothing on the machine is against it
	inv     uint32       // event of the operation that begins with the call, 0 for none
	begins  bool         // something begins with the call
	unmark  uint32       // operation that takes the mark off a lock, 0 for none
	ofFirst bool         // which the first task of the process has
	fails   bool         // an assertion before it, the task's first call
	chosen  bool         // see scenarios.Chosen
	timed   bool         // see scenarios.TimedWait
	cell    bool
	sleep   bool
	exit    bool
	starts  int64 // the number of the task that the call starts, 0 for none
	knows   learn.Numbers
	family  scenarios.Family
	ended   bool
	edges   []knownEdge // of the first answers, fewEdges at most
}

// A knownEdge is what a worker needs to know of an edge.
type knownEdge struct {
	result   uint32 // the answer
	to       uint32 // with nodeBegun
	ret      uint32 // event of the operation that ended, 0 for none
	mark     uint32 // operation that marks the lock's object, 0 for none
	tops     uint32 // operation that tells of rounds where sleeps last, 0 for none
	pins     bool   // the task has got hold of an inode number itself
	forgets  bool   // it will never use inode numbers again but those in keeps
	forget   uint32 // operation for that, where no other task of the process knows more, 0 for none
	keeps    learn.Numbers
	returned bool
	fails    bool // an assertion
}

// node describes a node of an automaton.
func (x *Space) node(slot int, n uint32) knownNode {
	nd := x.automata[slot].Node(n)
	if nd.Ended {
		return knownNode{known: true, ended: true, family: scenarios.Family{Ended: x.Sc.External}}
	}
	made := func(op fsfake.Op) any {
		if by := nd.Begins.By; by != (fsfake.Task{}) {
			return opBy{by, op}
		}
		return kept(x.Property, op)
	}
	if nd.Begins.Seen.Has(scenarios.OneOrder) {
		x.oneOrder.Store(true)
	}
	if nd.Begins.Seen.Has(scenarios.TimedWait) {
		x.timedWait.Store(true)
	}
	p := knownNode{
		known: true, op: x.machines.op(made(nd.Op)), begins: nd.Begins.Invoked || nd.Begins.LetGo,
		cell: nd.Op.Call.IsCell(), sleep: nd.Op.Call == fsfake.CallSleep, exit: endsProcess(x.Sc, nd.Op) && nd.Begins.By == (fsfake.Task{}),
		fails: n == learn.Start && x.fails(&nd.Begins), knows: nd.Knows, family: nd.Family,
		failing: x.failures(nd.Op, nd.Begins.By), chosen: nd.Begins.Seen.Has(scenarios.Chosen),
		timed: nd.Begins.Seen.Has(scenarios.TimedWait),
	}
	if nd.Op.Call == fsfake.CallStart {
		p.starts = nd.Op.Len
	}
	if nd.Begins.LetGo && x.machines.marks {
		p.unmark, p.ofFirst = x.machines.op(opUnmark{lockOf(&nd.Begins)}), nd.Begins.OfFirst
	}
	if n := nd.Op.Ways(); n > 1 {
		for which := range n {
			p.ways = append(p.ways, x.machines.op(made(nd.Op.Way(which))))
		}
	}
	if nd.Begins.Invoked {
		p.inv = x.Histories.Event(history.Invoke, nd.Begins.Input, nd.Begins.Input)
	}
	return p
}

// edge learns, or recalls, where a result leads.
func (x *Space) edge(slot int, n, result uint32) (knownEdge, error) {
	r := x.machines.result(result)
	e, err := x.learn(slot, n, r)
	if err != nil {
		return knownEdge{}, err
	}
	l := knownEdge{to: e.To, returned: e.Effects.Returned, fails: x.fails(&e.Effects)}
	if e.Effects.Returned {
		l.ret = x.Histories.Event(history.Return, e.Input, e.Effects.Output)
	}
	if x.machines.marks && e.Effects.Marks() {
		l.mark = x.machines.op(opMark{e.Effects.Holding})
	}
	if tops := topsOf(&e.Effects); x.lasts && tops != (opTops{}) {
		l.tops = x.machines.op(tops)
	}
	if !x.KeepNumbers {
		l.pins = e.Effects.Seen.Has(fsfake.NumberSeen) && e.To != learn.Ended
		if l.keeps, l.forgets = x.automata[slot].Forgets(n, r, &e); l.pins {
			l.forget = x.machines.op(opPin{})
		} else if l.forgets && l.keeps != learn.All {
			l.forget = x.machines.op(opForget{l.keeps})
		}
	}
	return l, nil
}

func (x *Space) learn(slot int, n uint32, r *fsfake.Result) (learn.Edge, error) {
	if x.alike {
		x.mu.Lock()
		defer x.mu.Unlock()
		if err := x.learnAlike(n, r); err != nil {
			return learn.Edge{}, err
		}
	}
	e, err := x.automata[slot].Learn(n, r)
	if err == nil {
		x.observed.effects(&e.Effects)
		x.observed.call(x.automata[slot].Node(n).Op, r, x.Sc.External)
		err = x.heard(slot, &e.Effects)
	}
	return e, err
}

// A learned is what a space has learned and numbered.
type learned struct{ Coroutines, Edges, Machines, Histories int }

// Learned sums up the counts of the shared tables.
func (x *Space) Learned() (s learned) {
	for _, a := range x.automata {
		runs, edges := a.Counts()
		s.Coroutines += runs
		s.Edges += edges
	}
	s.Machines, _ = x.machines.count()
	if x.Histories != nil && !x.Histories.MonitorsOnly {
		s.Histories, _ = x.Histories.Count()
	}
	return s
}

// Bytes is the memory of everything that grows with the exploration; set may be nil.
func (x *Space) Bytes(set *table.States) int {
	_, m := x.machines.count()
	_, p := x.Histories.Count()
	return set.Bytes() + m + p + x.transitions.Bytes() + x.steps.Bytes()
}
