package explain

import (
	"fmt"
	"slices"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/sched"
)

// A claim is a call that makes a lock file or directory, or finds it made.
type claim struct {
	*trace.Walked
	on   *trace.Target
	call *trace.Call
}

// claims lists the calls of a task before a step that would make a name: all of them but those of files that are
// renamed later, which are drafts, and second names of files that it has not made, which are backups. Neither is a
// lock.
func (t *teller) claims(of sched.Task, but string, before int) []claim {
	var out []claim
	for n := 1; n < before; n++ {
		st := &t.walk.Steps[n-1]
		for i := range st.Calls {
			c := &st.Calls[i]
			if st.Choice.Task != of || len(st.Targets[i]) == 0 || !makes(&c.Op) {
				continue
			}
			on := &st.Targets[i][len(st.Targets[i])-1]
			if on.Path != but && !t.draft(on.Path) && !t.backup(of, c, st.Targets[i]) {
				out = append(out, claim{st, on, c})
			}
		}
	}
	return out
}

// makes reports whether a call makes a name when nothing stands there.
func makes(op *fsfake.Op) bool {
	return op.Call.Is(fsfake.Creates) || op.Call == fsfake.CallOpen && op.Flags&fsfake.O_CREAT != 0
}

// draft reports whether a file is renamed in the walk.
func (s *story) draft(p string) bool {
	for i := range s.walk.Steps {
		renamed := func(c trace.Change) bool { return c.Kind != trace.Linked && c.Other == p }
		if slices.ContainsFunc(s.walk.Steps[i].Changes, renamed) {
			return true
		}
	}
	return false
}

// twoDrafts reports whether several processes write new versions of data under one name: each opens it as if it made
// it, and it is renamed to the data.
func (s *story) twoDrafts(p string) bool {
	toData, writers := false, map[int]bool{}
	for i := range s.walk.Steps {
		st := &s.walk.Steps[i]
		toData = toData || slices.ContainsFunc(st.Changes, func(c trace.Change) bool {
			return c.Kind != trace.Linked && c.Other == p && s.isData(c.Path)
		})
		for k := range st.Calls {
			c, of := &st.Calls[k], func(t trace.Target) bool { return t.Path == p }
			if creates(&c.Op) && c.Result.OK() && slices.ContainsFunc(st.Targets[k], of) {
				writers[st.Choice.Task.Process] = true
			}
		}
	}
	return toData && len(writers) > 1
}

// backup reports whether a call links a file that its task's process has not made in the walk.
func (s *story) backup(of sched.Task, c *trace.Call, on []trace.Target) bool {
	if c.Op.Call != fsfake.CallLink {
		return false
	}
	for i := range s.walk.Steps {
		if slices.ContainsFunc(s.walk.Steps[i].Changes, func(c trace.Change) bool {
			return c.Kind == trace.Created && c.By.Process == of.Process && c.After.ID == on[0].Before.ID
		}) {
			return false
		}
	}
	return true
}

// nameLock tells of a lock file or directory that did not keep the other out. What nobody removes is no lock.
func (t *teller) nameLock(s span) bool {
	for _, one := range []struct {
		has, other sched.Task
		until      int // the other one's last step that the lock should have kept out
	}{{s.mine, s.theirs, s.amid}, {s.theirs, s.mine, s.to}} {
		for _, made := range t.claims(one.has, s.path, one.until) {
			gone := t.removed(made.on.Path, made.on.After.ID)
			if made.on.Before.Exists || !made.on.After.Exists || gone == nil {
				continue
			}
			for _, c := range slices.Backward(t.claims(one.other, s.path, one.until)) {
				if c.on.Path != made.on.Path || c.N < made.N {
					continue
				}
				if t.passedBy(made, c) || c.call.Result.OK() && c.N > gone.Step && t.goneBefore(s, made, c, gone) {
					return true
				}
				break
			}
		}
	}
	return t.madeLate(s)
}

// madeLate tells of a lock that was made only after the look, while the other had it when it changed what was seen.
func (t *teller) madeLate(s span) bool {
	for _, theirs := range t.claims(s.theirs, s.path, s.amid) {
		gone := t.removed(theirs.on.Path, theirs.on.After.ID)
		if theirs.on.Before.Exists || gone == nil || gone.Step < s.amid {
			continue
		}
		for _, mine := range t.claims(s.mine, s.path, s.to) {
			if mine.N > s.from && mine.N > gone.Step && mine.on.Path == theirs.on.Path && mine.call.Result.OK() {
				t.code = "LP1006"
				t.say("%s only, after it had looked %s.", t.making(mine), t.at(s.from))
				return true
			}
		}
	}
	return false
}

func (t *teller) making(made claim) string {
	return fmt.Sprintf(" %s %s %s %s", made.Choice.Task, making(&made.on.After), t.called(&made.on.After), t.at(made.N))
}

// passedBy tells of a task that met what another had made, with its last call that would make it, and went on.
func (t *teller) passedBy(made, c claim) bool {
	switch {
	case c.on.Before.ID != made.on.After.ID || t.everLocked(c.on.ID):
		return false
	case c.call.Result.OK():
		t.code = "LP1012"
		t.say("%s, but the open of %s %s took it as it is: without O_EXCL an open refuses nobody.", t.making(made),
			c.Choice.Task, t.did(c.N))
	default:
		t.code = "LP1008"
		t.say("%s. %s was told %s by %s %s, and went on as if it had not been.", t.making(made), c.Choice.Task,
			fsfake.ErrnoName(c.call.Result.Errno), t.walk.Names.Call(c.call.Op), t.did(c.N))
	}
	return true
}

// goneBefore tells of a lock that another could make anew, because it was removed by somebody else, or by
// its maker before the end of the span.
func (t *teller) goneBefore(s span, made, c claim, gone *change) bool {
	by, looked, end := gone.By, s.from, s.to
	if made.Choice.Task == s.theirs {
		looked, end = t.lookedAt(s), s.amid
	}
	switch {
	case by.Process == made.Choice.Task.Process && made.N < looked && looked < gone.Step && gone.Step < end:
		t.code = "LP1005"
		t.say("%s and removed it %s, before the call %s.", t.making(made), t.did(gone.Step), t.at(end))
	case by.Process != made.Choice.Task.Process:
		t.code = "LP1009"
		if t.judges(gone) {
			t.code = "LP1015"
		}
		t.say("%s, but %s removed it %s", t.making(made), by, t.at(gone.Step))
		for _, own := range t.claims(by, s.path, gone.Step) {
			if own.on.Path == gone.Path && !own.call.Result.OK() {
				t.say(", although it had been refused %s", t.at(own.N))
				break
			}
		}
		t.say(".")
		t.jumped(gone.Step)
	default:
		return false
	}
	t.say(" So %s could make its own %s.", c.Choice.Task, t.at(c.N))
	return true
}

// judges reports whether somebody who removes a file has judged whether its maker lives, or how old it is: it has
// looked at the file and at the clock.
func (s *story) judges(gone *change) bool {
	clocks := s.clocks[gone.By]
	return gone.went != nil && (len(gone.went.judged) > 0 ||
		gone.went.how == saw && len(clocks) > 0 && clocks[0] < gone.Step)
}

// everLocked reports whether anybody has a kernel lock on a file at any time.
func (s *story) everLocked(id fsfake.InodeID) bool {
	return slices.ContainsFunc(s.kernelLocks(), func(h held) bool { return h.id == id })
}

// removed is the change that took a file away from its name; nil for none.
func (s *story) removed(p string, id fsfake.InodeID) *change {
	for _, c := range s.changes[p] {
		if c.Removes() && c.Before.ID == id {
			return c
		}
	}
	return nil
}
