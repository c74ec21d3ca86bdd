package explain

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
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
	if !t.takenAway(u) {
		t.guard(u)
	}
	return true
}

// takenAway tells of a file that the task had made, and another removed: why that one could, which is the mistake.
func (t *teller) takenAway(u *use) bool {
	gone := u.between[0]
	made, ok := t.maker(gone.Path, gone.Before.ID, gone.Step)
	if !gone.Removes() || !ok || made.By != u.task || gone.By.Process == u.task.Process {
		return false
	}
	for _, c := range slices.Backward(t.claims(gone.By, "", gone.Step)) {
		if c.on.Path == gone.Path && c.on.Before.ID == made.After.ID && c.call.Result.OK() {
			t.code = "LP1012"
			t.say(" The open of %s %s took it as it is: without O_EXCL an open refuses nobody.", gone.By, t.did(c.N))
			return true
		}
	}
	t.code = "LP1009"
	if gone.went != nil && gone.went.how == saw || t.judges(gone) {
		t.code = "LP1015"
	}
	t.say(" It was %s that had made it %s, and %s was still at work.", u.task, t.at(made.Step), u.task)
	t.did(gone.Step)
	return true
}

// readAmid tells of a read of a file between two changes that somebody else made to it: what was read was never there
// before or after both.
func (t *teller) readAmid() bool { return t.someAmid(isRead) }

// listedAmid tells so of a listing of a directory. Interpreters list directories by the way.
func (t *teller) listedAmid() bool { return t.someAmid(isList) }

func (t *teller) someAmid(such func(*trace.Walked) bool) bool {
	if t.cx.Said == "" {
		return false
	}
	for i := range t.walk.Steps {
		if st := &t.walk.Steps[i]; such(st) && t.amid(st) {
			return true
		}
	}
	return false
}

// amid tells of a read, whether it is between two changes that another made to what it read.
func (t *teller) amid(st *trace.Walked) bool {
	_, targets := st.Only()
	if len(targets) == 0 {
		return false
	}
	first, second := t.changesAround(st, &targets[0])
	if first == nil {
		return false
	}
	then := t.whole(second)
	if second.Kind == trace.Wrote && second.After.ID == first.After.ID {
		then = "wrote to it"
	}
	t.say("%s %s %s and %s %s. In between, %s, %s %s.", first.By, t.whole(first), t.at(first.Step), then,
		t.did(second.Step), t.at(st.N), st.Choice.Task, t.readHere(st))
	t.code = "LP1014"
	t.guardSpan(span{
		mine: first.By, theirs: st.Choice.Task, path: first.Path, from: first.Step, amid: st.N, to: second.Step,
	})
	return true
}

// readBack tells of a task that wrote a file and reads it back after somebody else has written it. It is why nothing is
// left of what that task did.
func (t *teller) readBack() bool {
	if t.cx.Kind != scenarios.Undone {
		return false
	}
	for i := range t.walk.Steps {
		st := &t.walk.Steps[i]
		call, targets := st.Only()
		if !isRead(st) || call.Result.Data == "" {
			continue
		}
		var mine, theirs *change
		for _, c := range t.changesOf(targets[0].Path) {
			switch {
			case c.Step > st.N || c.Kind != trace.Wrote:
			case c.By == st.Choice.Task:
				mine, theirs = c, nil
			case mine != nil:
				theirs = c
			}
		}
		if theirs != nil {
			t.say("%s %s %s. Then %s %s %s. So %s %s %s, which it has not written.", mine.By, t.whole(mine), t.at(mine.Step),
				theirs.By, t.whole(theirs), t.at(theirs.Step), st.Choice.Task, t.readHere(st), t.did(st.N))
			return true
		}
	}
	return false
}

// isList reports whether a step lists a directory.
func isList(st *trace.Walked) bool {
	c, targets := st.Only()
	return c != nil && c.Op.Call == fsfake.CallReaddir && c.Result.OK() && len(targets) > 0
}

// readHere tells what a read found.
func (t *teller) readHere(st *trace.Walked) string {
	call, targets := st.Only()
	on := targets[0].Path
	switch {
	case !isList(st) && call.Result.Data == "":
		return "found " + t.walk.Names.Short(on) + " empty"
	case !isList(st):
		return "read " + t.data(call.Result.Data) + " from " + t.walk.Names.Short(on)
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

// changesOf lists the changes of a file, or of which names stand in a directory, in order.
func (s *story) changesOf(p string) []*change {
	var out []*change
	for name, all := range s.changes { // order does not matter: they are sorted
		for _, c := range all {
			if name == p || path.Dir(name) == p && c.Before.Exists != c.After.Exists {
				out = append(out, c)
			}
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
		t.closest()
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

// closest says in which files an end differs from that of the serial order that comes closest to it, and who changed
// these last.
func (t *teller) closest() {
	if t.cx.Property.Table == nil {
		return
	}
	rows := t.cx.Property.Table(scenarios.NewView(t.cx.Trace[len(t.cx.Trace)-1].After))
	var order string
	var best []*change
	for k := 2; len(rows) > 0 && k < len(rows[0]); k++ {
		var differ []*change
		for _, row := range rows[1:] {
			if c := t.lastAt(row[0]); c != nil && row[1] != row[k] {
				differ = append(differ, c)
			}
		}
		if len(differ) > 0 && (best == nil || len(differ) < len(best)) {
			order, best = rows[0][k], differ
		}
	}
	if best == nil {
		return
	}
	c := best[len(best)-1]
	t.say("%s comes closest. What differs: %s %s %s. ", upper(order), c.By, t.whole(c), t.at(c.Step))
}

// lastAt is the last change of the file that a table calls so, relative to the directory of the commands; nil for none.
// Of several paths that end so the shortest is meant: others lie in directories below.
func (s *story) lastAt(name string) *change {
	at := ""
	for p := range s.changes { // order does not matter: the smallest is taken
		shorter := at == "" || len(p) < len(at) || len(p) == len(at) && p < at
		if shorter && strings.HasSuffix(p, "/"+strings.TrimPrefix(name, "/")) {
			at = p
		}
	}
	all := s.changes[at]
	if len(all) == 0 || s.deed(all[len(all)-1].Change).verb == "" {
		return nil
	}
	return all[len(all)-1]
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

// happened says what others than a task changed from one step to another, or that they made calls. Files that came and
// went meanwhile are left out.
func (t *teller) happened(from, to int, but sched.Task) string {
	var all []*trace.Change
	first, last := map[string]*trace.Change{}, map[string]*trace.Change{}
	who := but
	for n := from; n <= to; n++ {
		st := &t.walk.Steps[n-1]
		if st.Choice.Task == but {
			continue
		}
		who = st.Choice.Task
		for k := range st.Changes {
			c := &st.Changes[k]
			if first[c.Path] == nil {
				first[c.Path] = c
			}
			last[c.Path], all = c, append(all, c)
		}
	}
	var done []*trace.Change
	for _, c := range all {
		gone := !first[c.Path].Before.Exists && !last[c.Path].After.Exists
		again := len(done) > 0 && done[len(done)-1].Path == c.Path && done[len(done)-1].Kind == c.Kind
		if t.deed(c).verb != "" && c.Kind != trace.RenamedAway && !gone && !again {
			done = append(done, c)
		}
	}
	const most = 3
	switch n := len(done); {
	case n == 0:
		return fmt.Sprintf("%s made the calls of steps %d to %d", who, from, to)
	case n > most:
		done = append(done[:1], done[n-most+1:]...)
	}
	var parts []string
	for _, c := range done {
		parts = append(parts, fmt.Sprintf("%s %s %s", c.By, t.whole(&change{Change: c}), t.at(c.Step)))
	}
	return strings.Join(parts, ", ")
}
