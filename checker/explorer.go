package checker

import (
	"sync"

	"lockpick/checker/internal/history"
	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/table"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// An explorer covers the graph of states of one scenario for one property. It holds
// what its workers share: the learned automata, and the numbered machines, pasts and
// states. A state is a row of words:
//
//	machine, past, a node for each task, budgets left
//
// and from there on exploration is pure data: look up what the task's next call does to
// the machine, follow the edge of its automaton, append to the past. What is not known
// yet is computed once, with the real machine or the task's real code.
type explorer struct {
	sc        *scenarios.Scenario
	property  *scenarios.Property
	slots     []slot
	machines  *machineTable
	histories *history.Table // nil for a property that is not judged by history
	prober    *prober        // nil but for wedge
	mu        sync.Mutex     // guards prober, and learning for all automata at once
	automata  []*learn.Automaton
	initial   []uint32
	rebooted  []uint32 // the nodes after a loss of power
	special   specialOps
	alike     bool         // processes are verified to be interchangeable
	reduce    bool         // explore up to symmetry
	moves     table.Shared // what operations come to on machines
	steps     table.Shared // what events come to on pasts
}

// A slot is the place of one task in a state.
type slot struct {
	task    sched.Task
	id      fsfake.Task
	process int
}

// specialOps are the numbers of operations that every exploration needs.
type specialOps struct{ exit, unmark, kill, stall uint32 }

// Words of a state before the nodes, and after them.
const (
	wordMachine = 0
	wordHistory = 1
	wordNodes   = 2
)

func newExplorer(sc *scenarios.Scenario, p *scenarios.Property) (*explorer, error) {
	if err := sc.Validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	x := &explorer{sc: sc, property: p}
	for i := range sc.Setting.Processes {
		for n := 1; n <= sc.Setting.TasksOf(i); n++ {
			x.slots = append(x.slots, slot{
				task: sched.Task{Process: i, N: n}, process: i,
				id: fsfake.Task{Pid: scenarios.FirstPid + i, N: n},
			})
			a, err := learn.New(sc.ID, learn.Functions(sc), i, n)
			if err != nil {
				return nil, err
			}
			x.automata = append(x.automata, a)
		}
	}
	x.machines = newMachineTable(sc, p.Invariant)
	x.special = specialOps{
		exit: x.machines.op(fsfake.Op{Call: fsfake.CallExit}), unmark: x.machines.op(opUnmark{}),
		kill: x.machines.op(opKill{}), stall: x.machines.op(opStall{}),
	}
	switch p.Judgement() {
	case scenarios.ByHistory:
		x.histories = history.NewTable(p.Spec, len(x.slots)+sc.Setting.Processes)
		x.histories.Deaths(sc.Setting.Processes)
	case scenarios.ByGraph:
		if p.NeedsProbe() && sc.Probe == nil {
			return nil, nothingToJudge(sc, p)
		}
		x.prober = newProber(sc)
	}
	m, err := machineAtFirst(sc, p)
	if err != nil {
		return nil, err
	}
	first, _ := x.machines.add(m, nil)
	x.initial = append(x.initial, first, history.Empty)
	for i, a := range x.automata {
		first, again := a.First(), uint32(learn.Gone)
		if sc.Setting.AfterReboot(x.slots[i].process) {
			first, again = again, first
		}
		x.initial, x.rebooted = append(x.initial, first), append(x.rebooted, again)
	}
	x.initial = append(x.initial, budgets{sc.Setting.Crashes, sc.Setting.Stalls, sc.Setting.PowerLosses}.pack())
	return x, nil
}

// budgets are the faults left in a state.
type budgets struct{ crashes, stalls, losses int }

func (b budgets) pack() uint32 {
	return uint32(b.crashes) | uint32(b.stalls)<<16 | uint32(b.losses)<<31
}

func unpackBudgets(w uint32) budgets {
	return budgets{int(w & 0xffff), int(w >> 16 & 0x7fff), int(w >> 31)}
}

// width is the number of words of a state.
func (x *explorer) width() int { return wordNodes + len(x.slots) + 1 }

// A place is what a worker needs to know of a node.
type place struct {
	known  bool
	op     uint32
	inv    uint32 // event of the operation that begins with the call, 0 for none
	begins bool   // something begins with the call
	unmark bool
	cell   bool
	sleep  bool
	exit   bool
	ended  bool
}

// A leap is what a worker needs to know of an edge.
type leap struct {
	to       uint32 // with nodeBegun
	ret      uint32 // event of the operation that ended, 0 for none
	mark     uint32 // operation that marks the lock's object, 0 for none
	returned bool
}

// place describes a node.
func (x *explorer) place(slot int, n uint32) place {
	nd := x.automata[slot].Node(n)
	if nd.Ended {
		return place{known: true, ended: true}
	}
	p := place{
		known: true, op: x.machines.op(nd.Op), begins: nd.Begins.Invoked || nd.Begins.LetGo,
		cell: nd.Op.Call.IsCell(), sleep: nd.Op.Call == fsfake.CallSleep, exit: nd.Op.Call == fsfake.CallExit,
		unmark: nd.Begins.LetGo && x.machines.marks,
	}
	if nd.Begins.Invoked {
		p.inv = x.histories.Event(history.Invoke, nd.Begins.Input, nd.Begins.Input)
	}
	return p
}

// leap learns, or recalls, where a result leads.
func (x *explorer) leap(slot int, n, result uint32) (leap, error) {
	r := x.machines.result(result)
	e, err := x.learn(slot, n, r)
	if err != nil {
		return leap{}, err
	}
	l := leap{to: e.To, returned: e.Effects.Returned}
	if e.Effects.Returned {
		l.ret = x.histories.Event(history.Return, e.Input, e.Effects.Output)
	}
	if x.machines.marks && e.Effects.Marks() {
		l.mark = x.machines.op(opMark{e.Effects.Holding})
	}
	return l, nil
}

func (x *explorer) learn(slot int, n uint32, r *fsfake.Result) (learn.Edge, error) {
	if x.alike {
		x.mu.Lock()
		defer x.mu.Unlock()
		if err := x.learnAlike(n, r); err != nil {
			return learn.Edge{}, err
		}
	}
	return x.automata[slot].Learn(n, r)
}

// stats sums up the counts of the shared tables.
func (x *explorer) stats(s *Stats) {
	for _, a := range x.automata {
		runs, edges := a.Counts()
		s.Coroutines += runs
		s.Edges += edges
	}
	s.Machines, _ = x.machines.count()
	if x.histories != nil && !x.histories.MonitorsOnly {
		s.Histories, _ = x.histories.Count()
	}
}
