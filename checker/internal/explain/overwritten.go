package explain

import (
	"slices"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/sched"
)

// overwritten tells of a change that is gone when its maker looks for it: somebody who knew
// the file from before has written it anew, and left the change out.
func (t *teller) overwritten() bool {
	wrong := t.blamedStep()
	if wrong == nil {
		return false
	}
	me := wrong.Choice.Task
	for _, p := range t.sc.Watch {
		l := t.looks[lookKey{me, p}]
		theirs, mine := t.lastTwo(p, me)
		if l == nil || l.how != read || theirs == nil || mine == nil {
			continue
		}
		first, again := t.looksAround(theirs, mine)
		if first == nil {
			continue
		}
		t.say("%s %s. Then %s %s %s.", theirs.By, t.told(first), me, t.whole(mine), t.at(mine.Step))
		if again != nil {
			t.say(" %s %s, and went by its first look all the same: it", theirs.By, t.told(again))
		} else {
			t.say(" %s", theirs.By)
		}
		t.say(" %s %s. %s %s.", t.deed(theirs.Change), t.did(theirs.Step), me, t.told(l))
		return true
	}
	return false
}

// wroteTheSame tells of a write that changes nothing, because somebody else has written the
// same meanwhile: both have computed it from what they had read before, and one of the two
// writes might as well not have been.
func (t *teller) wroteTheSame() bool {
	same := t.counting(t.same)
	if len(same) == 0 {
		return false
	}
	u := same[len(same)-1]
	theirs := u.between[len(u.between)-1]
	t.say("%s %s. Then %s %s %s.", u.task, t.told(u.look), theirs.By, t.deed(theirs.Change), t.at(theirs.Step))
	t.say(" %s did not look again and wrote %s, too, %s: one of the two updates is lost.", u.task,
		t.data(u.call.Data), t.did(u.step))
	t.guard(u)
	return true
}

// notReadAgain tells of somebody who has read a file, and writes it anew after somebody else
// has: what is written was computed from what was read, or from nothing where there was nothing to open. Looks that do
// not read, as mv makes at what it replaces, tell nothing of the contents.
func (t *teller) notReadAgain() bool {
	for _, p := range t.walk.Paths() {
		for _, mine := range slices.Backward(t.changes[p]) {
			if !mine.Before.Exists || !mine.After.Exists || mine.Kind == trace.Touched || mine.Kind == trace.Truncated {
				continue
			}
			l := t.readBefore(mine)
			theirs := t.changedSince(l, mine)
			if theirs == nil || l.how == missing && mine.Before.ID != theirs.After.ID { // it has made a file of its own
				continue
			}
			t.say("%s %s. Then %s %s %s.", mine.By, t.told(l), theirs.By, t.deed(theirs.Change), t.at(theirs.Step))
			t.say(" %s did not read it again and %s %s.", mine.By, t.deed(mine.Change), t.did(mine.Step))
			t.guard(&use{step: mine.Step, task: mine.By, path: p, look: l, between: []*change{theirs}})
			return true
		}
	}
	return false
}

// readBefore is the last read of a name by who changed it, before the change, or its open that found nothing; nil when
// there is none.
func (s *story) readBefore(c *change) *look {
	for _, l := range slices.Backward(s.all[c.By]) {
		if l.path == c.Path && (l.how == read || s.openedNothing(l)) && l.step < c.Step {
			return l
		}
	}
	return nil
}

// openedNothing reports whether a look was an open(2) of a file that is not there.
func (s *story) openedNothing(l *look) bool {
	return l.how == missing && slices.ContainsFunc(s.walk.Steps[l.step-1].Calls, func(c trace.Call) bool {
		return c.Op.Call == fsfake.CallOpen
	})
}

// changedSince is the last change of a name's contents by others between a look and a change.
func (s *story) changedSince(l *look, mine *change) *change {
	if l == nil {
		return nil
	}
	return s.lastChange(mine.Path, func(c *change) bool {
		return c.Step < mine.Step && c.Step > l.step && c.By != mine.By && c.After.Exists && c.Kind != trace.Touched
	})
}

// lastTwo are the last change of a name's contents by others than a task, and the last by
// the task before that.
func (s *story) lastTwo(path string, task sched.Task) (theirs, mine *change) {
	counts := func(c *change) bool { return c.Kind != trace.Touched && c.Kind != trace.Truncated }
	theirs = s.lastChange(path, func(c *change) bool { return counts(c) && c.By != task })
	if theirs == nil {
		return nil, nil
	}
	return theirs, s.lastChange(path, func(c *change) bool { return counts(c) && c.By == task && c.Step < theirs.Step })
}

// looksAround are the first look of a change's maker at the name that is older than
// another change, and its last read in between.
func (s *story) looksAround(theirs, mine *change) (first, again *look) {
	for _, l := range s.all[theirs.By] {
		switch {
		case l.path != theirs.Path || l.how == acted || l.how == created:
		case l.step < mine.Step && first == nil:
			first = l
		case l.step > mine.Step && l.step < theirs.Step && l.how == read:
			again = l
		}
	}
	return first, again
}
