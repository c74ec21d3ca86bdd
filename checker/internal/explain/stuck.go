package explain

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
	"lockpick/sched"
)

// deadlock tells who waits for what, and who has that.
func (t *teller) deadlock() bool {
	if len(t.cx.Waits) > 0 && t.cx.Waits[0].How == trace.Spins {
		w := t.cx.Waits[0]
		t.act = t.lastStepOf(w.Task)
		t.say("%s goes round over the cell %s without an await, so nothing else of its process can run, and nobody there can change the cell: let it wait for the cell (Cell.Wait), or sleep in each round.", w.Task, w.Call.Cell)
		return true
	}
	if len(t.cx.Waits) == 0 || t.cx.Waits[0].How != trace.WaitsInCall || t.cx.Waits[0].Fresh {
		return false
	}
	var parts []string
	closed := 0 // the step that closed the circle
	for _, w := range t.cx.Waits {
		parts = append(parts, t.waits(w))
		closed = max(closed, t.lastStepOf(w.Task))
	}
	t.act = closed
	t.say("%s: nobody is left to end that.", strings.Join(parts, "; "))
	return true
}

// waits tells what a task waits for.
func (t *teller) waits(w trace.Wait) string {
	for _, b := range t.walk.End().Waits {
		if b.Task != w.Task {
			continue
		}
		since := t.at(t.lastStepOf(w.Task))
		if b.On == 0 {
			return fmt.Sprintf("%s waits, since it called %s %s, for %s to change", w.Task, b.Call.Call, since, b.Call.Cell)
		}
		name := t.called(t.named(b.On))
		if len(b.For) == 0 {
			break
		}
		who := w.Task.String()
		if _, child := t.walk.ChildOf(b.By.Pid); child {
			who = t.walk.Who(b.By.Pid)
		}
		return fmt.Sprintf("%s waits %s for the %s on %s, which %s has%s", who, since, lockName(&b.Call), name,
			t.walk.Who(b.For[0].Pid), t.got(b.On, b.For[0]))
	}
	var parts []string
	for _, b := range t.walk.End().Shut(w.Task, w.Call) {
		if len(b.For) > 0 {
			parts = append(parts, fmt.Sprintf("%s waits for the %s on %s, which %s has%s", t.walk.Who(b.By.Pid),
				lockName(&b.Call), t.called(t.named(b.On)), t.walk.Who(b.For[0].Pid), t.got(b.On, b.For[0])))
		}
	}
	if len(parts) > 0 {
		return strings.Join(parts, "; ")
	}
	return t.walk.Names.Wait(w)
}

// lastStepOf is the last step that a task made.
func (s *story) lastStepOf(task sched.Task) int {
	for i := len(s.walk.Steps) - 1; i >= 0; i-- {
		if st := s.walk.Steps[i].Step; st.Choice.Action == sched.Run && st.Choice.Task == task {
			return st.N
		}
	}
	return 0
}

// named is an inode under a name that it has, or had last.
func (s *story) named(id fsfake.InodeID) *trace.FileState {
	end := s.walk.End()
	for _, p := range s.walk.Paths() {
		if f := end.File(p); f.Exists && f.ID == id {
			return &f
		}
	}
	for i := len(s.walk.Steps) - 1; i >= 0; i-- {
		for _, c := range s.walk.Steps[i].Changes {
			if c.Before.Exists && c.Before.ID == id && c.Path != "" {
				return &trace.FileState{Path: c.Path, Exists: true, FileView: end.Inode(id)}
			}
		}
	}
	return &trace.FileState{Exists: true, FileView: end.Inode(id)}
}

// got says since when somebody has a kernel lock.
func (t *teller) got(id fsfake.InodeID, ref fsfake.FDRef) string {
	all := t.kernelLocks()
	for _, h := range slices.Backward(all) {
		if h.id == id && h.until == 0 && (h.pid == ref.Pid || scenarios.Pid(h.task.Process) == ref.Pid) {
			return " since " + strings.TrimPrefix(t.at(h.step), "at ")
		}
	}
	for _, h := range slices.Backward(all) {
		if h.id == id && h.until == 0 {
			return fmt.Sprintf(" from %s, which locked it %s", h.task, t.at(h.step))
		}
	}
	return ""
}

// starvation tells what the starving task meets, round after round.
func (t *teller) starvation() bool {
	if len(t.cx.Waits) == 0 || t.cx.Waits[0].How != trace.Starves {
		return false
	}
	me := t.cx.Waits[0].Task
	first := len(t.walk.Steps) - t.cx.Cycle
	t.say("%s keeps trying and never acquires: steps %d to %d can repeat for ever.", me, first+1, len(t.walk.Steps))
	round := t.walk.Steps[max(first, 0):]
	for _, b := range t.walk.End().Waits {
		if b.Task == me && b.On != 0 {
			t.say(" It waits %s for the %s on %s, and %s always has it.", t.did(t.lastStepOf(me)), lockName(&b.Call),
				t.called(t.named(b.On)), t.inTurn(round, &b))
			return true
		}
	}
	var met []string
	for i := range round {
		st := &round[i]
		if st.Choice.Task != me {
			continue
		}
		for k := range st.Calls {
			if text := t.refusal(st, k); text != "" {
				met = append(met, t.did(st.N)+", as "+text)
			}
		}
	}
	if len(met) > 0 {
		t.say(" In them it is refused %s.", numbers.List(met))
	}
	return true
}

// inTurn names those who have what a task waits for, in the steps of a round.
func (t *teller) inTurn(round []trace.Walked, b *trace.Blocked) string {
	var out []string
	for i := range round {
		for _, ref := range round[i].After.InTheWay(b.By, b.Call) {
			if who := t.walk.Who(ref.Pid); !slices.Contains(out, who) {
				out = append(out, who)
			}
		}
	}
	return strings.Join(out, " or ")
}

// refusal says by what a call was refused; empty when it was not.
func (t *teller) refusal(st *trace.Walked, i int) string {
	c := &st.Calls[i]
	if c.Result.OK() || len(st.Targets[i]) == 0 {
		return ""
	}
	on := &st.Targets[i][len(st.Targets[i])-1]
	if refs := st.Before.InTheWay(st.By(c), c.Op); len(refs) > 0 {
		return fmt.Sprintf("%s has a %s on %s", t.walk.Who(refs[0].Pid), lockName(&c.Op), t.called(t.fileOf(on)))
	}
	if !on.Before.Exists {
		return ""
	}
	if by, ok := t.maker(on.Path, on.Before.ID, st.N); ok {
		return fmt.Sprintf("%s is there, which %s has made", t.called(&on.Before), by.By)
	}
	return t.called(&on.Before) + " is there"
}
