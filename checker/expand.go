package checker

import (
	"context"
	"fmt"
	"slices"

	"lockpick/checker/internal/search"
	"lockpick/scenarios"
	"lockpick/sched"
)

// ExpandOptions say how states that travel are told apart. The zero value works.
type ExpandOptions struct {
	// Monitors has states remember monitors instead of histories: see [RememberMonitors].
	Monitors bool
	// InOrder makes a state one together with who stepped last. There are more states then, and
	// whoever expands them in the order of their costs meets the smallest counterexample first.
	InOrder bool
	// Tried, when not nil, has the rounds of retry loops that were tried out before: see
	// [Options].
	Tried *Tried
}

// An Expansion computes the successors of states, and keeps nothing of them but a cache: any process
// that runs the same program can expand any state, and all that somebody else needs to know is
// where the state is kept. So a space can be spread over machines by whatever engine distributes
// lines of text: each state belongs to the part that its key says, and is expanded once.
type Expansion struct {
	sc     *scenarios.Scenario
	p      *scenarios.Property
	e      *search.Expansion
	o      ExpandOptions
	states int
}

// Expanded is what some states showed that were expanded by one process. It is plain data, to be
// stored as JSON and merged by [MergeExpanded].
type Expanded struct {
	// Version is that of this format and of [State]: 1.
	Version  int    `json:"expanded"`
	Scenario string `json:"scenario"`
	Property string `json:"property"`
	// Setting is the scenario's setting as text, First the key of the state where everything
	// begins, so that only equals are merged.
	Setting string `json:"setting"`
	First   string `json:"first"`
	// Monitors and InOrder are the options.
	Monitors bool `json:"monitors"`
	InOrder  bool `json:"in_order"`
	// States counts the states expanded, Transitions their successors, and Contended those that
	// met somebody else's lock.
	States      int `json:"states"`
	Transitions int `json:"transitions"`
	Contended   int `json:"contended"`
	// Facts are what was shown that can be evidence for the property.
	Facts []scenarios.Fact `json:"facts"`
	// Violations are the fingerprints of the distinct violations, sorted. Schedule is the
	// smallest way to one of them, and Cost is its cost, as of a [State]: no way is smaller
	// when all states of a lower cost were expanded in order.
	Violations []string `json:"violations"`
	Schedule   string   `json:"schedule,omitempty"`
	Cost       string   `json:"cost,omitempty"`
}

const expandedVersion = 1

// NewExpansion returns an expansion of the space of a scenario for one property. The error is a fault
// of the scenario, or a property that is a question about cycles, which no state can answer.
func NewExpansion(sc *scenarios.Scenario, p *scenarios.Property, o ExpandOptions) (*Expansion, error) {
	switch {
	case p.OfCycles():
		return nil, fmt.Errorf("checker: %s is a question about cycles, which states one by one cannot answer: decide it on one machine", p)
	case sc.External:
		return nil, fmt.Errorf("checker: %s runs real programs, which take too long to be learned again in each process: decide it on one machine", sc.ID)
	}
	x, err := search.NewExplorer(sc, p)
	if err != nil {
		return nil, err
	}
	if o.Tried != nil {
		if err := o.Tried.For(sc); err != nil {
			return nil, err
		}
		x.Tried = o.Tried
	}
	if o.Monitors {
		x.RememberMonitors()
	}
	return &Expansion{sc: sc, p: p, e: search.NewExpansion(x, o.InOrder), o: o}, nil
}

// First is the state where everything begins.
func (x *Expansion) First() (State, error) {
	t := x.e.First()
	return newState(&t)
}

// Expand calls visit with each successor of a state that does not break the property; several may be
// one state. The error says that the state is none of this scenario and version, or is visit's.
func (x *Expansion) Expand(s State, visit func(State) error) error {
	t, err := s.traveller()
	if err != nil {
		return err
	}
	x.states++
	return x.e.Expand(t, func(t *search.Traveller) error {
		to, err := newState(t)
		if err != nil {
			return err
		}
		return visit(to)
	})
}

// End looks once more at what was learned, and returns what the states expanded so far showed. The
// error says that they cannot be judged one by one, or that a program is no function of its calls.
func (x *Expansion) End(ctx context.Context) (Expanded, error) {
	first, err := x.First()
	if err != nil {
		return Expanded{}, err
	}
	out := Expanded{
		Version: expandedVersion, Scenario: x.sc.ID, Property: x.p.ID, Setting: x.sc.Setting.Format(), First: first.Key,
		Monitors: x.o.Monitors, InOrder: x.o.InOrder, States: x.states,
		Transitions: x.e.Transitions, Contended: x.e.Contended, Violations: []string{},
	}
	if err := oneCase(x.sc, x.e.X.Observed()); err != nil {
		return out, err
	}
	if x.e.X.MayTrap() {
		return out, fmt.Errorf("checker: %s can go on for ever, and whether %s is broken there is a question about all states at once: decide it on one machine", x.sc.ID, x.p)
	}
	if err := x.e.X.Confirm(ctx); err != nil {
		return out, err
	}
	out.Facts = x.e.X.Facts()
	if x.e.Bad != nil {
		out.Violations, out.Schedule = x.e.X.Fingerprints(x.e.Violated), x.e.Bad.String()
		out.Cost = costText(x.e.BadCost)
	}
	return out, nil
}

// MergeExpanded joins what the states of a whole space showed into a verdict. states is how many
// distinct states there were: each must have been expanded once. Whoever distributes them
// answers for it that none was lost, and, when they were expanded in the order of their costs, that
// all were that cost less than the violation; the rest need not have been then.
func MergeExpanded(sc *scenarios.Scenario, p *scenarios.Property, parts []Expanded, states int) (Result, error) {
	if len(parts) == 0 {
		return Result{}, fmt.Errorf("checker: nothing of %s %s was expanded", sc.ID, p)
	}
	x, err := NewExpansion(sc, p, ExpandOptions{Monitors: parts[0].Monitors, InOrder: parts[0].InOrder})
	if err != nil {
		return Result{}, err
	}
	first, err := x.First()
	if err != nil {
		return Result{}, err
	}
	whole := ShardResult{Scenario: sc.ID, Property: p.ID, Setting: parts[0].Setting, Of: 1, Complete: true}
	t, err := search.NewTester(sc, p)
	if err != nil {
		return Result{}, err
	}
	var best sched.Schedule
	for i := range parts {
		part := &parts[i]
		if err := part.fits(x, first); err != nil {
			return Result{}, err
		}
		whole.Stats.add(Stats{States: part.States, Transitions: part.Transitions, Contended: part.Contended})
		whole.Violations = append(whole.Violations, part.Violations...)
		for _, f := range part.Facts {
			whole.Facts = scenarios.AddFact(whole.Facts, f)
		}
		if part.Schedule == "" {
			continue
		}
		s, err := sched.ParseSchedule(part.Schedule)
		if err != nil {
			return Result{}, err
		}
		if best, err = t.Smaller(best, s); err != nil {
			return Result{}, err
		}
	}
	if whole.Stats.States != states {
		return Result{}, fmt.Errorf("checker: %d states of %s were expanded, and there are %d: some were lost, or were expanded twice", whole.Stats.States, sc.ID, states)
	}
	slices.Sort(whole.Violations)
	if best != nil {
		whole.Schedule = best.String()
	}
	r, err := Merge(sc, p, []ShardResult{whole})
	if r.Counterexample != nil {
		r.Counterexample.Smallest = parts[0].InOrder
	}
	return r, err
}

// fits reports a part that was expanded of something else.
func (e *Expanded) fits(x *Expansion, first State) error {
	whole := ShardResult{Scenario: e.Scenario, Property: e.Property, Setting: e.Setting, Of: 1}
	if e.Version != expandedVersion {
		return fmt.Errorf("checker: a result of expand is of version %d, and this program reads version %d: expand and merge with one program", e.Version, expandedVersion)
	}
	if err := whole.fits(x.sc, x.p, 1); err != nil {
		return err
	}
	if e.Monitors != x.o.Monitors || e.InOrder != x.o.InOrder || e.First != first.Key {
		return fmt.Errorf("checker: results of expand for %s are of two versions of lockpick or of the scenario, or were asked for with different options", e.Scenario)
	}
	return nil
}
