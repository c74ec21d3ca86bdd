package trace

import (
	"slices"
	"time"

	"lockpick/fsfake"
	"lockpick/internal/lists"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A State is what there is between two steps.
type State struct {
	// Clock is the machine's clock.
	Clock time.Time
	// Files are the watched files, in the scenario's order.
	Files []FileState
	// Procs are the processes that run, in order, and what they have open. The first
	// process of all, pid 1, is left out.
	Procs []ProcState
	// Holders are the tasks that believe to hold a lock, in the order of tasks.
	Holders []Holder
	// Waits are the tasks that are blocked in a call, in the order of tasks.
	Waits []Blocked
	// Ended are the processes that have ended, in that order.
	Ended []Ended
	// Cells are the variables that tasks of a process share, in the order of their first
	// stores.
	Cells []CellState

	machine *fsfake.Machine
	tree    []fsfake.NameView
}

// A FileState is what stands at a name. A symlink is itself, and not what it leads to.
type FileState struct {
	Path   string
	Exists bool
	fsfake.FileView
}

// A ProcState is a running process with its open descriptors.
type ProcState struct {
	Pid int
	FDs []FDState
}

// An FDState is an open descriptor, and the names of what is behind it: none when that
// was unlinked.
type FDState struct {
	fsfake.FDView
	Paths []string
	// Opened tells which open of the trace it is from.
	Opened Opened
}

// A Blocked is a task that is blocked in a call.
type Blocked struct {
	Task sched.Task
	// By is who waits on the machine: the task, or a thread or a child of its program.
	By   fsfake.Task
	Call fsfake.Op
	// On is the inode whose lock it waits for; 0 when it waits for a cell.
	On fsfake.InodeID
	// For lists who stands in the way; see [fsfake.Machine.InTheWay].
	For []fsfake.FDRef
}

// An Ended is a process that has ended, and in which step: by Kill, by PowerLoss, or by
// Run, which is an exit of its own.
type Ended struct {
	Process int
	Step    int
	How     sched.Action
}

// A CellState is a variable of a process that somebody has stored.
type CellState struct {
	Process int
	Cell    string
	Value   any
}

// File looks at any name.
func (s *State) File(path string) FileState {
	f := FileState{Path: path}
	if id, ok := s.machine.LookupName(path); ok {
		f.Exists, f.FileView = true, s.machine.View(id)
	}
	return f
}

// Inode looks at an inode, whether it has a name or not.
func (s *State) Inode(id fsfake.InodeID) fsfake.FileView { return s.machine.View(id) }

// Shut lists the calls that wait where a program is to go on with one of several, and none can be made.
func (s *State) Shut(task sched.Task, op fsfake.Op) (all []Blocked) {
	for _, w := range op.Waiting() {
		on, _ := s.machine.FDInode(w.Task.Pid, w.Op.FD)
		all = append(all, Blocked{Task: task, By: w.Task, Call: w.Op, On: on, For: s.InTheWay(w.Task, w.Op)})
	}
	return all
}

// InTheWay lists whose locks stand against a lock call that is made here; see [Step.By].
func (s *State) InTheWay(by fsfake.Task, op fsfake.Op) []fsfake.FDRef {
	return s.machine.InTheWay(by, op)
}

// Alive reports whether a process runs.
func (s *State) Alive(pid int) bool { return s.machine.Alive(pid) }

// names lists the names of an inode.
func (s *State) names(id fsfake.InodeID) []string {
	var out []string
	for _, n := range s.tree {
		if n.ID == id {
			out = append(out, n.Path)
		}
	}
	return out
}

// state looks at a machine, after a step or, with nil, before the first.
func (w *Walk) state(m *fsfake.Machine, st *Step, before *State) *State {
	s := &State{Clock: m.Now(), machine: m, tree: m.Tree()}
	s.Files = append(s.Files, lists.Map(w.sc.Watch, s.File)...)
	if st != nil {
		w.note(st)
	}
	for _, t := range w.tasks {
		for _, by := range append([]fsfake.Task{machineTask(t)}, w.waiters[t]...) {
			if op, ok := m.Blocked(by); ok {
				on, _ := m.WaitsOn(by)
				s.Waits = append(s.Waits, Blocked{Task: t, By: by, Call: op, On: on, For: s.InTheWay(by, op)})
				break
			}
		}
	}
	if st != nil {
		s.Ended, s.Cells, s.Holders = w.ended(st, before), cells(st, before.Cells), st.Holders
	}
	for _, pid := range m.Pids() {
		if pid != 1 {
			s.Procs = append(s.Procs, w.proc(s, pid))
		}
	}
	return s
}

// proc looks at a process.
func (w *Walk) proc(s *State, pid int) ProcState {
	p := ProcState{Pid: pid}
	for _, v := range s.machine.FDs(pid) {
		p.FDs = append(p.FDs, FDState{FDView: v, Paths: s.names(v.ID), Opened: w.opened[v.Desc]})
	}
	return p
}

// ended adds the processes that a step has ended.
func (w *Walk) ended(st *Step, before *State) []Ended {
	out := slices.Clip(before.Ended)
	for i := range w.sc.Setting.Processes {
		pid := scenarios.Pid(i)
		if before.Alive(pid) && !st.After.Alive(pid) {
			out = append(out, Ended{Process: i, Step: st.N, How: st.Choice.Action})
		}
	}
	return out
}

// cells brings the variables up to date.
func cells(st *Step, before []CellState) []CellState {
	out := before
	for _, c := range st.Calls {
		v, stores := stored(&c)
		if !stores {
			continue
		}
		out = slices.Clone(out)
		p := st.Choice.Task.Process
		i := slices.IndexFunc(out, func(s CellState) bool { return s.Process == p && s.Cell == c.Op.Cell })
		if i < 0 {
			i, out = len(out), append(out, CellState{Process: p, Cell: c.Op.Cell})
		}
		out[i].Value = v
	}
	return out
}

// stored is what a call has stored in its variable, if it has.
func stored(c *Call) (any, bool) {
	switch swap, swaps := c.Op.Value.(fsfake.Swap); {
	case c.Op.Call == fsfake.CallCellStore:
		return c.Op.Value, true
	case swaps && c.Op.Call == fsfake.CallCellCAS && c.Result.N == 1:
		return swap.New, true
	}
	return nil, false
}
