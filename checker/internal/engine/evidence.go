package engine

import (
	"errors"
	"fmt"
	"strconv"

	"lockpick/checker/internal/learn"
	"lockpick/model"
	"lockpick/scenarios"
)

// ErrNothing is the error for a property that a scenario gives no evidence on.
var ErrNothing = errors.New("nothing to judge")

// An unjudgeable error is an ErrNothing that says what is missing.
type unjudgeable struct{ text string }

// Error implements error.
func (e unjudgeable) Error() string { return e.text }

// Is makes it an ErrNothing.
func (e unjudgeable) Is(target error) bool { return target == ErrNothing }

// NoProbe is the error for a property that can only be asked of a scenario with a Probe.
func NoProbe(sc *scenarios.Scenario, p *scenarios.Property) error {
	return unjudgeable{fmt.Sprintf("checker: %s cannot be judged by %s: it has no Probe", sc.ID, p)}
}

// Lacking returns nil when the facts seen in a whole space are evidence for p, and
// otherwise the error that says what is missing, and which call went wrong first.
func Lacking(sc *scenarios.Scenario, p *scenarios.Property, facts []scenarios.Fact) error {
	for _, f := range facts {
		if pid, err := strconv.Atoi(f.By); f.Did == scenarios.DidOutlive && err == nil {
			return outlives(sc, pid)
		}
	}
	lacks := p.Lacks(facts)
	if lacks == "" {
		return nil
	}
	text := fmt.Sprintf("checker: %s cannot be judged by %s: %s", sc.ID, p, lacks)
	if wrong := wentWrong(sc, p); wrong != "" {
		text += ": " + wrong
	}
	return unjudgeable{text}
}

// Facts returns what was seen in the space that can be evidence for its property. Nobody
// may learn meanwhile.
func (x *Space) Facts() []scenarios.Fact {
	p := x.Property
	facts := EndFacts(nil, x.prober, x.remainder)
	add := func(f scenarios.Fact) { facts = scenarios.AddFact(facts, f) }
	for i, a := range x.automata {
		task := x.Slots[i].Task.String()
		asserted := a.Node(a.First()).Begins.Asserts
		a.Each(func(e learn.Edge) bool {
			asserted = asserted || e.Effects.Asserts
			if p.OfHolders && e.Effects.Marks() {
				add(scenarios.Fact{Did: scenarios.DidHold, By: task, About: e.Effects.Holding.Path})
			}
			if e.Input == nil {
				return true
			}
			output := any(model.Pending{})
			if e.Effects.Returned {
				output = e.Effects.Output
			}
			if f, ok := p.EvidenceOf(scenarios.Answer{Task: task, Input: e.Input, Output: output}); ok {
				add(f)
			}
			return true
		})
		if p.Assertions && asserted {
			add(scenarios.Fact{Did: scenarios.DidAssert, By: task})
		}
	}
	return facts
}

// EndFacts adds what was seen of ends: whether anybody was probed, whether all had ended well, and whether
// somebody lived on of whom nothing is known.
func EndFacts(facts []scenarios.Fact, p *Prober, r *Remainder) []scenarios.Fact {
	if p.Probed() {
		facts = scenarios.AddFact(facts, scenarios.Fact{Did: scenarios.DidProbe})
	}
	if r.Seen() {
		facts = scenarios.AddFact(facts, scenarios.Fact{Did: scenarios.DidEnd})
	}
	if p != nil && p.outlived != 0 {
		facts = scenarios.AddFact(facts, scenarios.Fact{Did: scenarios.DidOutlive, By: strconv.Itoa(p.outlived)})
	}
	return facts
}

// AddFacts adds what a run showed to what others did.
func (w *World) AddFacts(facts []scenarios.Fact, p *scenarios.Property) []scenarios.Fact {
	for i := range w.actors {
		a := w.actors[i]
		for _, path := range a.held {
			if p.OfHolders {
				facts = scenarios.AddFact(facts, scenarios.Fact{Did: scenarios.DidHold, By: a.task.String(), About: path})
			}
		}
		if p.Assertions && a.asserted {
			facts = scenarios.AddFact(facts, scenarios.Fact{Did: scenarios.DidAssert, By: a.task.String()})
		}
	}
	for i := range w.History.Ops {
		op := &w.History.Ops[i]
		if op.ClientId >= len(w.actors) {
			continue // a death
		}
		if f, ok := p.EvidenceOf(scenarios.Answer{Task: w.actors[op.ClientId].task.String(), Input: op.Input, Output: op.Output}); ok {
			facts = scenarios.AddFact(facts, f)
		}
	}
	return facts
}

// Tries reports whether an operation of a task that may starve has begun and not
// returned.
func (x *Space) Tries(row []uint32, slot int) bool {
	word := row[wordNodes+slot]
	n := x.automata[slot].Node(word &^ learn.Begun)
	tries := func(input any) bool { return input != nil && x.Property.Counts(input, model.Pending{}) }
	return tries(n.Open) || word&learn.Begun != 0 && tries(n.Begins.Input)
}
