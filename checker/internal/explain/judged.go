package explain

import (
	"fmt"
	"slices"

	"lockpick/checker/trace"
	"lockpick/model"
	"lockpick/sched"
)

// misjudged tells of a lock that was taken away from its holder by somebody who took it to
// be nobody's, or its own.
func (t *teller) misjudged() bool {
	return t.robbery(func(*change, trace.Holder) bool { return true })
}

// gaveBack tells of a lock that was taken away from its holder by somebody who had it before
// and had given it back.
func (t *teller) gaveBack() bool {
	return t.robbery(func(c *change, h trace.Holder) bool {
		_, at := t.claimed(c, h)
		return t.gaveUpBefore(c, at) > 0
	})
}

// robbery tells of the last removal of a holder's lock by somebody else that is wanted.
func (t *teller) robbery(wanted func(*change, trace.Holder) bool) bool {
	if t.last() == nil {
		return false
	}
	for _, p := range t.walk.Paths() {
		for _, c := range slices.Backward(t.changes[p]) {
			if !c.Removes() {
				continue
			}
			if h, ok := t.robbed(c); ok && wanted(c, h) {
				t.tellRobbed(c, h)
				return true
			}
		}
	}
	return false
}

// contenders are those who hold after a step: of several locks the one that it is about, where
// some hold it together that may not.
func contenders(st *trace.Walked) []trace.Holder {
	if clash := trace.Clashing(st.Holders); clash != nil {
		return clash
	}
	return st.Holders
}

// robbed finds the holder whose lock a change removes.
func (t *teller) robbed(c *change) (trace.Holder, bool) {
	by, made := t.maker(c.Path, c.Before.ID, c.Step)
	for _, h := range contenders(t.last()) {
		if h.Task != c.By && (h.Path == c.Path && h.ID == c.Before.ID || made && by.By == h.Task && h.ID == 0) {
			return h, true
		}
	}
	for _, h := range contenders(t.last()) {
		if made && by.By == h.Task && h.Task != c.By {
			return h, true
		}
	}
	return trace.Holder{}, false
}

// tellRobbed tells how it came that a change removed a holder's lock.
func (t *teller) tellRobbed(c *change, h trace.Holder) {
	name := t.called(&c.Before)
	claim, at := t.claimed(c, h)
	if gave := t.gaveUpBefore(c, at); gave > 0 {
		t.say("%s gave its lock on %s back %s. Then %s %s it %s and holds.", c.By, name, t.at(gave), h.Task, claim, t.at(at))
		t.say(" %s did not look again and %s %s", c.By, t.deed(c.Change), t.did(c.Step))
	} else {
		t.say("%s %s %s %s and holds.", h.Task, claim, name, t.at(at))
		t.say(" %s%s %s %s all the same", c.By, t.grounds(c), t.deed(c.Change), t.did(c.Step))
	}
	if n := t.notice(&use{call: c.Call, change: c.Change}); n != "" {
		t.say(": %s", n)
	}
	t.say(".")
	t.jumped(c.Step)
	if last := t.last(); last.Choice.Task != h.Task && last.Choice.Task != c.By {
		t.say(" So %s found nothing in its way.", last.Choice.Task)
	}
}

// claimed tells by what a holder has what a change removes: the kernel lock that it got,
// or that it made the file.
func (t *teller) claimed(c *change, h trace.Holder) (verb string, step int) {
	for _, l := range t.kernelLocks() {
		if l.task == h.Task && l.id == c.Before.ID && l.step <= h.Since {
			verb, step = "locked", l.step
		}
	}
	if by, ok := t.maker(c.Path, c.Before.ID, c.Step); ok && step == 0 && by.By == h.Task {
		if by.Kind == trace.Created {
			return t.deed(by.Change).verb, by.Step
		}
		return "took", by.Step
	}
	if step == 0 {
		return "got", h.Since
	}
	return verb, step
}

// gaveUpBefore is the step in which somebody who removes a file had given back a kernel lock
// on it, before its holder claimed it; 0 when it was not so.
func (t *teller) gaveUpBefore(c *change, claimed int) int {
	n := 0
	for _, l := range t.kernelLocks() {
		if l.task == c.By && l.id == c.Before.ID && l.until > 0 && l.until < claimed && claimed < c.Step {
			n = l.until
		}
	}
	return n
}

// grounds says what somebody who took a lock away had gone by.
func (t *teller) grounds(c *change) string {
	if text := t.reason(c); text != "" {
		return text
	}
	if op := t.acquisitionBefore(c.By, c.Step); op.output == (model.Acquired{OK: true, Shared: true}) {
		return fmt.Sprintf(", which had joined that hold %s,", t.at(op.last))
	}
	if c.went == nil {
		return ", which had not looked,"
	}
	if _, release := c.within.(model.Release); release {
		return fmt.Sprintf(", which had last looked %s, released its own lock and", t.at(c.went.step))
	}
	return fmt.Sprintf(", which %s%s,", t.told(c.went), t.sameNumber(c.went))
}

// sameNumber tells that a look showed the number of a file that was gone: it was reused, and
// whoever compares numbers takes one file for the other.
func (t *teller) sameNumber(l *look) string {
	if l.ino == 0 {
		return ""
	}
	for _, old := range slices.Backward(t.all[l.task]) {
		if old.step < l.step && old.path == l.path && old.ino == l.ino && old.file.ID != l.file.ID {
			return fmt.Sprintf(" with the number that %s had %s, as the number of a file that is gone is used again", t.object(&old.file), t.at(old.step))
		}
	}
	return ""
}

// acquisitionBefore is the last acquisition of a task that had returned before a step.
func (s *story) acquisitionBefore(task sched.Task, step int) operation {
	for _, op := range slices.Backward(s.done) {
		if _, ok := op.output.(model.Acquired); ok && op.task == task && op.last < step {
			return op
		}
	}
	return operation{}
}

// holds reports whether a task holds after a step.
func holds(st *trace.Walked, t sched.Task) bool { return holder(st, t).Since > 0 }

func holder(st *trace.Walked, t sched.Task) trace.Holder {
	for _, h := range st.Holders {
		if h.Task == t {
			return h
		}
	}
	return trace.Holder{}
}

// remembered tells of a task that joined the hold which its process remembers, when the
// lock was gone.
func (t *teller) remembered() bool {
	last := t.last()
	if t.joined == nil || t.joined != last {
		return false
	}
	me := last.Choice.Task
	t.say("%s joined %s the hold that its process remembers%s", me, t.did(last.N), t.memory(last))
	for _, f := range last.After.Files {
		for _, c := range slices.Backward(t.changes[f.Path]) {
			if c.Kind == trace.Unlinked && c.By.Process == me.Process {
				t.say(", but %s had unlinked %s %s.", c.By, t.walk.Names.Short(f.Path), t.at(c.Step))
				return true
			}
		}
	}
	t.notItsOwn(me)
	return true
}

// notItsOwn says of somebody who joined a hold by what it had seen that others have the lock.
func (t *teller) notItsOwn(me sched.Task) {
	if l := t.recent[me]; l != nil && l.how == read {
		t.say(", as it had %s", t.told(l))
	}
	all := t.kernelLocks()
	for _, theirs := range all {
		if theirs.until > 0 || theirs.task.Process == me.Process {
			continue
		}
		t.say("; but %s had locked %s %s", theirs.task, t.called(t.named(theirs.id)), t.at(theirs.step))
		for _, mine := range slices.Backward(all) {
			if mine.task.Process == me.Process && mine.id == theirs.id && mine.until > 0 {
				t.say(" after %s had given its lock back %s", me, t.at(mine.until))
				break
			}
		}
		t.say(".")
		return
	}
	t.say(", but the lock is not its own.")
}

// memory names the variable by which a task went in a step.
func (t *teller) memory(st *trace.Walked) string {
	for _, c := range st.Calls {
		if c.Op.Cell != "" {
			return " in " + c.Op.Cell
		}
	}
	return ""
}
