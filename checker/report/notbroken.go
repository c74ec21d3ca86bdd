package report

import (
	"fmt"
	"io"
	"strings"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/internal/lists"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A RunEnd is a run that broke none of the properties asked.
type RunEnd struct {
	Scenario   *scenarios.Scenario
	Properties []*scenarios.Property
	Run        *trace.Counterexample
	Finished   bool
	// Unasked says what was not decided of the run; see checker.Replayed.
	Unasked string
	// Checked is the verdict on the first property over all schedules, or nil.
	Checked *checker.Result
}

// NotBroken draws a run that broke nothing, and says where it leaves the smallest
// counterexample, and whether another schedule breaks the property.
func NotBroken(w io.Writer, e RunEnd, o Options) error {
	b := newSheet(w, o)
	names := lists.Map(e.Properties, func(p *scenarios.Property) string { return p.ID })
	head := []piece{pieceOf(bold, Visible(e.Scenario.ID)), pieceOf(warn, "NOT BROKEN BY THIS SCHEDULE"), pieceOf(bold, strings.Join(names, ", "))}
	facts := []piece{pieceOf(dim, e.Scenario.Setting.String()), pieceOf(dim, costText(e.Run.Cost, e.Run.Schedule)), pieceOf(dim, e.ending())}
	b.flow(head, "  ", "  ")
	b.flow(facts, " · ", "")
	b.line("")
	style := o.Style
	style.Unfold = true // there is no cause that would say what matters
	Drawing{Chart: newRunChart(e.Scenario, e.Run)}.draw(b.w, style)
	if e.Checked == nil || e.Checked.Verdict != checker.Holds {
		b.tell("differs", e.difference())
	}
	if e.Unasked != "" {
		b.tell("unknown", strings.ToUpper(e.Unasked[:1])+e.Unasked[1:]+".")
	}
	switch r := e.Checked; {
	case r == nil:
	case r.Counterexample != nil:
		b.command("broken", ReplayCommand(r, o))
	case r.Verdict == checker.Holds:
		b.tell("holds", fmt.Sprintf("No schedule of %s breaks %s: %s.", e.Scenario.Setting, r.Property, countsText(r, o)))
	default:
		b.tell("unknown", fmt.Sprintf("Whether another schedule breaks %s is not known: %s.", r.Property, r.Why))
	}
	return b.w.Flush()
}

func (e *RunEnd) ending() string {
	if e.Finished {
		return "every task has ended"
	}
	return "the schedule ends before the tasks do"
}

func (e *RunEnd) smallest() *trace.Counterexample {
	if e.Checked == nil {
		return nil
	}
	return e.Checked.Counterexample
}

// difference says where the run leaves the smallest counterexample.
func (e *RunEnd) difference() string {
	smallest := e.smallest()
	if smallest == nil {
		return "No counterexample is known to compare with."
	}
	is, want := e.Run.Schedule, smallest.Schedule
	at := 0
	for at < len(is) && at < len(want) && is[at] == want[at] {
		at++
	}
	names := trace.NamesOf(e.Scenario)
	switch {
	case at == len(want):
		return "It begins as the smallest counterexample does, and goes on from there."
	case at == len(is):
		return fmt.Sprintf("At step %d the smallest counterexample goes on with %s; this schedule ends.",
			at+1, doing(&smallest.Trace[at], names))
	}
	return fmt.Sprintf("At step %d the smallest counterexample goes on with %s; this schedule with %s.",
		at+1, doing(&smallest.Trace[at], names), doing(&e.Run.Trace[at], names))
}

// doing is one step in a few words: "A: close fd 3".
func doing(st *trace.Step, names trace.Names) string {
	switch {
	case st.Choice.Action == sched.Stall:
		return "a jump of the clock"
	case st.Choice.Action == sched.PowerLoss:
		return "a loss of power"
	case st.Choice.Action == sched.Kill:
		return st.Choice.Task.String() + ": killed"
	case st.Choice.Action == sched.Signal:
		return st.Choice.Task.String() + ": a signal"
	case len(st.Calls) == 0:
		return st.Choice.Task.String()
	case st.Choice.Fails != "":
		return st.Choice.Task.String() + ": " + names.Call(withoutMode(st.Calls[0].Op)) + ", which fails with " + st.Choice.Fails
	}
	return st.Choice.Task.String() + ": " + names.Call(withoutMode(st.Calls[0].Op))
}
