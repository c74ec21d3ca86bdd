package explain

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/sched"
)

// turnedAway tells of a call that was refused because of what others had changed since its task
// looked: nothing was overwritten, but who looked first has ended otherwise than it would have
// alone.
func (t *teller) turnedAway() bool {
	if t.cx.Said == "" || len(t.refusals) == 0 {
		return false
	}
	u := t.refusals[len(t.refusals)-1]
	t.say("%s %s. Then %s.", u.task, t.told(u.look), t.meanwhile(u.between))
	t.say(" %s did not look again, and %s was told %s %s.", u.task, u.call.Call, fsfake.ErrnoName(u.errno), t.did(u.step))
	t.guard(u)
	return true
}

// readAmid tells of a read of files, or of a directory, between two changes that somebody else
// made to them: what was read was never there before or after both.
func (t *teller) readAmid() bool {
	if t.cx.Said == "" {
		return false
	}
	for i := range t.walk.Steps {
		st := &t.walk.Steps[i]
		if !isRead(st) && !isList(st) {
			continue
		}
		if first, second := t.changesAround(st, &st.Targets[0][0]); first != nil {
			t.say("%s %s %s and %s %s. In between, %s, %s %s.", first.By, t.whole(first), t.at(first.Step), t.whole(second),
				t.did(second.Step), t.at(st.N), st.Choice.Task, t.readHere(st))
			t.code = "LP1014"
			t.guardSpan(span{
				mine: first.By, theirs: st.Choice.Task, path: first.Path, from: first.Step, amid: st.N, to: second.Step,
			})
			return true
		}
	}
	return false
}

// isList reports whether a step lists a directory.
func isList(st *trace.Walked) bool {
	return len(st.Calls) == 1 && st.Calls[0].Op.Call == fsfake.CallReaddir && st.Calls[0].Result.OK() && len(st.Targets[0]) > 0
}

// readHere tells what a read found.
func (t *teller) readHere(st *trace.Walked) string {
	on := st.Targets[0][0].Path
	switch {
	case !isList(st) && st.Calls[0].Result.Data == "":
		return "found " + t.walk.Names.Short(on) + " empty"
	case !isList(st):
		return "read " + t.data(st.Calls[0].Result.Data) + " from " + t.walk.Names.Short(on)
	case on == t.walk.Names.Dir():
		return "listed the directory"
	}
	return "listed " + t.walk.Names.Short(on)
}

// changesAround finds the last change by one task before a step and the first after it, of what
// another reads there: a file, or what stands in a directory.
func (t *teller) changesAround(st *trace.Walked, on *trace.Target) (first, second *change) {
	for _, c := range t.changesOf(on.Path) {
		switch {
		case c.Step < st.N && c.By != st.Choice.Task:
			first = c
		case c.Step > st.N && first != nil && c.By == first.By:
			return first, c
		}
	}
	return nil, nil
}

// changesOf lists the changes of a file, or of what stands in a directory, in order.
func (s *story) changesOf(p string) []*change {
	var out []*change
	for name, all := range s.changes { // order does not matter: they are sorted
		if name == p || path.Dir(name) == p {
			out = append(out, all...)
		}
	}
	out = slices.DeleteFunc(out, func(c *change) bool { return c.Kind == trace.Touched || c.Kind == trace.RenamedAway })
	slices.SortFunc(out, func(a, b *change) int { return cmp.Or(a.Step-b.Step, strings.Compare(a.Path, b.Path)) })
	return out
}

// interrupted tells between which two of its calls a task was preempted the last time, and what
// others did there. It is for what is said of an end: the counterexample is the smallest, so that
// what happened in between counts.
func (t *teller) interrupted() bool {
	if t.cx.Said == "" {
		return false
	}
	for _, away := range slices.Backward(t.walk.Steps) {
		if !away.Preempts {
			continue
		}
		preempted := t.walk.Steps[away.N-2].Choice
		before, after := t.onFile(away.N-1, -1, preempted), t.onFile(away.N, 1, preempted)
		if before == nil || after == nil {
			continue
		}
		t.say("Between %s %s and %s %s, both by %s, %s", t.walk.Names.Call(before.Calls[0].Op), t.at(before.N),
			t.walk.Names.Call(after.Calls[0].Op), t.did(after.N), preempted.Task, t.happened(before.N+1, after.N-1, preempted.Task))
		if e := after.Calls[0].Result.Errno; e != 0 {
			t.say(", so that it was told %s", fsfake.ErrnoName(e))
		}
		t.say(".")
		return true
	}
	return false
}

// onFile is the step nearest to one, back or on, in which a task made a call on a file; nil when
// there is none.
func (s *story) onFile(from, by int, c sched.Choice) *trace.Walked {
	for n := from; n >= 1 && n <= len(s.walk.Steps); n += by {
		if st := &s.walk.Steps[n-1]; st.Choice == c && len(st.Calls) > 0 && len(st.Targets[0]) > 0 {
			return st
		}
	}
	return nil
}

// happened says what others than a task changed from one step to another, or that they made calls.
func (t *teller) happened(from, to int, but sched.Task) string {
	var parts []string
	var last *trace.Change
	who := but
	for n := from; n <= to; n++ {
		st := &t.walk.Steps[n-1]
		if st.Choice.Task == but {
			continue
		}
		who = st.Choice.Task
		for k := range st.Changes {
			c := &st.Changes[k]
			if t.deed(c).verb == "" || c.Kind == trace.RenamedAway || last != nil && last.Path == c.Path && last.Kind == c.Kind {
				continue
			}
			parts, last = append(parts, fmt.Sprintf("%s %s %s", c.By, t.whole(&change{Change: c}), t.at(c.Step))), c
		}
	}
	const most = 3
	switch n := len(parts); {
	case n == 0:
		return fmt.Sprintf("%s made the calls of steps %d to %d", who, from, to)
	case n > most:
		parts = append(parts[:1], parts[n-most+1:]...)
	}
	return strings.Join(parts, ", ")
}
