package engine

import (
	"fmt"
	"path"
	"slices"

	"lockpick/checker/internal/learn"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Where nobody ever acquires there is nothing to draw, and yet a call that went wrong: the
// lock's directory is not there, an open has no O_CREAT. It is found in one run without
// preemptions, in which everybody is alone until it has finished.

// wrongSteps bounds that run.
const wrongSteps = 1_000

// A failure is a call that failed, with what is to be done about it.
type failure struct {
	call   trace.Call
	task   sched.Task
	step   int
	advice string
}

// String says it: "open /run/app.lock: ENOENT at step 1 (A); make /run in Setup".
func (f failure) String() string {
	text := fmt.Sprintf("%s: %s at step %d (%s)", f.call.Op, fsfake.ErrnoName(f.call.Result.Errno), f.step, f.task)
	if f.advice != "" {
		text += "; " + f.advice
	}
	return text
}

// wentWrong says which call the first operation that came to nothing rests on, or "".
func wentWrong(sc *scenarios.Scenario, p *scenarios.Property) string {
	w := NewWorld(sc, p, sc.NewMachine())
	defer w.Stop()
	failed := make([][]failure, len(w.actors)) // in the operation under way
	var first *failure
	for w.Err == nil && !w.Spins() && w.Steps < wrongSteps && w.Look() {
		c, err := sched.RunToCompletion{}.Next(&w.View)
		if err != nil {
			break
		}
		at := slices.IndexFunc(w.actors, func(a *actor) bool { return a.task == c.Task })
		a := w.actors[at]
		if a.begins.Invoked {
			failed[at] = nil
		}
		for _, call := range w.Apply(c, nil) {
			if call.Result.Errno != 0 {
				f := failure{call, c.Task, w.Steps, advice(w.M, &call)}
				failed[at] = append(failed[at], f)
				if first == nil && f.advice != "" {
					first = &f
				}
			}
		}
		if a.begins.Returned && refused(a.begins.Output) && len(failed[at]) > 0 {
			return decisive(failed[at]).String()
		}
	}
	for i, a := range w.actors {
		if w.History.Open[a.index] >= 0 && len(failed[i]) > 0 {
			return decisive(failed[i]).String()
		}
	}
	if first != nil {
		return first.String()
	}
	return ""
}

// refused reports whether an answer is that an operation came to nothing.
func refused(output any) bool {
	switch out := output.(type) {
	case model.Acquired:
		return !out.OK
	case model.Granted:
		return out.Refused
	}
	return false
}

// decisive is the failure that an operation rests on: the first that something can be done
// about, or else the last.
func decisive(failed []failure) failure {
	if at := slices.IndexFunc(failed, func(f failure) bool { return f.advice != "" }); at >= 0 {
		return failed[at]
	}
	return failed[len(failed)-1]
}

// advice says what Setup, or the call, should do, where that is plain.
func advice(m *fsfake.Machine, c *trace.Call) string {
	if c.Result.Errno != fsfake.ENOENT {
		return ""
	}
	for _, name := range []string{c.Op.Path, c.Op.Path2} {
		if dir := path.Dir(name); path.IsAbs(name) {
			if _, ok := m.Lookup(dir); !ok {
				return fmt.Sprintf("make %s in Setup", dir)
			}
		}
	}
	if c.Op.Call == fsfake.CallOpen && c.Op.Flags&(fsfake.O_WRONLY|fsfake.O_RDWR) != 0 && c.Op.Flags&fsfake.O_CREAT == 0 {
		return fmt.Sprintf("open it with O_CREAT, or make %s in Setup", c.Op.Path)
	}
	return ""
}

// Assertions of tasks, live and on numbers. One that fails fails with the step whose call
// it comes after, or with its task's first.

// assertion remembers the first assertion that fails.
func (w *World) assertion(a *actor, e *learn.Effects) {
	if e.Failed != "" && w.failed == "" {
		w.failed, w.failedBy = e.Failed, a.task
	}
}

// BrokenHere says what the last step of a run broke, or nothing. The error is an assertion
// that fails and that nobody would hear of.
func (w *World) BrokenHere(p *scenarios.Property) (said string, err error) {
	if w.failed != "" && !answersForAssertions(w.sc, p) {
		return "", unclaimedAssertion(w.sc, w.failedBy, w.failed)
	}
	switch {
	case p.Invariant != nil:
		said = p.Invariant(scenarios.NewView(w.M))
	case p.Assertions:
		said = w.failed
	}
	return said, nil
}

// fails reports whether an assertion fails that the property is judged by.
func (x *Space) fails(e *learn.Effects) bool { return x.Property.Assertions && e.Failed != "" }

// heard reports an assertion that fails in what was learned of a task, and that nobody
// would hear of.
func (x *Space) heard(slot int, e *learn.Effects) error {
	if e.Failed == "" || answersForAssertions(x.Sc, x.Property) {
		return nil
	}
	return unclaimedAssertion(x.Sc, x.Slots[slot].Task, e.Failed)
}

// answersForAssertions reports whether assertions of a scenario are judged: they are
// asked about, or claimed to hold or to be broken.
func answersForAssertions(sc *scenarios.Scenario, p *scenarios.Property) bool {
	return p.Assertions || slices.ContainsFunc(sc.Claims, func(c scenarios.Claim) bool { return c.Property.Assertions })
}

// unclaimedAssertion is the error for an assertion that fails and that nobody would hear
// of.
func unclaimedAssertion(sc *scenarios.Scenario, task sched.Task, failed string) error {
	return fmt.Errorf("checker: %s: task %s fails the assertion %q, and the scenario claims nothing of assertions: "+
		"claim the property %s to have them judged",
		sc.ID, task, failed, scenarios.Assertion)
}
