package trace

import (
	"slices"
	"strconv"
	"strings"

	"github.com/anishathalye/porcupine"

	"lockpick/fsfake"
	"lockpick/internal/lists"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A Counterexample shows how a scenario breaks.
type Counterexample struct {
	Property *scenarios.Property
	Schedule sched.Schedule
	Cost     Cost
	// Kind is how bad its end is.
	Kind scenarios.Kind
	// Smallest: no schedule of lower cost violates the property in this kind. Others: one of another kind may.
	Smallest, Others bool
	Trace            Trace
	History          []porcupine.Operation
	// Said is what the invariant says is wrong after the last step; empty for other kinds of
	// judgement.
	Said string
	// Waits are, for a wedge, a deadlock or a starvation, those who get no further at the end.
	Waits []Wait
	// Attempt are, for a wedge, the last calls of the fresh process, at most 64.
	Attempt []Call
	// Cycle, for a starvation, is how many of the schedule's last choices repeat for ever.
	Cycle int
	// Cause says in a few sentences why, computed from the trace. Named are the steps that
	// it names, in that order, and Mistake is the kind of mistake in a few words.
	Cause   string
	Named   []int
	Mistake string
	// Code is the id of the cause's kind; see [Kinds].
	Code string
	// Asked: the user is asked whether it is wrong. The cause then says which call the question is about.
	Asked bool
	// Act is the step with the call by which it went wrong: the one that should have noticed,
	// that leaves behind what it should not, that closes a circle of those who wait, or that is
	// refused round after round. It is 0 when the cause knows none.
	Act int
	// Blamed is, for a property that histories decide, the step whose answer no order of
	// the operations explains; 0 for other properties.
	Blamed int
	// Kernel says in a sentence what came of carrying the schedule out on the real kernel;
	// empty when nobody has.
	Kernel string
	// Stderr is, where it was carried out, the last line that each command that failed has written to its standard
	// error: "B: ValueError: …".
	Stderr []string
	// Beside is what a change that mends it makes of its order; nil where nobody has looked for one.
	Beside *Beside
}

// A Cost orders counterexamples: fewest faults first, then fewest preemptions, then
// fewest steps. A loss of power counts as a crash; a call that fails is a fault and a step. A preemption is a switch away from a
// task that could have gone on.
type Cost struct {
	Crashes, Stalls, Failing, Signals, Preemptions, Steps int
}

// Faults counts the faults of all kinds.
func (c Cost) Faults() int { return c.Crashes + c.Stalls + c.Failing + c.Signals }

// Less reports whether c is the smaller counterexample's cost.
func (c Cost) Less(d Cost) bool {
	if a, b := c.Faults(), d.Faults(); a != b {
		return a < b
	}
	if c.Preemptions != d.Preemptions {
		return c.Preemptions < d.Preemptions
	}
	return c.Steps < d.Steps
}

// Add counts one more choice; preempts says whether it is a preemption.
func (c *Cost) Add(choice sched.Choice, preempts bool) {
	switch choice.Action {
	case sched.Kill, sched.PowerLoss:
		c.Crashes++
	case sched.Stall:
		c.Stalls++
	case sched.Signal:
		c.Signals++
	default:
		c.Steps++
		if choice.Fails != "" {
			c.Failing++
		}
		if preempts {
			c.Preemptions++
		}
	}
}

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
	texts := lists.Map(c.FailedWith(), strconv.Itoa)
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

// A Beside is a run of what was broken with a change that mends it, in the order of a counterexample as far as the
// change lets it.
type Beside struct {
	// Text says what is changed.
	Text     string
	Scenario *scenarios.Scenario
	Run      *Counterexample
}

// Names are the calls of a step with the names that they have, without descriptors and what is read and written.
func (s *Step) Names() string {
	var b strings.Builder
	for _, c := range s.Calls {
		b.WriteString(c.Op.Call.String() + " " + c.Op.Path + " " + c.Op.Path2 + "\n")
	}
	return b.String()
}
