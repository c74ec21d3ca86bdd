package trace

import (
	"slices"
	"strconv"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A Walk is a trace with all that it implies: what there was before and after each step,
// what each call worked on, what it changed on disk, who waited for whom. Whatever
// explains or draws a run reads a walk, and keeps no tables of its own.
type Walk struct {
	Names  Names
	Inodes Inodes
	// Start is what there was before the first step.
	Start *State
	Steps []Walked

	sc    *scenarios.Scenario
	tasks []sched.Task
	// children are the processes that forks have made.
	children []child
	// waiters are threads and children of the tasks' programs that had to wait in a call.
	waiters map[sched.Task][]fsfake.Task
	// opened are the opens of the file descriptions seen so far, by their numbers.
	opened map[int]Opened
}

// A Walked is one step of a walk.
type Walked struct {
	*Step
	Before, After *State
	// Targets are the files that the step's calls worked on, call by call: none for a call
	// on no file, two for a rename or a link.
	Targets [][]Target
	// Changes are what the step did to the disk, in the order of names.
	Changes []Change
}

// Only is the one call of a step and the files that it worked on. A choice of which task goes on does not count. It is
// nil where there are more calls, or none.
func (w *Walked) Only() (*Call, []Target) {
	k := len(w.Calls) - 1
	if k < 0 || k > 1 || k == 1 && w.Calls[0].Op.Call != fsfake.CallChoose {
		return nil, nil
	}
	return &w.Calls[k], w.Targets[k]
}

// A child is a process that a fork has made.
type child struct {
	pid    int
	parent sched.Task
}

// NewWalk walks through a trace of a scenario.
func NewWalk(sc *scenarios.Scenario, tr Trace) *Walk {
	w := &Walk{Names: NamesOf(sc), sc: sc, tasks: Tasks(&sc.Setting), opened: map[int]Opened{},
		waiters: map[sched.Task][]fsfake.Task{}}
	w.Start = w.state(sc.NewMachine(), nil, nil)
	w.Inodes.add(w.Start.Files)
	w.Steps = make([]Walked, len(tr))
	before := w.Start
	for i := range tr {
		st := &w.Steps[i]
		*st = Walked{Step: withNames(&tr[i], before.machine), Before: before,
			After: w.state(tr[i].After, &tr[i], before)}
		for k := range st.Calls {
			st.Targets = append(st.Targets, w.targets(st, &st.Calls[k]))
		}
		st.Changes = st.changes()
		before = st.After
		w.Inodes.add(before.Files)
	}
	return w
}

// withNames is a step in whose calls names begin at the name of a directory, where they began at a descriptor of it.
func withNames(st *Step, m *fsfake.Machine) *Step {
	beginsAtFD := func(name string) bool {
		_, _, is := fsfake.SplitAt(name)
		return is
	}
	told := st
	for i := range st.Calls {
		op := st.Calls[i].Op
		if beginsAtFD(op.Path) {
			op.Path = clean(m, st.pidOf(&st.Calls[i]), op.Path)
		}
		if beginsAtFD(op.Path2) && op.Call != fsfake.CallSymlink { // of which that is a text
			op.Path2 = clean(m, st.pidOf(&st.Calls[i]), op.Path2)
		}
		if op == st.Calls[i].Op {
			continue
		}
		if told == st {
			copied := *st
			copied.Calls = slices.Clone(st.Calls)
			told = &copied
		}
		told.Calls[i].Op = op
	}
	return told
}

// End is what there is after the last step.
func (w *Walk) End() *State {
	if n := len(w.Steps); n > 0 {
		return w.Steps[n-1].After
	}
	return w.Start
}

// LastChange is how many steps there are until nothing changes any more, but that programs' children begin and end.
func (w *Walk) LastChange() (last int) {
	for i := range w.Steps {
		if len(w.Steps[i].Changes) > 0 || slices.ContainsFunc(w.Steps[i].Calls, func(c Call) bool {
			return c.Result.OK() && (c.Op.Call.Is(fsfake.Locks) || c.Op.Call == fsfake.CallEnd)
		}) {
			last = i + 1
		}
	}
	return last
}

// Paths lists every name that something stands at at any time, in the order in which they
// come up.
func (w *Walk) Paths() []string {
	var out []string
	seen := map[string]bool{}
	add := func(p string) {
		if !seen[p] {
			seen[p] = true
			out = append(out, p)
		}
	}
	for _, n := range w.Start.tree {
		add(n.Path)
	}
	for i := range w.Steps {
		for _, c := range w.Steps[i].Changes {
			if c.Path != "" {
				add(c.Path)
			}
		}
	}
	return out
}

// note remembers what later steps are explained by: children, who waits, and who opened what.
func (w *Walk) note(st *Step) {
	for i := range st.Calls {
		c, t := &st.Calls[i], st.Choice.Task
		switch {
		case c.Result.Blocked && c.By.Pid != 0 && !slices.Contains(w.waiters[t], c.By):
			w.waiters[t] = append(w.waiters[t], c.By)
		case !c.Result.OK():
		case c.Op.Call == fsfake.CallFork || c.Op.Call == fsfake.CallForkAs:
			w.children = append(w.children, child{int(c.Result.N), t})
		case c.Op.Call == fsfake.CallOpen:
			if d, ok := descriptor(st.After, st.pidOf(c), int(c.Result.N)); ok {
				w.opened[d.Desc] = Opened{Step: st.N, Task: t, Path: clean(st.After, st.pidOf(c), c.Op.Path),
					Flags: c.Op.Flags}
			}
		}
	}
}

// Tasks lists the tasks of a setting, process by process.
func Tasks(st *scenarios.Setting) []sched.Task {
	var out []sched.Task
	for i, n := range st.EachTask() {
		out = append(out, sched.Task{Process: i, N: n})
	}
	return out
}

// RunsAtFirst reports whether a task runs as soon as its process does: nobody starts it, and no signal.
func (w *Walk) RunsAtFirst(t sched.Task) bool { return w.sc.Setting.RunsAtFirst(t.Process, t.N) }

// PidOf returns the pid of a task's process.
func PidOf(t sched.Task) int { return scenarios.Pid(t.Process) }

func machineTask(t sched.Task) fsfake.Task { return fsfake.Task{Pid: PidOf(t), N: t.N} }

// Process returns the number of the scenario's process that has a pid, and whether there
// is one.
func (w *Walk) Process(pid int) (int, bool) {
	i, ok := scenarios.ProcessOf(pid)
	return i, ok && i < w.sc.Setting.Processes
}

// ChildOf is the process whose program has started the one that has a pid, and whether one has.
func (w *Walk) ChildOf(pid int) (parent int, ok bool) {
	for _, c := range w.children {
		if c.pid == pid {
			return PidOf(c.parent), true
		}
	}
	return 0, false
}

// Who names the process that has a pid: "A", "a child of A", "pid 99".
func (w *Walk) Who(pid int) string {
	if i, ok := w.Process(pid); ok {
		return scenarios.ProcessName(i)
	}
	for _, c := range w.children {
		if c.pid == pid {
			return "a child of " + c.parent.String()
		}
	}
	return "pid " + strconv.Itoa(pid)
}
