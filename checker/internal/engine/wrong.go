package engine

import (
	"fmt"
	"path"
	"slices"

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
