package trace

import (
	"slices"
	"strconv"
	"strings"

	"lockpick/fsfake"
	"lockpick/sched"
)

// calls calls f with each call of the counterexample, in the order of steps.
func (c *Counterexample) calls(f func(st *Step, call *Call)) {
	if c == nil {
		return
	}
	for i := range c.Trace {
		for j := range c.Trace[i].Calls {
			f(&c.Trace[i], &c.Trace[i].Calls[j])
		}
	}
}

// Status is the exit status at the end of a command, 128 and the number of a signal that has ended it; negative where
// a call is no such end.
func (c *Call) Status() int {
	switch sig := c.Op.EndSignal(); {
	case c.Op.Call != fsfake.CallEnd:
		return -1
	case sig != 0:
		return 128 + sig
	}
	return c.Op.Flags &^ fsfake.ExitIdle
}

// Failures lists the exit statuses of commands beside 0, in order and with a comma between: "1,75".
func (c *Counterexample) Failures() string {
	var texts []string
	for _, n := range c.FailedWith() {
		texts = append(texts, strconv.Itoa(n))
	}
	return strings.Join(texts, ",")
}

// FailedWith lists the exit statuses of commands beside 0, in order, each once; none of no counterexample.
func (c *Counterexample) FailedWith() (statuses []int) {
	c.calls(func(_ *Step, call *Call) {
		if n := call.Status(); n > 0 {
			statuses = append(statuses, n)
		}
	})
	slices.Sort(statuses)
	return slices.Compact(statuses)
}

// Idles reports whether a command ends with status 0 and has changed no file.
func (c *Counterexample) Idles() (idles bool) {
	changed := map[sched.Task]bool{}
	c.calls(func(st *Step, call *Call) {
		who := st.Choice.Task
		changed[who] = changed[who] || call.Op.Call.Changes() && call.Result.OK()
		idles = idles || call.Status() == 0 && !changed[who]
	})
	return idles
}
