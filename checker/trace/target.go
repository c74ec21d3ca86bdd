package trace

import (
	"lockpick/fsfake"
	"lockpick/sched"
)

// A Target is a file that a call worked on: by its name, or through a descriptor.
type Target struct {
	// Path is the name that the call gives, or that the descriptor was opened by; empty for
	// a descriptor that no open of the trace has made, such as one from before it.
	Path string
	// Before and After are what stood at the name itself before and after the step.
	Before, After FileState
	// ID is the inode that the call reached: through symlinks where the call follows them;
	// what an open has opened. It is 0 when there was none.
	ID fsfake.InodeID
	// ByFD: the call went through a descriptor, and Opened tells where that is from.
	ByFD   bool
	Opened Opened
	// Desc is the number of the description; see [fsfake.FDView].
	Desc int
}

// An Opened is the open that made a file description. Descriptors that came by dup or
// fork share it.
type Opened struct {
	Step  int // 0 when it is not part of the trace
	Task  sched.Task
	Path  string
	Flags int
}

// AtName reports whether the name still leads to the inode after the step.
func (t *Target) AtName() bool { return t.After.Exists && t.After.ID == t.ID }

// targets lists what a call worked on.
func (w *Walk) targets(st *Walked, c *Call) []Target {
	op := &c.Op
	switch op.Call {
	case fsfake.CallSymlink: // the other path is a text
		return []Target{w.named(st, c, op.Path)}
	case fsfake.CallLinkFD:
		return append(w.byFD(st, c), w.named(st, c, op.Path2))
	}
	switch {
	case op.Path != "" && op.Path2 != "":
		return []Target{w.named(st, c, op.Path), w.named(st, c, op.Path2)}
	case op.Path != "":
		return []Target{w.named(st, c, op.Path)}
	case op.Path2 != "":
		return []Target{w.named(st, c, op.Path2)}
	}
	return w.byFD(st, c)
}

func (w *Walk) named(st *Walked, c *Call, name string) Target {
	pid := st.pidOf(c)
	p := clean(st.Before.machine, pid, name)
	t := Target{Path: p, Before: st.Before.File(p), After: st.After.File(p)}
	switch {
	case c.Op.Call == fsfake.CallOpen:
		if c.Result.OK() {
			t.ID, _ = st.After.machine.FDInode(pid, int(c.Result.N))
		} else {
			t.ID, _ = st.Before.machine.Lookup(p)
		}
	case c.Op.Call.Is(fsfake.Follows):
		t.ID, _ = st.Before.machine.Lookup(p)
	default:
		t.ID = t.Before.ID
	}
	return t
}

// byFD is the target behind a call's descriptor; there is none when it is not open.
func (w *Walk) byFD(st *Walked, c *Call) []Target {
	d, ok := descriptor(st.Before.machine, st.pidOf(c), c.Op.FD)
	if !ok {
		return nil
	}
	t := Target{ID: d.ID, ByFD: true, Opened: w.opened[d.Desc], Desc: d.Desc}
	if t.Path = t.Opened.Path; t.Path != "" {
		t.Before, t.After = st.Before.File(t.Path), st.After.File(t.Path)
	}
	return []Target{t}
}

// descriptor finds an open descriptor of a process.
func descriptor(m *fsfake.Machine, pid, fd int) (fsfake.FDView, bool) {
	if fd == 0 {
		return fsfake.FDView{}, false
	}
	for _, d := range m.FDs(pid) {
		if d.FD == fd {
			return d, true
		}
	}
	return fsfake.FDView{}, false
}

// clean makes a path that a process uses absolute.
func clean(m *fsfake.Machine, pid int, name string) string {
	return m.Absolute(pid, name)
}

// By is who makes a call of the step on the machine: the task, or a thread or a child of its
// program.
func (st *Step) By(c *Call) fsfake.Task {
	if c.By.Pid != 0 {
		return c.By
	}
	return machineTask(st.Choice.Task)
}

func (st *Step) pidOf(c *Call) int { return st.By(c).Pid }
