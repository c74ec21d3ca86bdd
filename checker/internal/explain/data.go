package explain

import (
	"slices"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/sched"
)

// torn tells of a read in the middle of somebody's change, of a read that is an operation.
func (t *teller) torn() bool {
	st := t.blamedStep()
	if st == nil {
		return false
	}
	_, ok := t.operationAt(st).input.(model.Read)
	return ok && t.midway()
}

// midway tells of an answer that was read in the middle of somebody's change: between two
// of the calls that one operation makes.
func (t *teller) midway() bool {
	st := t.blamedStep()
	if st == nil {
		return false
	}
	if t.readMidway(t.operationAt(st)) {
		return true
	}
	return slices.ContainsFunc(t.done, func(op operation) bool { return ofData(op.input) && t.readMidway(op) })
}

// readMidway tells of an operation that read in the middle of somebody's change.
func (t *teller) readMidway(reading operation) bool {
	var reads []*trace.Walked
	for n := max(reading.first, 1); n <= reading.last; n++ {
		if at := &t.walk.Steps[n-1]; at.Choice.Task == reading.task && isRead(at) {
			reads = append(reads, at)
		}
	}
	for _, at := range reads {
		call, targets := at.Only()
		on, text := targets[0], call.Result.Data
		before, after := t.around(on.ID, reading.task, at.N)
		switch {
		case before == nil || before.Step <= 0:
			continue
		case after != nil && t.oneChange(before, after):
			t.say("%s %s %s and %s %s. %s read %s from it in between, %s.", before.By, t.whole(before), t.did(before.Step),
				t.deed(after.Change), t.at(after.Step), reading.task, t.data(text), t.at(at.N))
			return true
		case t.cut(before) > 0:
			t.say("%s %s %s and was killed %s, before it could go on. %s read %s from it %s.", before.By, t.whole(before),
				t.did(before.Step), t.at(t.cut(before)), reading.task, t.data(text), t.at(at.N))
			return true
		case t.unfinished(before) || t.goesOn(before, at.N):
			t.say("%s %s %s and had more to write. %s read %s from it in between, %s.", before.By, t.whole(before),
				t.did(before.Step), reading.task, t.data(text), t.at(at.N))
			return true
		}
	}
	return t.halves(reading, reads)
}

// whole tells a change with the file's name.
func (t *teller) whole(c *change) string {
	f := c.After
	switch c.Kind {
	case trace.Emptied:
		return "emptied " + t.called(&f)
	case trace.Wrote:
		return "wrote to " + t.called(&f)
	case trace.Created:
		return making(&f) + " " + t.called(&f)
	case trace.Linked, trace.RenamedHere:
		return t.made(c)
	case trace.Replaced:
		return "put " + t.called(&f) + " in the place of " + t.object(&c.Before)
	case trace.Unlinked:
		return t.deed(c.Change).verb + " " + t.called(&c.Before)
	}
	return t.deed(c.Change).String()
}

// halves tells of a read in pieces, with somebody's change in between.
func (t *teller) halves(reading operation, reads []*trace.Walked) bool {
	for i := 1; i < len(reads); i++ {
		_, targets := reads[i-1].Only()
		id := targets[0].ID
		for _, p := range t.walk.Paths() {
			for _, c := range t.changes[p] {
				if c.By != reading.task && c.Step > reads[i-1].N && c.Step < reads[i].N && (c.Before.ID == id || c.After.ID == id) {
					t.say("%s read the first piece %s and the next %s. In between %s %s %s.", reading.task, t.at(reads[i-1].N),
						t.did(reads[i].N), c.By, t.whole(c), t.at(c.Step))
					return true
				}
			}
		}
	}
	return false
}

// isRead reports whether a step reads a file or lists a directory.
func isRead(st *trace.Walked) bool {
	c, targets := st.Only()
	return c != nil && c.Op.Call.Is(fsfake.Reads) && c.Result.OK() && len(targets) > 0
}

// around finds the changes of a file's contents by others right before and after a step.
func (s *story) around(id fsfake.InodeID, but sched.Task, step int) (before, after *change) {
	for _, p := range s.walk.Paths() {
		for _, c := range s.changes[p] {
			switch {
			case c.After.ID != id || c.By == but || c.Kind == trace.Touched:
			case c.Step < step && (before == nil || c.Step > before.Step):
				before = c
			case c.Step > step && (after == nil || c.Step < after.Step):
				after = c
			}
		}
	}
	return before, after
}

// oneChange reports whether one operation made both changes.
func (s *story) oneChange(a, b *change) bool {
	if a.By != b.By {
		return false
	}
	for _, op := range s.done {
		if op.task == a.By && op.first <= a.Step && b.Step <= op.last {
			return ofData(op.input)
		}
	}
	return s.unfinished(a)
}

// ofData reports whether an operation is about data: taking and giving back a lock are
// not.
func ofData(input any) bool {
	switch input.(type) {
	case model.Acquire, model.Release, model.RAcquire, model.WAcquire, model.RRelease, model.WRelease:
		return false
	}
	return true
}

// goesOn reports whether the operation that made a change ended after a step.
func (s *story) goesOn(c *change, step int) bool {
	return slices.ContainsFunc(s.done, func(op operation) bool {
		return op.task == c.By && op.first <= c.Step && op.last > step && ofData(op.input)
	})
}

// cut is the step in which the process of a change was killed within the operation that
// made it; 0 when it was not.
func (s *story) cut(c *change) int {
	if !s.unfinished(c) {
		return 0
	}
	return s.killedAt(c)
}

// unfinished reports whether the operation that made a change goes on at the end.
func (s *story) unfinished(c *change) bool {
	op, pending := s.begun[c.By]
	return pending && op.first <= c.Step && ofData(op.input)
}
