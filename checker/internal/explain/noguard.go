package explain

import (
	"slices"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/sched"
)

// lockOver tells of a lock that a task gave back before it looked, where the other takes that lock, too: it guards
// something else.
func (t *teller) lockOver(s span) bool {
	theirs := t.locksOf(s.theirs)
	for _, had := range slices.Backward(t.locksOf(s.mine)) {
		if had.until > 0 && had.until <= s.from && gotBetween(theirs, had.id, 0, len(t.walk.Steps)+1) != nil {
			t.code = "LP1005"
			t.say(" %s gave its lock on %s back %s, before it looked %s.", s.mine, t.lockFile(&had), t.did(had.until),
				t.at(s.from))
			return true
		}
	}
	others := t.claims(s.theirs, s.path, len(t.walk.Steps)+1)
	for _, made := range slices.Backward(t.claims(s.mine, s.path, s.from)) {
		gone := t.removed(made.on.Path, made.on.After.ID)
		if made.on.Before.Exists || gone == nil || gone.By != s.mine || gone.Step >= s.from {
			continue
		}
		if slices.ContainsFunc(others, func(c claim) bool { return c.on.Path == made.on.Path }) {
			t.code = "LP1005"
			t.say("%s and removed it %s, before it looked %s.", t.making(made), t.did(gone.Step), t.at(s.from))
			return true
		}
	}
	return false
}

// neverLocked tells of a file that both tasks open to write to it, and that no call reads, writes, locks or removes: it
// looks like the lock that was meant.
func (t *teller) neverLocked(s span) bool {
	theirs := t.idle(s.theirs)
	for _, mine := range t.idle(s.mine) {
		i := slices.IndexFunc(theirs, func(c claim) bool { return c.on.Path == mine.on.Path })
		if mine.on.Path == s.path || i < 0 {
			continue
		}
		t.code = "LP1016"
		t.say(" %s opened %s %s, and %s %s, but no call locks it.", s.mine, t.called(&mine.on.After), t.at(mine.N),
			s.theirs, t.at(theirs[i].N))
		return true
	}
	return false
}

// idle lists the opens of a task that would make a file of which nothing else is done.
func (t *teller) idle(of sched.Task) []claim {
	return slices.DeleteFunc(t.claims(of, "", len(t.walk.Steps)+1), func(c claim) bool {
		return c.call.Op.Call != fsfake.CallOpen || !c.call.Result.OK() || t.worked(c.on.After.ID)
	})
}

// worked reports whether a call reads, writes, locks or removes a file.
func (s *story) worked(id fsfake.InodeID) bool {
	for i := range s.walk.Steps {
		st := &s.walk.Steps[i]
		for j := range st.Calls {
			is := st.Calls[j].Op.Call
			on := func(on trace.Target) bool { return on.Before.Exists && on.Before.ID == id || on.ID == id }
			works := is.Is(fsfake.Reads) || is.IsLock() || is.Changes() && is != fsfake.CallOpen
			if works && slices.ContainsFunc(st.Targets[j], on) {
				return true
			}
		}
	}
	return false
}
