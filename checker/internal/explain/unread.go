package explain

import (
	"fmt"

	"lockpick/checker/trace"
	"lockpick/sched"
)

// unread tells of somebody who changed a file that others had changed, and had not read
// it: what it went by is another file, which the others had no time to change.
func (t *teller) unread() bool {
	last := t.last()
	if last == nil || last.Choice.Action != sched.Run {
		return false
	}
	me := last.Choice.Task
	for _, p := range t.sc.Watch {
		mine, theirs := t.lastChanges(p, me)
		if !t.counts(p) || mine == nil || theirs == nil || !mine.Before.Exists || mine.Before.ID != theirs.After.ID {
			continue
		}
		if mine.went == nil || t.readBefore(mine) != nil {
			continue
		}
		t.say("%s %s %s", theirs.By, t.whole(theirs), t.at(theirs.Step))
		if k := t.killedAt(theirs); k > 0 {
			t.say(" and was killed %s", t.at(k))
		}
		t.say(". %s had not read %s when it %s %s", me, t.walk.Names.Short(p), t.deed(mine.Change), t.did(mine.Step))
		if found := t.foundReplaced(me, theirs); found != "" {
			t.say(": %s", found)
		} else if l := t.lookBefore(me, p, mine.Step); l != nil {
			t.say(": it went by this: it %s", t.told(l))
		}
		t.say(".")
		return true
	}
	return false
}

// foundReplaced tells of a task that saw one file at a name and then opened the other that had come in its place, as
// cp does, which copies nothing then.
func (t *teller) foundReplaced(me sched.Task, by *change) string {
	var seen *look
	for _, l := range t.all[me] {
		switch {
		case l.path != by.Path || l.how != saw && l.how != opened:
		case l.step < by.Step && l.file.ID == by.Before.ID:
			seen = l
		case seen != nil && l.step > by.Step && l.file.ID == by.After.ID:
			return fmt.Sprintf("it had seen %s %s and found %s there %s", t.object(&seen.file), t.at(seen.step),
				t.object(&l.file), t.at(l.step))
		}
	}
	return ""
}

// lastChanges are the last change of a name by a task, and the last by others before that.
func (s *story) lastChanges(path string, task sched.Task) (mine, theirs *change) {
	counts := func(c *change) bool {
		return c.Kind != trace.Touched && c.Kind != trace.Truncated && c.Kind != trace.RenamedAway
	}
	if mine = s.lastChange(path, func(c *change) bool { return counts(c) && c.By == task }); mine == nil {
		return nil, nil
	}
	return mine, s.lastChange(path, func(c *change) bool { return counts(c) && c.By != task && c.Step < mine.Step })
}

// killedAt is the step in which the process of a change was killed; 0 when it was not.
func (s *story) killedAt(c *change) int {
	for _, k := range s.kills {
		if k.Choice.Task.Process == c.By.Process && k.N > c.Step {
			return k.N
		}
	}
	return 0
}

// lookBefore is the last look of a task at a file other than one, before a step, that reads or misses it, or sees what
// somebody then changes. What nobody ever changes, such as the script itself, decides nothing.
func (s *story) lookBefore(task sched.Task, but string, before int) (best *look) {
	for _, l := range s.all[task] {
		stale := func(c *change) bool { return c.By != task && c.Step > l.step && c.Step < before }
		switch {
		case l.path == but || l.step >= before:
		case l.how == missing, l.how == read && len(s.changes[l.path]) > 0,
			l.how == saw && s.lastChange(l.path, stale) != nil:
			best = l
		}
	}
	return best
}
