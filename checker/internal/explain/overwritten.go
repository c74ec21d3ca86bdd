package explain

import (
	"slices"

	"lockpick/checker/trace"
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

// lastTwo are the last change of a name's contents by others than a task, and the last by
// the task before that.
func (s *story) lastTwo(path string, task sched.Task) (theirs, mine *change) {
	for _, c := range slices.Backward(s.changes[path]) {
		switch {
		case c.Kind == trace.Touched || c.Kind == trace.Truncated:
		case theirs == nil && c.By != task:
			theirs = c
		case theirs != nil && c.By == task:
			return theirs, c
		}
	}
	return theirs, nil
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
