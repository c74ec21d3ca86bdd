package explain

import (
	"fmt"
	"slices"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/sched"
)

// A span is what should have been one piece: from a look to the change that relies on it. Amid it
// another task has changed what was seen.
type span struct {
	mine, theirs   sched.Task
	path           string
	from, amid, to int
}

// guard says, of an end that is wrong, why what should have kept the other out of a span did not:
// the kernel lock that was lost, came late, is another one or was refused in vain, or else the lock by
// name. Each is said only where the calls of both show it.
func (t *teller) guard(u *use) {
	if t.cx.Said == "" || u.look == nil || len(u.between) == 0 || u.how > tookOver && u.how != refusedBy {
		return
	}
	from := u.look.step
	if l := u.look.knowing(); l != nil {
		from = l.step
	}
	theirs := u.between[len(u.between)-1]
	t.guardSpan(span{mine: u.task, theirs: theirs.By, path: u.path, from: from, amid: theirs.Step, to: u.step})
}

func (t *teller) guardSpan(s span) {
	_ = t.lockLost(s) || t.lockLate(s) || t.lockPassed(s) || t.nameLock(s) || t.lockOver(s) || t.neverLocked(s)
}

// locksOf lists the kernel locks that a task's process has got.
func (s *story) locksOf(of sched.Task) []held {
	return slices.DeleteFunc(s.kernelLocks(), func(h held) bool { return h.task.Process != of.Process })
}

// at reports whether a lock is held after a step.
func (h *held) at(step int) bool { return h.step <= step && (h.until == 0 || h.until > step) }

// held are the locks of a list that are held after a step.
func heldAt(all []held, step int) []held {
	return slices.DeleteFunc(slices.Clone(all), func(h held) bool { return !h.at(step) })
}

// gotBetween is the lock of a list on one file that was got in an open interval of steps; nil for none.
func gotBetween(all []held, id fsfake.InodeID, after, before int) *held {
	for i := range all {
		if h := &all[i]; h.id == id && h.step > after && h.step < before {
			return h
		}
	}
	return nil
}

// lockFile names the file of a lock.
func (t *teller) lockFile(h *held) string {
	f := t.named(h.id)
	if f.Path == "" {
		f.Path = h.path
	}
	return t.called(f)
}

// lockLost tells of a lock that was there at the look and gone before the change, so that the other got it.
func (t *teller) lockLost(s span) bool {
	theirs := t.locksOf(s.theirs)
	for _, had := range heldAt(t.locksOf(s.mine), s.from) {
		got := gotBetween(theirs, had.id, had.until, s.to)
		if had.until == 0 || had.until >= s.to || got == nil {
			continue
		}
		name := t.lockFile(&had)
		if had.lost && had.desc == 0 {
			t.code = "LP1004"
			t.say(" %s had a record lock on %s, got %s. It closed another descriptor of that file %s, and then all "+
				"record locks of its process on the file go.", s.mine, name, t.at(had.step), t.did(had.until))
		} else if t.upgrades(&had) {
			t.code = "LP1029"
			t.say(" %s had a shared lock on %s. Its flock %s gave that back, and then waited for the exclusive one.",
				s.mine, name, t.did(had.until))
		} else {
			t.code = "LP1005"
			t.say(" %s gave its lock on %s back %s, before the call %s.", s.mine, name, t.did(had.until), t.at(s.to))
		}
		t.say(" So %s got it %s.", s.theirs, t.at(got.step))
		return true
	}
	return t.gaveUpEarly(s)
}

// upgrades reports whether a lock went because its owner asked for another kind of it: flock(2) is not atomic there.
func (t *teller) upgrades(had *held) bool {
	st := &t.walk.Steps[had.until-1]
	c, _ := st.Only()
	return shared(&had.call) && st.Choice.Task.Process == had.task.Process && c != nil &&
		c.Op.Call == fsfake.CallFlock && !unlocks(&c.Op)
}

// gaveUpEarly tells of the other, that it had given its lock back before it changed what was seen.
func (t *teller) gaveUpEarly(s span) bool {
	mine := t.locksOf(s.mine)
	for _, l := range slices.Backward(t.locksOf(s.theirs)) {
		if l.until == 0 || l.until > s.amid || !l.at(t.lookedAt(s)) {
			continue
		}
		if got := gotBetween(mine, l.id, l.until, s.from); got != nil && got.at(s.from) {
			t.code = "LP1005"
			t.say(" %s gave its lock on %s back %s, before the call %s, and %s got it %s.", s.theirs, t.lockFile(&l),
				t.did(l.until), t.at(s.amid), s.mine, t.at(got.step))
			return true
		}
	}
	return false
}

// lookedAt is the step of the other's own last look at the file before it changed it; 0 when it made none.
func (t *teller) lookedAt(s span) int {
	for _, l := range slices.Backward(t.all[s.theirs]) {
		if l.path == s.path && l.step < s.amid {
			return l.step
		}
	}
	return 0
}

// lockLate tells of a lock that was taken only after the look, and that the other had when it changed what was seen.
func (t *teller) lockLate(s span) bool {
	for _, theirs := range heldAt(t.locksOf(s.theirs), s.amid) {
		l := gotBetween(t.locksOf(s.mine), theirs.id, s.from, s.to+1)
		if l != nil && !t.hadAt(s.mine, theirs.id, s.from) {
			t.code = "LP1006"
			t.say(" %s locked %s only %s, after it had looked %s.", s.mine, t.lockFile(l), t.did(l.step), t.at(s.from))
			return true
		}
	}
	return false
}

func (s *story) hadAt(of sched.Task, id fsfake.InodeID, step int) bool {
	return slices.ContainsFunc(heldAt(s.locksOf(of), step), func(h held) bool { return h.id == id })
}

// lockPassed tells of a lock that was held all along, and how the other got past it: its refusal did not
// count, or it had a lock that is no obstacle, one of another file, or none.
func (t *teller) lockPassed(s span) bool {
	if t.refusedLock(s.theirs, s.mine, s.amid) || t.refusedLock(s.mine, s.theirs, s.to) {
		t.code = "LP1008"
		return true
	}
	mine := slices.DeleteFunc(heldAt(t.locksOf(s.mine), s.from), func(h held) bool { return !h.at(s.to - 1) })
	theirs := heldAt(t.locksOf(s.theirs), s.amid)
	for i := range mine {
		for k := range theirs {
			if t.apart(&mine[i], &theirs[k]) {
				return true
			}
		}
	}
	switch {
	case len(mine) > 0 && len(theirs) > 0:
		t.code = "LP1010"
		t.say(" %s had locked %s %s, and %s %s %s: two files are two locks.", s.mine, t.lockFile(&mine[0]),
			t.at(mine[0].step), s.theirs, t.lockFile(&theirs[0]), t.at(theirs[0].step))
		return true
	case len(mine) > 0:
		return t.without(&mine[0], s.theirs)
	case len(theirs) > 0:
		return t.without(&theirs[0], s.mine)
	}
	return false
}

// without tells of a lock that the other has never taken.
func (t *teller) without(l *held, other sched.Task) bool {
	if gotBetween(t.locksOf(other), l.id, 0, len(t.walk.Steps)+1) != nil {
		return false
	}
	t.say(" %s had locked %s %s,", l.task, t.lockFile(l), t.at(l.step))
	opens := func(st trace.Walked) bool {
		return st.Choice.Task == other && slices.ContainsFunc(st.Targets, func(of []trace.Target) bool {
			return slices.ContainsFunc(of, func(f trace.Target) bool { return f.ID == l.id })
		})
	}
	for _, s := range t.signals() {
		if s.to == other && slices.ContainsFunc(t.walk.Steps[:s.came.N], opens) { // it was about to lock
			t.code = "LP1030"
			t.say(" and %s, for which %s came %s, went on without it.", other, s.is.Name(), t.at(s.came.N))
			return true
		}
	}
	t.code = "LP1016"
	t.say(" but %s takes no lock on it.", other)
	return true
}

// apart tells of two locks on one file, or on files of one name, that were held at once.
func (t *teller) apart(a, b *held) bool {
	both := fmt.Sprintf(" %s had locked %s %s, and %s", a.task, t.lockFile(a), t.at(a.step), b.task)
	switch {
	case a.id != b.id && a.path != b.path:
		return false
	case a.id != b.id:
		t.code = "LP1007"
		t.say("%s a new file of that name %s: a lock belongs to the file, not to its name.", both, t.at(b.step))
	case shared(&a.call) && shared(&b.call):
		t.code = "LP1011"
		t.say("%s locked it, too, %s: shared locks do not keep each other out.", both, t.did(b.step))
	case (a.call.Call == fsfake.CallFlock) != (b.call.Call == fsfake.CallFlock):
		t.code = "LP1010"
		t.say("%s with %s %s: flock and fcntl locks do not see each other.", both, t.walk.Names.Call(b.call),
			t.at(b.step))
	case a.call.Call != fsfake.CallFlock && a.pid != b.pid:
		t.code = "LP1010"
		t.say("%s other bytes of it %s: locks of different bytes do not keep each other out.", both, t.at(b.step))
	default:
		return false
	}
	return true
}

// refusedLock tells of the last lock call of a task before a step, when it was refused because another had the lock.
func (t *teller) refusedLock(of, other sched.Task, before int) bool {
	for n := before - 1; n > 0; n-- {
		st := &t.walk.Steps[n-1]
		if st.Choice.Task != of {
			continue
		}
		for i, c := range st.Calls {
			switch {
			case !c.Op.Call.IsLock() || unlocks(&c.Op) || c.Result.Blocked || len(st.Targets[i]) == 0:
			case c.Result.OK() || !t.hadAt(other, st.Targets[i][0].ID, n):
				return false
			default:
				t.say(" %s was told %s by %s %s, and went on as if it had not been.", of,
					fsfake.ErrnoName(c.Result.Errno), t.walk.Names.Call(c.Op), t.did(n))
				return true
			}
		}
	}
	return false
}
