package scenarios

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"lockpick/internal/numbers"
	"lockpick/model"
)

// A Property is what a scenario is asked about. It is a value, as an analysis.Analyzer
// is: what it is called, what it means, how it is decided, what counts as evidence, how
// its violation is told. The set is open. A property of your own stands in a scenario's
// Claims beside those of this package, and every command and report treats it like them.
//
// Exactly one of Spec, Invariant, Question and Assertions says how it is decided.
//
// Properties are used by pointer and never changed. Within a scenario an ID belongs to
// one property, and the ids of this package's properties to them.
type Property struct {
	// Shows says where a violation shows, which decides whether the property is asked of any number of processes.
	Shows Shows
	// ID names the property in flags, JSON and reports: lower-case words joined by
	// hyphens, such as "lost-update".
	ID string
	// Meaning is one sentence that says what is so when the property holds.
	Meaning string

	// Spec decides by histories: in every run, the operations that it accepts and what
	// they answered are explained by some order that respects real time.
	Spec model.Spec
	// Invariant decides in every state. It returns "" where all is well, or else what is
	// wrong: "A holds, but …". It must be a pure function of what the view shows.
	Invariant func(v View) string
	// Question decides by the graph of reachable states.
	Question Question
	// Within makes the question LockedOut one of time: how long a fresh process may be kept out,
	// in whole milliseconds. 0 means for ever. See [WedgeWithin].
	Within time.Duration
	// Assertions decides by what the tasks assert ([Task.Assert]).
	Assertions bool

	// Decides reports whether an operation that answered output can violate the property;
	// output is model.Pending for one that has not answered. Nil means every operation that
	// Spec accepts and that has answered. For the question Starves it tells which operations
	// may starve. Invariants and assertions do not use it.
	Decides func(input, output any) bool
	// Evidence says what must have been seen somewhere in a space before the property can be
	// said to hold there.
	Evidence Evidence
	// OfHolders: the invariant is about those who hold a lock. A space in which nobody
	// ever holds is no evidence for it.
	OfHolders bool
	// PerLock: an invariant about holders is right where there are several locks: it looks at
	// the lock of each holder. A specification says so itself ([model.LockByLock]).
	PerLock bool
	// Symmetric: the property judges a run as it judges the same run with processes in
	// each other's place. checker.Options.Symmetry asks for it.
	Symmetric bool
	// KeepsExits: the machine remembers how each process has ended, for [View.Exit]. It is for invariants.
	KeepsExits bool
	// Native says which runs of real programs on the machine as it is can show a violation of an invariant.
	Native NativeRuns
	// Kind grades an end that the invariant calls broken, so that the worst is shown. Nil: all are alike.
	Kind func(v View) Kind
	// Table shows what is wrong in the state that breaks an invariant, as rows of cells under a
	// heading, which is the first row; see package report. Nil, or no rows, shows nothing.
	Table func(v View) [][]string
	// Reconsider, when not nil, is asked about the end of a counterexample. It reports whether the invariant accepts
	// that end from now on; then the question is decided again. That may take long. Quickly, it takes a part of that
	// time and finds most of what there is: so it is asked before the first counterexample is shown.
	Reconsider func(end View, quickly bool) (bool, error)
	// Unjudged, unless "", is why the property is unknown where nothing breaks it.
	Unjudged string
	// Judged, when not nil, lists the absolute paths at which an invariant looks, those that it compares with each
	// other in one list. After a loss of power disks that differ elsewhere are then one.
	Judged func() [][]string
	// Disks, unless 0, is how many disks a loss of power leaves at most; what is left out makes "holds" unknown.
	Disks int
	// Tell says in a few words what is wrong at the step that breaks the property. Nil,
	// or an empty answer, means the wording that fits the way in which it was decided.
	Tell func(v Violation) string
}

// NativeRuns are runs of real programs in which nothing but the order is made.
type NativeRuns uint8

const (
	NoNativeRuns  NativeRuns = iota
	OrderedRuns              // what the programs leave behind is compared with serial runs
	RunsWithKills            // programs are killed, and what is left of each file is compared with before and after
)

// String returns the id.
func (p *Property) String() string {
	if p == nil {
		return "no property"
	}
	return p.ID
}

// GoString keeps the printing of results short.
func (p *Property) GoString() string { return "scenarios.Property(" + p.String() + ")" }

// A Judgement is the kind of evidence that decides a property. Kinds are never mixed.
type Judgement string

// The kinds of judgement.
const (
	// ByHistory: operations and what they answered, against a model, by porcupine.
	ByHistory Judgement = "history"
	// ByInvariant: the machine and the current holders, in every state.
	ByInvariant Judgement = "invariant"
	// ByGraph: the graph of reachable states.
	ByGraph Judgement = "graph"
	// ByAssertion: what the tasks assert on their way.
	ByAssertion Judgement = "assertion"
)

// Judgement returns the kind of judgement that decides p, or "" when p does not say.
func (p *Property) Judgement() Judgement {
	switch {
	case p.Spec.Apply != nil:
		return ByHistory
	case p.Invariant != nil, p.OfSerialRuns():
		return ByInvariant
	case p.Question != NoQuestion:
		return ByGraph
	case p.Assertions:
		return ByAssertion
	}
	return ""
}

// OfLock reports whether p is about locks: its specification knows operations of a lock, or its
// invariant is about those who hold one.
func (p *Property) OfLock() bool {
	if p.Spec.Apply == nil {
		return p.OfHolders
	}
	for _, input := range []any{model.Acquire{}, model.RAcquire{}, model.WAcquire{}, model.Grant{}, model.Use{}, model.WhoHolds{}, model.IsHeld{}} {
		if p.Spec.Accepts(input) {
			return true
		}
	}
	return false
}

// OfOneLock reports whether p is about locks and cannot tell one from another: what it says of
// several would be wrong, since two processes may each hold one.
func (p *Property) OfOneLock() bool { return p.OfLock() && !p.PerLock && !p.Spec.PerLock }

// A Question is one about the graph of reachable states.
type Question uint8

// The questions that the checker answers.
const (
	NoQuestion Question = iota
	// Stuck: is there a reachable state where somebody is unfinished and nobody can ever
	// move again?
	Stuck
	// LockedOut: is there a reachable state where every process has finished or died, and
	// a fresh process, running alone with time passing, never gets through? The scenario
	// says with its Probe what getting through is.
	LockedOut
	// Starves: is there a weakly fair cycle in which an operation that Decides accepts has
	// begun and never answers?
	Starves
	// Leaves: is there a reachable state where every process has ended, none of them killed or lost
	// with the power, and a name is on the disk that was not there at the start and that the
	// scenario does not keep ([Scenario.Keeps])?
	Leaves
	// Unserial: is there a reachable state where every process has ended or died, and the files are
	// others than after every serial run? For each scenario this is an invariant, which the checker makes of
	// the serial runs of its programs, or which a scenario of commands has in its claims under the same id.
	Unserial
	// Halves: is there an end, of processes that may be killed, lose the power or have a call fail, where a file is
	// neither as it was nor as a serial run leaves it? It is made an invariant as Unserial is.
	Halves
	// Forgets: is there an end after a loss of power where what a process did is gone that had ended with status 0? It
	// is made an invariant as Unserial is.
	Forgets
)

// Horizon is the time after which a process that still has not got through never will: longer
// than any lease or rule about ages.
const Horizon = 30 * 24 * time.Hour

// NeedsProbe reports whether p can only be asked of a scenario with a Probe.
func (p *Property) NeedsProbe() bool { return p.Question == LockedOut }

// OfCycles reports whether p is about whole cycles of the graph: no single run decides
// it, and no part of the graph.
func (p *Property) OfCycles() bool { return p.Question == Starves }

// Counts reports whether an operation with this input and output is evidence for p:
// whether its answer could have violated p.
func (p *Property) Counts(input, output any) bool {
	switch {
	case p.Spec.Apply != nil && (output == model.Pending{} || !p.Spec.Accepts(input)):
		return false
	case p.Decides == nil:
		return p.Spec.Apply != nil
	}
	return p.Decides(input, output)
}

// A Violation is what there is to say of the step that breaks a property.
type Violation struct {
	// Holders names the tasks that hold a lock after it, "A", "A.2", and says of readers that
	// they read: "A (reads)". Clash: they may not hold together; Holders are of one lock then,
	// and Lock names it where there are several.
	Holders []string
	Clash   bool
	Lock    string
	// Answer is the operation that answered with it: "acquire(B) → ok".
	Answer string
	// Cycle is how many of the last steps can repeat for ever.
	Cycle int
	// Said is what the invariant, or the assertion, says.
	Said string
}

// Told says in a few words what is wrong, without a full stop.
func (p *Property) Told(v Violation) string {
	if p.Tell != nil {
		if text := p.Tell(v); text != "" {
			return text
		}
	}
	if v.Said != "" {
		return v.Said
	}
	return v.Answer + ": no order of the operations explains this answer"
}

var idPattern = regexp.MustCompile(`^[a-z][a-z0-9]*(-[a-z0-9]+)*$`)

// Validate reports what is missing from p, or nil.
func (p *Property) Validate() error {
	if p == nil {
		return fmt.Errorf("scenarios: the property is nil: name one, such as scenarios.MutualExclusion")
	}
	bad := func(format string, args ...any) error {
		return fmt.Errorf("scenarios: property %q: %s", p.ID, fmt.Sprintf(format, args...))
	}
	var ways []string
	for _, w := range []struct {
		given bool
		name  string
	}{{p.Spec.Apply != nil, "Spec"}, {p.Invariant != nil, "Invariant"}, {p.Question != NoQuestion, "Question"}, {p.Assertions, "Assertions"}} {
		if w.given {
			ways = append(ways, w.name)
		}
	}
	switch {
	case !idPattern.MatchString(p.ID):
		return bad("the id must be lower-case words joined by hyphens, such as \"lost-update\"")
	case strings.TrimSpace(p.Meaning) == "":
		return bad("Meaning is missing: say in one sentence what is so when it holds")
	case !strings.HasSuffix(p.Meaning, ".") || strings.Contains(p.Meaning, "\n"):
		return bad("Meaning is %q: make it one sentence with a full stop", p.Meaning)
	case len(ways) == 0:
		return bad("nothing decides it: give Spec, Invariant, Question or Assertions")
	case len(ways) > 1:
		return bad("%s both decide it: give one of them", strings.Join(ways, " and "))
	case p.Question > Forgets:
		return bad("question %d is unknown", p.Question)
	case p.Within != 0 && p.Question != LockedOut:
		return bad("Within is for the question LockedOut")
	case p.Within < 0 || p.Within > Horizon || p.Within%time.Millisecond != 0:
		return bad("Within is %s: choose whole milliseconds up to %s, or 0 for ever", p.Within, Horizon)
	case p.Question == Starves && p.Decides == nil:
		return bad("Decides is missing: it says which operations may starve")
	case p.OfHolders && p.Invariant == nil:
		return bad("OfHolders is for invariants")
	case p.KeepsExits && p.Invariant == nil:
		return bad("KeepsExits is for invariants")
	case p.PerLock && !p.OfHolders:
		return bad("PerLock is for invariants with OfHolders; make a Spec with model.LockByLock")
	case slices.ContainsFunc(Properties(), func(q *Property) bool { return q.ID == p.ID && q != p && !p.serialOf(q) }):
		return bad("the id belongs to a property of package scenarios: choose another")
	}
	if p.Spec.Apply != nil {
		if err := p.Spec.Validate(); err != nil {
			return bad("Spec: %v", err)
		}
	}
	return nil
}

// OfSerialRuns reports whether p compares what is left with what serial runs leave: in each scenario it is an invariant
// made of these.
func (p *Property) OfSerialRuns() bool { return p.Question >= Unserial }

// serialOf reports whether p is what q, which compares with serial runs, is in one scenario.
func (p *Property) serialOf(q *Property) bool { return q.OfSerialRuns() && p.Invariant != nil }

// HoldText says who holds the lock: "A and B both hold the lock".
func HoldText(holders []string) string { return HoldTextOf("", holders) }

// HoldTextOf is HoldText for one lock of several: "A and B both hold /x.lock".
func HoldTextOf(lock string, holders []string) string {
	lock = cmp.Or(lock, "the lock")
	switch len(holders) {
	case 0:
		return "nobody holds " + lock
	case 1:
		return holders[0] + " holds " + lock
	case 2:
		return numbers.List(holders) + " both hold " + lock
	}
	return numbers.List(holders) + " all hold " + lock
}

// FindProperty returns the property with an id: one that a scenario of the list claims
// something of, or else one of this package's, [WedgeWithin] of any time included.
func FindProperty(id string, list ...Scenario) (*Property, error) {
	var names []string
	for _, p := range PropertiesOf(list...) {
		if p.ID == id {
			return p, nil
		}
		names = append(names, p.ID)
	}
	if text, ok := strings.CutPrefix(id, wedgeWithin); ok {
		d, err := time.ParseDuration(text)
		if err == nil && d >= time.Millisecond && d <= Horizon && d%time.Millisecond == 0 {
			return WedgeWithin(d), nil
		}
		return nil, fmt.Errorf("scenarios: the time of %q is not understood: choose one from 1ms to %s, such as %s10m", id, Horizon, wedgeWithin)
	}
	return nil, fmt.Errorf("scenarios: unknown property %q: choose one of %s", id, strings.Join(names, ", "))
}

// PropertiesOf lists the properties of this package and then those that the scenarios
// claim something of besides, in the order in which they come up. It is the order of
// reports.
func PropertiesOf(list ...Scenario) []*Property {
	all := Properties()
	for i := range list {
		for _, c := range list[i].Claims {
			all = append(all, c.Property)
		}
	}
	return InOrder(all)
}

// InOrder returns the properties, each once, in the order of reports: those of this
// package in theirs, and then the others in the order in which they come up. Properties
// with one id are one.
func InOrder(ps []*Property) []*Property {
	var ours, others []*Property
	with := func(ps []*Property, id string) bool {
		return slices.ContainsFunc(ps, func(p *Property) bool { return p.ID == id })
	}
	for _, p := range Properties() {
		if with(ps, p.ID) {
			ours = append(ours, p)
		}
	}
	for _, p := range ps {
		if !with(ours, p.ID) && !with(others, p.ID) {
			others = append(others, p)
		}
	}
	return append(ours, others...)
}

// Shows is where a violation of a property shows.
type Shows uint8

// Where violations show.
const (
	// InHistories: in what happened before, or in all processes together. It is the zero value.
	InHistories Shows = iota
	// InTwoHolders: in two processes that hold one lock at the same time.
	InTwoHolders
	// InAHolder: in a process that holds a lock whose path leads to another file than the one it acquired.
	InAHolder
	// InAStep: in a step of one process that fails an assertion.
	InAStep
)
