package site

import (
	"fmt"
	"strings"

	"lockpick/checker/report"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A player is a counterexample to step through: rows of a timeline, and the state of
// the machine after each. Row and state 0 are before the first step.
type player struct {
	ID      string
	Diagram *diagram
	Lanes   []lane
	Dir     string // the directory that file names are relative to
	Start   []change
	Steps   []step
	// States has one more than Steps.
	States []state
}

// A lane is the column of one task. Ink numbers its process's colour.
type lane struct {
	Name string
	Pid  int
	Ink  int
}

// A step is one row of the timeline.
type step struct {
	N     int
	Cells []laneCell
	// Clock, for a stall, says how the clock jumped; there are no cells then.
	Clock                         string
	Changes                       []change
	Preempts, Fault, Wrong, Clash bool
	// Tag names the fault of a task, "crash" or "signal"; empty for none.
	Tag string
	// Source is the line of the source that makes the call; empty when it is not known.
	Source string
	// Repeats: the step is part of the cycle that repeats for ever.
	Repeats bool
	// Say is what a screen reader announces.
	Say string
}

// A laneCell is what a task did in a step, if anything.
type laneCell struct {
	lane
	Acts, Holds bool
	Calls       []report.CallText
}

// A change is what stands at a watched name from a step on.
type change struct{ Name, Text string }

// inks is how many colours the style has for processes.
const inks = 6

func newPlayer(cx *trace.Counterexample, chart *report.Chart) *player {
	p := &player{ID: cx.Property.ID, Dir: chart.Dir}
	for _, l := range chart.Lanes {
		p.Lanes = append(p.Lanes, lane{l.Name, l.Pid, l.Task.Process % inks})
	}
	for i := range chart.First {
		p.Start = append(p.Start, change{chart.Files[i], chart.First[i].Text})
	}
	for i := range chart.Rows {
		s := p.step(chart, &chart.Rows[i])
		s.Repeats = i >= len(chart.Rows)-cx.Cycle
		p.Steps = append(p.Steps, s)
	}
	// Of a wedge or a deadlock, the last step leaves what is wrong.
	if n := len(p.Steps); n > 0 && cx.Property.Judgement() == scenarios.ByGraph && cx.Cycle == 0 {
		p.Steps[n-1].Wrong, chart.Rows[n-1].Wrong = true, true
	}
	p.Diagram = newDiagram(cx, chart)
	p.States = newStates(chart)
	for i := range p.Steps {
		p.Steps[i].Say = say(&p.Steps[i], &p.States[i+1], len(p.Steps), chart.Wrong)
	}
	return p
}

func (p *player) step(chart *report.Chart, r *report.Row) step {
	s := step{N: r.N, Source: r.Source, Preempts: r.Preempts, Fault: r.Fault, Wrong: r.Wrong, Clash: r.Clash}
	switch chart.Walk.Steps[r.N-1].Choice.Action {
	case sched.Kill:
		s.Tag = "crash"
	case sched.Signal:
		s.Tag = "signal"
	}
	for i, l := range p.Lanes {
		c := laneCell{lane: l, Holds: r.Holding[i]}
		if r.Lane == i {
			c.Acts, c.Calls = true, r.Calls
		}
		s.Cells = append(s.Cells, c)
	}
	if r.Lane < 0 {
		s.Clock = r.Calls[0].Call
	}
	for i, f := range r.Files {
		if f.Changed {
			s.Changes = append(s.Changes, change{chart.Files[i], f.Text})
		}
	}
	return s
}

// say tells a step in a sentence or two.
func say(s *step, st *state, steps int, wrong string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Step %d of %d: ", s.N, steps)
	if s.Clock != "" {
		b.WriteString(s.Clock)
	}
	for _, c := range s.Cells {
		if !c.Acts {
			continue
		}
		b.WriteString(c.Name)
		for i, call := range c.Calls {
			if i > 0 {
				b.WriteString(",")
			}
			b.WriteString(" " + call.Call)
			if call.Answer != "" {
				b.WriteString(" " + call.Answer)
			}
		}
	}
	b.WriteString(". ")
	if s.Preempts {
		b.WriteString("A preemption. ")
	}
	if text := st.HoldersText(); text != "" {
		b.WriteString(text + ". ")
	}
	if s.Wrong {
		b.WriteString("Broken here")
		if wrong != "" && st.Wrong != "" {
			b.WriteString(": " + wrong)
		}
		b.WriteString(".")
	}
	return strings.TrimSuffix(b.String(), " ")
}
