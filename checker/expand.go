package checker

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/expand"
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
	// Program, when not empty, names the program by its contents. What programs of several names have
	// found is not merged.
	Program string
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
	e      *expand.Expansion
	o      ExpandOptions
	states int
	keys   uint64 // the sum of their keys
}

// Expanded is what some states showed that were expanded by one process. It is plain data, to be
// stored as JSON and merged by [MergeExpanded].
type Expanded struct {
	// Version is that of this format and of [State]: 3.
	Version  int    `json:"expanded"`
	Scenario string `json:"scenario"`
	Property string `json:"property"`
	// Setting is the scenario's setting as text, First the key of the state where everything
	// begins, so that only equals are merged.
	Setting string `json:"setting"`
	First   string `json:"first"`
	// Program is that of the options.
	Program string `json:"program"`
	// Monitors and InOrder are the options.
	Monitors bool `json:"monitors"`
	InOrder  bool `json:"in_order"`
	// States counts the states expanded, Transitions their successors, and Contended those that
	// met somebody else's lock.
	States      int `json:"states"`
	Transitions int `json:"transitions"`
	Contended   int `json:"contended"`
	// Keys is the sum of the keys of the states expanded, 16 hexadecimal digits of it. Each state is expanded once,
	// so two parts with the same sum are one part given twice.
	Keys string `json:"keys"`
	// Facts are what was shown that can be evidence for the property.
	Facts []scenarios.Fact `json:"facts"`
	// Locks are the names of the locks that the tasks asked for, sorted; they are different locks
	// on all machines that came up. None: there is one, which has no name.
	Locks []string `json:"locks"`
	// Slept: somebody slept. Timed: somebody looked at the clock or at a time of a file. Where parts
	// show both it depends on how long sleeps take, and the setting has to say it.
	Slept bool `json:"slept"`
	Timed bool `json:"timed"`
	// Violations are the fingerprints of the distinct violations, sorted. Schedule is the
	// smallest way to one of them, and Cost is its cost, as of a [State]: no way is smaller
	// when all states of a lower cost were expanded in order.
	Violations []string `json:"violations"`
	Schedule   string   `json:"schedule,omitempty"`
	Cost       string   `json:"cost,omitempty"`
}

const expandedVersion = 3

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
	return &Expansion{sc: sc, p: p, e: expand.New(x, o.InOrder), o: o}, nil
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
	key, err := strconv.ParseUint(s.Key[:16], 16, 64)
	if err != nil {
		return fmt.Errorf("checker: the key of a state: %w", err)
	}
	x.states, x.keys = x.states+1, x.keys+key
	return x.e.Expand(t, func(t *expand.Traveller) error {
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
		Version: expandedVersion, Program: x.o.Program, Scenario: x.sc.ID, Property: x.p.ID, Setting: x.sc.Setting.Format(), First: first.Key,
		Monitors: x.o.Monitors, InOrder: x.o.InOrder, States: x.states, Keys: fmt.Sprintf("%016x", x.keys),
		Transitions: x.e.Transitions, Contended: x.e.Contended, Violations: []string{},
	}
	looks := x.e.X.Observed()
	if err := oneCase(x.sc, looks); err != nil {
		return out, err
	}
	out.Slept, out.Timed = looks.Slept, looks.Clock || looks.Times
	if out.Locks, err = x.e.X.JudgeableWith(engine.LocksOf(x.sc, x.p)); err != nil {
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

// oneCase reports a scenario whose tasks look at what a part cannot leave open.
func oneCase(sc *scenarios.Scenario, looks engine.Observed) error {
	cases := sc.Setting.Assumed().Cases(looks.Inodes, looks.Times)
	if len(cases) == 1 {
		return nil
	}
	var words []string
	for _, c := range cases {
		words = append(words, c.String())
	}
	return fmt.Errorf("checker: %s: tasks look at inode numbers or file times, and states that travel are of one case: assume one of %s", sc.ID, strings.Join(words, "; "))
}

// MergeExpanded joins what the states of a whole space showed into a verdict. states is how many
// distinct states there were: each must have been expanded once. Whoever distributes them
// answers for it that none was lost, and, when they were expanded in the order of their costs, that
// all were that cost less than the violation; the rest need not have been then.
func MergeExpanded(sc *scenarios.Scenario, p *scenarios.Property, parts []Expanded, states int) (Result, error) {
	res := NewResult(sc, p, nil)
	if len(parts) == 0 {
		return res, fmt.Errorf("checker: nothing of %s %s was expanded", sc.ID, p)
	}
	x, err := NewExpansion(sc, p, ExpandOptions{Monitors: parts[0].Monitors, InOrder: parts[0].InOrder, Program: parts[0].Program})
	if err != nil {
		return res, err
	}
	first, err := x.First()
	if err != nil {
		return res, err
	}
	t, err := search.NewTester(sc, p)
	if err != nil {
		return res, err
	}
	var best sched.Schedule
	var looks engine.Observed
	violations, keys := map[string]bool{}, map[string]bool{}
	for i := range parts {
		part := &parts[i]
		if err := part.fits(x, first); err != nil {
			return res, err
		}
		if part.States > 0 && keys[part.Keys] {
			return res, fmt.Errorf("checker: two parts of %s expanded the same states: "+
				"one of them was given twice, and another may be missing; merge each part once", sc.ID)
		}
		keys[part.Keys] = true
		if !slices.Equal(part.Locks, parts[0].Locks) {
			return res, fmt.Errorf("checker: tasks of %s ask for other locks in some parts than in others, and whether two names are one lock is a question about all states at once: decide it on one machine", sc.ID)
		}
		if best, err = part.addTo(&res, t, best); err != nil {
			return res, err
		}
		looks.Slept, looks.Clock = looks.Slept || part.Slept, looks.Clock || part.Timed
		for _, v := range part.Violations {
			violations[v] = true
		}
	}
	if sleepsShow(sc, looks) {
		return res, fmt.Errorf("checker: tasks of %s sleep, and somebody can see how long: let all parts assume the same, %s or %s", sc.ID, scenarios.Assumptions{Sleeps: scenarios.SleepsLast}, scenarios.Assumptions{Sleeps: scenarios.SleepsShort})
	}
	res.Stats.Violations = len(violations)
	if res.Stats.States != states {
		return res, fmt.Errorf("checker: %d states of %s were expanded, and there are %d: some were lost, or were expanded twice", res.Stats.States, sc.ID, states)
	}
	res.Complete = true
	if res.Verdict = conclude(best != nil, true); res.Verdict == Holds {
		return res, engine.Lacking(sc, p, res.Facts)
	}
	r, err := Replay(sc, p, best)
	if err != nil {
		return res, err
	}
	if !r.Broken {
		return res, fmt.Errorf("checker: the counterexample of a part of %s does not break %s: is it of another version?", sc.ID, p)
	}
	res.Counterexample = r.Counterexample
	res.Counterexample.Smallest = parts[0].InOrder &&
		!slices.ContainsFunc(res.Facts, func(f scenarios.Fact) bool { return f.Did == scenarios.DidOutlive })
	return res, nil
}

// addTo adds what a part showed to a result, and returns the smallest schedule so far.
func (e *Expanded) addTo(res *Result, t *search.Tester, best sched.Schedule) (sched.Schedule, error) {
	res.Stats.add(Stats{States: e.States, Transitions: e.Transitions, Contended: e.Contended})
	for _, f := range e.Facts {
		res.Facts = scenarios.AddFact(res.Facts, f)
	}
	if e.Schedule == "" {
		return best, nil
	}
	s, err := sched.ParseSchedule(e.Schedule)
	if err != nil {
		return nil, err
	}
	return t.Smaller(best, s)
}

// fits reports a part that was expanded of something else.
func (e *Expanded) fits(x *Expansion, first State) error {
	if e.Version != expandedVersion {
		return fmt.Errorf("checker: a result of expand is of version %d, and this program reads version %d: expand and merge with one program", e.Version, expandedVersion)
	}
	if e.Scenario != x.sc.ID || e.Property != x.p.ID {
		return fmt.Errorf("checker: a result of expand for %s %s cannot be merged into %s %s", e.Scenario, e.Property, x.sc.ID, x.p)
	}
	st, err := scenarios.ParseSetting(e.Setting, scenarios.Setting{})
	if err != nil {
		return fmt.Errorf("checker: a result of expand for %s: %w", x.sc.ID, err)
	}
	if changed := st.Changed(x.sc.Setting); len(changed) > 0 {
		var words []string
		for _, c := range changed {
			words = append(words, c.String())
		}
		return fmt.Errorf("checker: a part of %s was expanded in another setting: %s; expand all parts in one", x.sc.ID, strings.Join(words, ", "))
	}
	if e.Program != x.o.Program {
		return fmt.Errorf("checker: parts of %s were expanded by different builds of the program: expand all parts with one", e.Scenario)
	}
	if e.Monitors != x.o.Monitors || e.InOrder != x.o.InOrder || e.First != first.Key {
		return fmt.Errorf("checker: results of expand for %s are of two versions of lockpick or of the scenario, or were asked for with different options", e.Scenario)
	}
	return nil
}
