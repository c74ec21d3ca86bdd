package command

import (
	"slices"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
	"lockpick/scenarios"
)

// Orders of a command's own calls that need not be followed, since another one comes to the same.

// reduces reports whether such orders are left out. They are followed where more happens than calls: a kill of
// the first process may come between two calls, and tells them apart; so does what begins with a call. Clocks that
// move tell nothing: what goes first reads no clock and leaves no time behind. No time passes while it can go on, but
// by a stall, which may come before it as well as after it.
func (d *driver) reduces() bool {
	s := d.spec
	return !s.everyBirth && s.ownOrders == 0 && s.mixed == 0 && s.Inside == "" && s.Crashes == 0 &&
		s.PowerLosses == 0 && s.FailingCalls == 0 && !d.probes && !d.killed
}

// asksBirths gives scenarios in which processes begin and end before other calls those in which they do not, for when a
// command could tell. Serial runs show most of these commands beforehand, but no timer goes off in them.
func (s *Spec) asksBirths(sc, strict *scenarios.Scenario) {
	if s.everyBirth {
		return
	}
	both := s.readAgain(func(again *Spec) { again.everyBirth, again.shared = true, nil })
	for i, of := range []*scenarios.Scenario{sc, strict} {
		of.EveryBirth = func() (*scenarios.Scenario, error) {
			s.record.mu.Lock()
			told := s.record.couldTell()
			s.record.mu.Unlock()
			if !told {
				return nil, nil
			}
			r, err := both()
			return &r[i], err
		}
	}
}

// goesFirst reports whether a call goes before all others of its command.
func (d *driver) goesFirst(p tracer.Pending) bool {
	if p.Commutes || !p.Kin || !d.reduces() || d.tells(p) {
		return p.Commutes
	}
	if p.Op.Call == fsfake.CallFork {
		if _, own := d.freePid(p.Task.Pid); !own {
			return false
		}
	}
	return true
}

// tells reports whether a signal for its process may come before a call or after it, which makes a difference: who has
// got one may start no more children, and may be told otherwise how one has ended.
func (d *driver) tells(p tracer.Pending) bool { return d.spec.sought[d.number(p.Task.Pid)] }

// looksUnseen reports whether a call only looks, and may go first where what it looks at is changed by nobody.
func (d *driver) looksUnseen(p tracer.Pending) bool {
	c := p.Op.Call
	looks := c == fsfake.CallOpen || c.Is(fsfake.Looks) || c.Is(fsfake.Reads) || c == fsfake.CallFstat ||
		c == fsfake.CallLseek || c == fsfake.CallReaddir
	return looks && (!p.Threads || d.threadLooks(p)) && d.reduces() && d.run.Unseen(p.Task.Pid)
}

// overtakes notes that a call that begins or ends a process goes before others. Who waits for children prints
// nothing before these have ended.
func (d *driver) overtakes(set []tracer.Pending, first int) {
	if set[first].Commutes { // whoever was overtaken before stays so
		return
	}
	d.spec.record.reduced(set[first].Task.Pid == d.root)
	d.overtaking, d.hasPrinted = nil, len(d.run.Stdout())
	for i, p := range set {
		if i != first && p.Op.Call != fsfake.CallWork {
			d.overtaking = append(d.overtaking, p.Task.Pid)
		}
	}
}

// prints looks at what a command has printed when it comes to its next call. In which order its processes print is
// compared: one that was overtaken by another which printed then may print first, which is not followed.
func (d *driver) prints(by fsfake.Task) {
	if len(d.overtaking)+len(d.overtaken) == 0 {
		return
	}
	now := len(d.run.Stdout())
	if now > d.hasPrinted {
		if slices.ContainsFunc(d.overtaken, func(pid int) bool { return d.startedBy(by.Pid, pid) }) {
			d.spec.record.looked()
		}
		d.overtaken = append(slices.Clip(d.overtaken), d.overtaking...)
	}
	d.hasPrinted = now
}

// A look at which children have ended (wait4 with WNOHANG, or where several may have) commutes with all calls but
// the ends of children. So once another call was chosen before it, it rests until a child has ended: before
// that, it may as well come first. The end of a process whose parent only waits rests likewise, until one of its
// siblings ends, or somebody goes on who has a pipe in common with it ([tracer.Run.EndsBeside]). That is a sleep set
// (Godefroid, Partial-Order Methods, LNCS 1032, 1996): of several that may rest, one rests only where one before it in
// the set is chosen otherwise. None rests where no other call can be made at once, or a program sleeps, for then
// the command would seem to wait.

// awake are the calls of a set without those that rest.
func (d *driver) awake(set []tracer.Pending) []tracer.Pending {
	if len(d.resting) == 0 {
		return set
	}
	out := slices.DeleteFunc(slices.Clone(set), func(p tracer.Pending) bool {
		return slices.Contains(d.resting, p.Task)
	})
	if !slices.ContainsFunc(out, func(p tracer.Pending) bool { return rank(p) == 0 }) {
		return set
	}
	return out
}

// rests reports whether a call may rest.
func (d *driver) rests(p tracer.Pending) bool {
	if d.tells(p) {
		return false
	}
	if p.Op.Call == fsfake.CallExit {
		_, commutes := d.run.EndsBeside(p.Task.Pid)
		return commutes
	}
	return p.Op.Call == fsfake.CallWork && !p.Threads
}

// passOver lays to rest the calls before which another one was chosen.
func (d *driver) passOver(set []tracer.Pending, chosen int) {
	if !d.reduces() {
		return
	}
	may := d.rests(set[chosen])
	if may {
		d.overtakes(set, chosen)
	}
	for i, p := range set {
		if i != chosen && (i < chosen || !may) && d.rests(p) && !slices.Contains(d.resting, p.Task) {
			d.resting = append(d.resting, p.Task)
		}
	}
}

// wake ends the rest of the calls of a set that do not commute with the one that goes on.
func (d *driver) wake(set []tracer.Pending, p tracer.Pending) {
	if len(d.resting) == 0 {
		return
	}
	var resting []fsfake.Task
	for _, q := range set {
		if slices.Contains(d.resting, q.Task) && q.Task != p.Task && p.Op.Call != fsfake.CallSleep && d.commute(q, p) {
			resting = append(resting, q.Task)
		}
	}
	d.resting = resting
}

// commute reports whether a call that rests commutes with another one.
func (d *driver) commute(rests, p tracer.Pending) bool {
	ends := p.Op.Call == fsfake.CallExit
	if rests.Op.Call == fsfake.CallWork {
		return !ends || rests.Task.Pid != p.Parent
	}
	beside, still := d.run.EndsBeside(rests.Task.Pid)
	return still && !slices.Contains(beside, p.Task.Pid) && (!ends || rests.Parent != p.Parent)
}

// looksAtKin reports whether a call looks at processes that commands have started.
func looksAtKin(op fsfake.Op) bool {
	if op.Call == fsfake.CallKill || op.Call == fsfake.CallStartTime {
		_, is := scenarios.ProcessOf(op.Pid / scenarios.ChildPids)
		return is
	}
	return op.Call == fsfake.CallProcs
}

// looksAtOwn reports whether a process looks at a child of its own, or sends it a signal, as timeout(1) does. It has
// started the child itself, and while it waits for its end it does not look: so all orders of that are followed. Where
// the child has children, those of its calls that go first elsewhere may come after the signal: such a child is sought,
// and they do not ([driver.tells]). Besides there are only those by whom the process was started, and those of the
// child.
func (d *driver) looksAtOwn(pid int, op fsfake.Op) bool {
	children, others := d.run.Taken(pid)
	if !slices.Contains(children, op.Pid) || slices.ContainsFunc(others, func(other int) bool {
		return !d.startedBy(pid, other) && !d.startedBy(other, op.Pid)
	}) {
		return false
	}
	child := d.number(op.Pid)
	return !slices.ContainsFunc(children, func(pid int) bool {
		return slices.Contains(d.parents, pid) && (pid != op.Pid || !d.spec.record.seeks(child, d.spec.sought))
	})
}
