package explain

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
	"lockpick/sched"
)

// wedge tells what was left behind, by whom, who would have to remove it, and what a fresh
// process makes of it.
func (t *teller) wedge() bool {
	if len(t.cx.Waits) == 0 || !t.cx.Waits[0].Fresh {
		return false
	}
	w := t.cx.Waits[0]
	f, ok := t.obstacle(w)
	if !ok {
		return false
	}
	if t.powerLoss() {
		t.say(" %s.", upper(t.met(w, f)))
		return true
	}
	if w.How == trace.WaitsInCall {
		t.keeper(w, f)
	} else if c, ok := t.maker(f.Path, f.ID, len(t.walk.Steps)+1); ok {
		t.say("%s %s %s%s: ", c.By, t.made(c), t.did(c.Step), t.fate(c))
	} else {
		t.say("Nobody removes %s: ", t.called(f))
		t.act = t.refusedAlike(f)
	}
	t.say("%s.", t.met(w, f))
	return true
}

// leftBehind tells who made what is left when everybody has ended.
func (t *teller) leftBehind() bool {
	if t.cx.Property.Question != scenarios.Leaves || len(t.cx.Trace) == 0 {
		return false
	}
	start := t.sc.NewMachine()
	for _, name := range t.sc.Remainder(start).Left(t.cx.Trace[len(t.cx.Trace)-1].After) {
		f := t.walk.End().File(name)
		if c, ok := t.maker(name, f.ID, len(t.walk.Steps)+1); ok {
			if t.act > 0 {
				t.say(" ")
			}
			t.act = c.Step
			t.say("%s %s %s%s.", c.By, t.made(c), t.did(c.Step), t.fate(c))
		}
	}
	return true
}

// refusedAlike is the last step in which a task met what the fresh process meets: what it
// made of that is why it removed nothing. It is 0 when no task did.
func (t *teller) refusedAlike(f *trace.FileState) int {
	for _, c := range slices.Backward(lastRound(t.cx.Attempt)) {
		if c.Op.Call != fsfake.CallKill && c.Op.Path != f.Path && c.Op.Path2 != f.Path {
			continue
		}
		for _, st := range slices.Backward(t.walk.Steps) {
			if slices.ContainsFunc(st.Calls, func(mine trace.Call) bool {
				return mine.Op.Call == c.Op.Call && mine.Op.Path2 == c.Op.Path2 && mine.Op.Pid == c.Op.Pid && mine.Result.Errno == c.Result.Errno
			}) {
				return st.N
			}
		}
	}
	return 0
}

// made tells the change that made something, by its name.
func (t *teller) made(c *change) string {
	name := t.called(&c.After)
	switch c.Kind {
	case trace.Created:
		return making(&c.After) + " " + name
	case trace.Linked:
		return "linked " + name + " into place"
	}
	return "renamed " + name + " into place"
}

// fate says how it came that somebody who made a thing does not remove it.
func (t *teller) fate(c *change) string {
	for _, e := range t.walk.End().Ended {
		if e.Process != c.By.Process || e.Step < c.Step {
			continue
		}
		switch e.How {
		case sched.Kill:
			return fmt.Sprintf(" and was killed %s, and nobody else removes it", t.at(e.Step))
		case sched.PowerLoss:
			return fmt.Sprintf(" and was lost with the power %s, and nobody else removes it", t.at(e.Step))
		}
		return fmt.Sprintf(" and left it there when it exited %s", t.at(e.Step))
	}
	return " and left it there when it had finished"
}

// met says what the fresh process makes of what is left.
func (t *teller) met(w trace.Wait, f *trace.FileState) string {
	var out []string
	opened := 0 // the descriptor of the file that is left
	for _, c := range lastRound(t.cx.Attempt) {
		here := c.Op.Path == f.Path || c.Op.Path2 == f.Path
		switch {
		case here && c.Result.Errno != 0:
			out = append(out, fmt.Sprintf("is told %s by %s", fsfake.ErrnoName(c.Result.Errno), c.Op.Call))
		case here && c.Op.Call == fsfake.CallOpen:
			opened = int(c.Result.N)
		case here && c.Op.Call == fsfake.CallReadlink:
			out = append(out, t.reads(c.Result.Data))
		case here:
			out = append(out, fmt.Sprintf("looks at it with %s", c.Op.Call))
		case opened > 0 && c.Op.Call.Is(fsfake.Reads) && c.Op.FD == opened && c.Result.OK():
			opened = 0
			out = append(out, t.reads(c.Result.Data))
		case c.Op.Call == fsfake.CallReaddir && slices.Contains(strings.Split(c.Result.Data, "\x00"), path.Base(f.Path)):
			out = append(out, "finds it in its directory")
		case c.Op.Call.IsLock() && c.Result.Errno != 0:
			out = append(out, "gets no lock on it")
		case c.Op.Call == fsfake.CallKill && len(out) > 0:
			j := judgement{call: c.Op.Call, pid: c.Op.Pid, err: c.Result.Errno}
			out = append(out, strings.Replace(t.judgement(j), "found", "finds", 1))
		}
	}
	switch w.How {
	case trace.Polls:
		out = append(out, "polls for "+t.howLong())
	case trace.GivesUp:
		out = append(out, "gives up, "+t.howLate())
	default:
		out = []string{"waits for ever in " + w.Call.Call.String()}
	}
	return "a fresh process " + numbers.List(out)
}

// howLong and howLate are for how long a fresh process tries in vain.
func (t *teller) howLong() string {
	if d := t.cx.Property.Within; d > 0 {
		return "more than " + d.String()
	}
	return "ever"
}

func (t *teller) howLate() string {
	if d := t.cx.Property.Within; d > 0 {
		return "also after " + d.String()
	}
	return "however late it comes"
}

func (t *teller) reads(text string) string {
	if text == "" {
		return "finds it empty"
	}
	return "reads " + t.data(text) + " from it"
}

// lastRound are the last calls, up to where one comes a second time.
func lastRound(calls []trace.Call) []trace.Call {
	from := len(calls)
	for from > 0 && !slices.ContainsFunc(calls[from:], func(c trace.Call) bool { return c.Op == calls[from-1].Op }) {
		from--
	}
	return calls[from:]
}

// obstacle finds what a fresh process cannot get past: the file whose lock it waits for,
// or of the names that its last calls work on the last that is there; or else the first
// watched name that is.
func (t *teller) obstacle(w trace.Wait) (*trace.FileState, bool) {
	if w.On != 0 {
		return t.named(w.On), true
	}
	end := t.walk.End()
	var names []string
	for _, c := range slices.Backward(t.cx.Attempt) {
		names = append(names, c.Op.Path2, c.Op.Path)
	}
	names = append(names, t.sc.Watch...)
	// A program has met files of its own, too, such as its script.
	for _, here := range []bool{t.sc.OfCommands(), false} {
		for _, p := range names {
			f := end.File(p)
			if p == "" || !f.Exists || isParent(p, t.sc.Watch) {
				continue
			}
			if _, made := t.maker(p, f.ID, len(t.walk.Steps)+1); made || !here {
				return &f, true
			}
		}
	}
	return nil, false
}

// isParent reports whether a name is a directory of a watched one.
func isParent(p string, watch []string) bool {
	return slices.ContainsFunc(watch, func(w string) bool { return len(w) > len(p)+1 && w[:len(p)+1] == p+"/" })
}

// keeper begins with who has the lock that the fresh process waits for.
func (t *teller) keeper(w trace.Wait, f *trace.FileState) {
	refs := lockers(t.walk.End().Inode(w.On))
	for _, l := range slices.Backward(t.kernelLocks()) {
		if l.id != w.On || len(refs) == 0 {
			continue
		}
		t.say("%s locked %s %s", l.task, t.called(f), t.did(l.step))
		if who := t.walk.Who(refs[0].Pid); who != scenarios.ProcessName(l.task.Process) {
			t.say(", and %s has the descriptor still, and the lock with it: ", who)
		} else {
			t.say(" and keeps the lock: ")
		}
		return
	}
	t.say("Nobody unlocks %s: ", t.called(f))
}

// lockers are those who have a kernel lock on a file.
func lockers(v fsfake.FileView) []fsfake.FDRef {
	var out []fsfake.FDRef
	for _, l := range v.Flocks {
		out = append(out, l.Holders...)
	}
	for _, r := range v.Records {
		if r.OFD {
			out = append(out, r.Holders...)
		} else {
			out = append(out, fsfake.FDRef{Pid: r.Lock.Pid, FD: -1})
		}
	}
	return out
}
