package report

import (
	"fmt"
	"slices"

	"lockpick/checker/trace"
	"lockpick/fsfake"
)

// Most calls of a real program concern nobody else: its script, its descriptors, its children.
// In a chart of real programs they are folded, however many rows there are, and the calls on
// what somebody changes or locks are all shown.

// ownLeast is how many calls of its own a stretch has at least to be folded.
const ownLeast = 2

// An ownFold tells calls that concern nobody else.
type ownFold struct {
	names  []string
	inodes []fsfake.InodeID
}

// newOwnFold collects what somebody changes or locks in a walk.
func newOwnFold(w *trace.Walk) *ownFold {
	o := &ownFold{}
	for i := range w.Steps {
		st := &w.Steps[i]
		for _, c := range st.Changes {
			o.names = append(o.names, c.Path, c.Other)
			o.inodes = append(o.inodes, c.Before.ID, c.After.ID)
		}
		for k, c := range st.Calls {
			if !c.Op.Call.IsLock() {
				continue
			}
			for _, t := range st.Targets[k] {
				o.inodes = append(o.inodes, t.ID)
			}
		}
	}
	nothing := func(id fsfake.InodeID) bool { return id == 0 }
	o.inodes = slices.DeleteFunc(o.inodes, nothing)
	o.names = slices.DeleteFunc(o.names, func(n string) bool { return n == "" })
	return o
}

// own reports whether a step concerns nobody but its task.
func (o *ownFold) own(st *trace.Walked) bool {
	if len(st.Changes) > 0 || st.Exited || len(st.Calls) == 0 || setsAttrs(st) {
		return false
	}
	for k, c := range st.Calls {
		switch is := c.Op.Call; {
		case is.Is(fsfake.Public):
			return false
		case is == fsfake.CallChoose:
			if c.Op.Off > 0 { // not as it goes when it runs alone
				return false
			}
		case is.Is(fsfake.Closes | fsfake.Duplicates):
			if !o.unlocks(st, k) {
				continue
			}
		}
		if c.Op.Call.IsLock() || slices.ContainsFunc(st.Targets[k], o.shared) {
			return false
		}
	}
	return true
}

// setsAttrs reports whether a step changes the permissions or the owner of a file.
func setsAttrs(st *trace.Walked) bool {
	for k, c := range st.Calls {
		if c.Op.Call.Changes() && slices.ContainsFunc(st.Targets[k], func(t trace.Target) bool {
			b, a := st.Before.Inode(t.ID), st.After.Inode(t.ID)
			return b.Mode != a.Mode || b.UID != a.UID || b.GID != a.GID
		}) {
			return true
		}
	}
	return false
}

// shared reports whether somebody changes or locks a target.
func (o *ownFold) shared(t trace.Target) bool {
	return slices.Contains(o.names, t.Path) || t.ID != 0 && slices.Contains(o.inodes, t.ID)
}

// unlocks reports whether a call has changed the locks of its targets.
func (o *ownFold) unlocks(st *trace.Walked, k int) bool {
	return slices.ContainsFunc(st.Targets[k], func(t trace.Target) bool {
		if t.ID == 0 {
			return false
		}
		b, a := st.Before.Inode(t.ID), st.After.Inode(t.ID)
		return len(b.Flocks) != len(a.Flocks) || len(b.Records) != len(a.Records)
	})
}

// foldedOwn returns the chart with stretches of calls of a task's own as one row each.
func (c *Chart) foldedOwn(cycle int) *Chart {
	o := newOwnFold(c.Walk)
	foldable := func(i int) bool {
		r := &c.Rows[i]
		return r.Lane >= 0 && !r.Fault && !r.Wrong && !slices.Contains(c.Named, r.N) && i+1 < len(c.Rows) && o.own(&c.Walk.Steps[r.N-1])
	}
	stretch := func(i int) (n int) {
		for i+n < len(c.Rows)-cycle && foldable(i+n) && c.Rows[i+n].Lane == c.Rows[i].Lane &&
			(n == 0 || !c.Rows[i+n].Preempts) {
			n++
		}
		return n
	}
	f := *c
	f.Rows = nil
	for i := 0; i < len(c.Rows); {
		n := max(stretch(i), 1)
		row := c.Rows[i]
		if n >= ownLeast {
			row = c.own(i, n)
		}
		f.Rows = append(f.Rows, row)
		i += n
	}
	return &f
}

// own makes one row of several.
func (c *Chart) own(from, n int) Row {
	before := c.First
	if from > 0 {
		before = c.Rows[from-1].Files
	}
	r := c.Rows[from+n-1]
	r.N, r.Preempts, r.Folded, r.Source = c.Rows[from].N, c.Rows[from].Preempts, n, ""
	text := fmt.Sprintf("%d calls of its own", n)
	r.Calls = []CallText{{Call: text, Terse: text}}
	r.Files = slices.Clone(r.Files)
	for k := range r.Files {
		r.Files[k].Changed = r.Files[k].Text != before[k].Text
	}
	return r
}
