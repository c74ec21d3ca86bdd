package trace

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
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

// status is the exit status at the end of a command; negative where a call is no such end, or a signal has ended it.
func status(call *Call) int {
	if n := call.Op.Flags &^ fsfake.ExitIdle; call.Op.Call == fsfake.CallEnd && n <= 255 {
		return n
	}
	return -1
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
		if n := status(call); n > 0 {
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
		idles = idles || status(call) == 0 && !changed[who]
	})
	return idles
}

// Met says which command is the last that ends after it has met another's lock, and how; empty when none does.
func (c *Counterexample) Met() (text string) {
	at := map[sched.Task]string{}
	c.calls(func(st *Step, call *Call) {
		who, r := st.Choice.Task, &call.Result
		if r.Errno != 0 && call.Op.Call.Contends(r) {
			at[who] = fmt.Sprintf("%s meets another's lock at step %d: %s answers %s.",
				scenarios.ProcessName(who.Process), st.N, call.Op, fsfake.ErrnoName(r.Errno))
		}
		if n := status(call); n >= 0 && at[who] != "" {
			text = fmt.Sprintf("%s Then it ends with status %d.", at[who], n)
		}
	})
	return text
}
