package trace

import (
	"slices"

	"lockpick/fsfake"
	"lockpick/internal/lists"
	"lockpick/sched"
)

// A Change is what a step did to what stands at a name, or to a file that no name leads to.
type Change struct {
	Kind ChangeKind
	Step int
	// By is who did it; of a power loss and of a kill there is no call and nobody to name.
	By sched.Task
	// Path is the name; empty for a file that has none.
	Path string
	// Before and After are what stood at the name.
	Before, After FileState
	// Other is the name that the file had before, of a rename or a link, or that it got, of
	// RenamedAway; empty for any other kind.
	Other string
	// Call is the call that did it.
	Call fsfake.Op
}

// A ChangeKind says what became of a name.
type ChangeKind uint8

// The kinds of changes.
const (
	// Created: there was nothing, and a new file, directory or symlink stands there.
	Created ChangeKind = iota + 1
	// Linked: there was nothing, and a file that has another name stands there, too.
	Linked
	// RenamedHere: there was nothing, and a file that had another name stands there.
	RenamedHere
	// Replaced: another file stands there than before.
	Replaced
	// Unlinked: nothing stands there any more, and the file has not got another name.
	Unlinked
	// RenamedAway: nothing stands there any more, and the file has got another name.
	RenamedAway
	// Wrote: the contents differ.
	Wrote
	// Emptied: the contents are gone.
	Emptied
	// Truncated: a call truncated the file, which was empty already.
	Truncated
	// Touched: the modification time differs and nothing else.
	Touched
)

// Identity reports whether another file stands at the name than before, or none.
func (c *Change) Identity() bool {
	return c.Before.Exists != c.After.Exists || c.Before.ID != c.After.ID
}

// Removes reports whether the file that stood at the name does so no more.
func (c *Change) Removes() bool { return c.Before.Exists && c.Identity() }

// changes compares the disk before and after a step.
func (st *Walked) changes() []Change {
	var out []Change
	before, after := st.Before, st.After
	add := func(kind ChangeKind, path, other string, b, a FileState) {
		out = append(out, Change{
			Kind: kind, Step: st.N, By: st.Choice.Task, Path: path, Other: other, Before: b, After: a, Call: st.diskCall(),
		})
	}
	for _, n := range merged(before.tree, after.tree) {
		b, a := before.File(n), after.File(n)
		switch {
		case !b.Exists:
			kind, other := arrival(before, after, a.ID)
			add(kind, n, other, b, a)
		case !a.Exists:
			kind, other := departure(before, after, b.ID)
			add(kind, n, other, b, a)
		case b.ID != a.ID:
			_, other := arrival(before, after, a.ID)
			add(Replaced, n, other, b, a)
		default:
			if kind := st.contents(&b, &a); kind != 0 {
				add(kind, n, "", b, a)
			}
		}
	}
	return append(out, st.nameless()...)
}

// nameless lists changes of files that descriptors lead to and no name does.
func (st *Walked) nameless() []Change {
	var out []Change
	for i := range st.Targets {
		for _, t := range st.Targets[i] {
			if !t.ByFD || len(st.After.machine.Paths(t.ID)) > 0 {
				continue
			}
			b := FileState{Exists: true, FileView: st.Before.machine.View(t.ID)}
			a := FileState{Exists: true, FileView: st.After.machine.View(t.ID)}
			if kind := st.contents(&b, &a); kind != 0 {
				out = append(out, Change{Kind: kind, Step: st.N, By: st.Choice.Task, Before: b, After: a, Call: st.Calls[i].Op})
			}
		}
	}
	return out
}

// merged lists the names of two trees, each once.
func merged(before, after []fsfake.NameView) []string {
	out := lists.Map(before, func(n fsfake.NameView) string { return n.Path })
	for _, n := range after {
		if !slices.ContainsFunc(before, func(b fsfake.NameView) bool { return b.Path == n.Path }) {
			out = append(out, n.Path)
		}
	}
	return out
}

// arrival says how an inode came to a name: the other name is one that it had before.
func arrival(before, after *State, id fsfake.InodeID) (ChangeKind, string) {
	had := before.names(id)
	switch {
	case len(had) == 0:
		return Created, ""
	case slices.Contains(after.names(id), had[0]):
		return Linked, had[0]
	}
	return RenamedHere, had[0]
}

// departure says how an inode left a name.
func departure(before, after *State, id fsfake.InodeID) (ChangeKind, string) {
	had := before.names(id)
	for _, n := range after.names(id) {
		if !slices.Contains(had, n) {
			return RenamedAway, n
		}
	}
	return Unlinked, ""
}

// contents says what became of a file that has stayed at its name; 0 for nothing. What
// became of the names in a directory is said of these.
func (st *Walked) contents(b, a *FileState) ChangeKind {
	touched := b.Mtime != a.Mtime
	switch {
	case b.Content != a.Content && a.Content == "":
		return Emptied
	case b.Content != a.Content:
		return Wrote
	case st.truncates(a.ID):
		return Truncated
	case touched && (a.Kind == fsfake.KindFile || st.setsTimes(a.ID)):
		return Touched
	}
	return 0
}

// truncates reports whether a call of the step has truncated a file.
func (st *Walked) truncates(id fsfake.InodeID) bool {
	return st.did(id, func(op *fsfake.Op) bool {
		return op.Call.Is(fsfake.Truncates) || op.Call == fsfake.CallOpen && op.Flags&fsfake.O_TRUNC != 0
	})
}

// setsTimes reports whether a call of the step has set the times of a file.
func (st *Walked) setsTimes(id fsfake.InodeID) bool {
	return st.did(id, func(op *fsfake.Op) bool { return op.Call.Is(fsfake.SetsTimes) })
}

// did reports whether a call of the step that does something has succeeded on a file.
func (st *Walked) did(id fsfake.InodeID, does func(*fsfake.Op) bool) bool {
	for i := range st.Targets {
		c := &st.Calls[i]
		if c.Result.OK() && does(&c.Op) && slices.ContainsFunc(st.Targets[i], func(t Target) bool { return t.ID == id }) {
			return true
		}
	}
	return false
}

// diskCall is the call that changed the disk: of a step's calls one at most touches it.
func (st *Walked) diskCall() fsfake.Op {
	for i := range st.Calls {
		if op := &st.Calls[i].Op; !op.Call.IsCell() {
			return *op
		}
	}
	return fsfake.Op{}
}
