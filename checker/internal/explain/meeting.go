package explain

import (
	"slices"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/sched"
)

// A meeting is a call that was refused because another had the lock, and the exit status with which its process then
// ended; negative where it did not end.
type meeting struct {
	st      *trace.Walked
	call    *trace.Call
	targets []trace.Target
	status  int
}

// meetings are the last of each task that ended, in the order in which they ended.
func (s *story) meetings() (out []meeting) {
	met := map[sched.Task]meeting{}
	for i := range s.walk.Steps {
		st := &s.walk.Steps[i]
		who := st.Choice.Task
		for j := range st.Calls {
			c := &st.Calls[j]
			if c.Result.Errno != 0 && c.Op.Call.Contends(&c.Result) {
				met[who] = meeting{st: st, call: c, targets: st.Targets[j]}
			}
			if m, ok := met[who]; ok && c.Status() >= 0 {
				m.status = c.Status()
				out = append(out, m)
			}
		}
	}
	return out
}

// questioned tells, where the user is asked whether it is wrong, which command is the last that ended after it had met
// another's lock.
func (t *teller) questioned() bool {
	all := slices.DeleteFunc(t.meetings(), func(m meeting) bool { return !t.another(m) })
	if !t.cx.Asked || len(all) == 0 {
		return false
	}
	t.gaveUp(all[len(all)-1])
	return true
}

// another reports whether it is another's lock that was met, and not what was there from the start.
func (t *teller) another(m meeting) bool {
	return m.call.Op.Call.Is(fsfake.Locks) || slices.ContainsFunc(m.targets, func(at trace.Target) bool {
		return t.lastChange(at.Path, func(c *change) bool { return c.Step < m.st.N && c.By != m.st.Choice.Task }) != nil
	})
}

// outlives tells of a command whose first process ended while what it had started went on to change a file: timeout(1)
// ends flock(1), and not what that has started.
func (t *teller) outlives() bool {
	ended := map[sched.Task]*trace.Walked{}
	for i := range t.walk.Steps {
		st := &t.walk.Steps[i]
		who := st.Choice.Task
		if end := ended[who]; end != nil && len(st.Changes) > 0 && t.cx.Said != "" {
			t.say("%s ended with status %d %s. What it had started went on after that: %s %s %s.", who, end.Calls[0].Status(),
				t.at(end.N), who, t.deed(&st.Changes[0]), t.did(st.N))
			return true
		}
		if len(st.Calls) > 0 && st.Calls[0].Status() >= 0 {
			ended[who] = st
		}
	}
	return t.cutOff()
}

// cutOff tells of a command that was refused a lock, and whose children changed a file all the same before it ended and
// they with it: timeout(1) ends all of its group once a timer goes off.
func (t *teller) cutOff() bool {
	for _, m := range t.meetings() {
		by := func(c *change) bool { return c.By == m.st.Choice.Task && c.Step > m.st.N }
		for _, p := range t.walk.Paths() {
			if c := t.lastChange(p, by); m.status > 0 && t.isData(p) && c != nil {
				t.say("%s %s %s. Then it ended with status %d, and what it had started ended amid its work.", c.By,
					t.deed(c.Change), t.did(c.Step), m.status)
				return true
			}
		}
	}
	return false
}

// turnedDown tells of commands that failed because of another's lock: nothing is wrong but that their work is missing.
func (t *teller) turnedDown() bool {
	said := false
	for _, m := range t.meetings() {
		if m.status > 0 && t.cx.Said != "" && t.another(m) {
			t.gaveUp(m)
			said = true
		}
	}
	return said
}

func (t *teller) gaveUp(m meeting) {
	if t.text.Len() > 0 {
		t.say(" ")
	}
	what := "another's lock"
	if !m.call.Op.Call.Is(fsfake.Locks) {
		what = "what another one has made"
	}
	t.say("%s meets %s %s: %s answers %s. Then it ends with status %d.", m.st.Choice.Task, what, t.did(m.st.N),
		t.walk.Names.Call(m.call.Op), fsfake.ErrnoName(m.call.Result.Errno), m.status)
}
