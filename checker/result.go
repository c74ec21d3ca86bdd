package checker

import (
	"slices"
	"time"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/explain"
	"lockpick/checker/internal/search"
	"lockpick/checker/trace"
	"lockpick/scenarios"
)

// Verdict is the answer to "does the property hold?"; see package scenarios.
type Verdict = scenarios.Verdict

// The verdicts.
const (
	Unknown = scenarios.Unknown
	Holds   = scenarios.Holds
	Broken  = scenarios.Broken
)

// A Result is the verdict on one property of one scenario, with its evidence.
type Result struct {
	Scenario *scenarios.Scenario
	Property *scenarios.Property
	// Judgement is the kind of evidence that decided.
	Judgement scenarios.Judgement
	Verdict   Verdict
	// Claim is what the scenario claims of the property; Claimed whether it claims
	// anything.
	Claim   Verdict
	Claimed bool
	// Complete: the whole space within the bounds was covered.
	Complete bool
	// Why says, for Unknown, which budget ended first and what was covered. For Broken it says
	// which budget ended before the space was covered, or the smallest counterexample found.
	Why string
	// Within is what was covered where the verdict is Unknown all the same; nil for nothing.
	Within *Within
	// Question is what the verdict depends on and only the user knows; nil for nothing.
	Question *trace.Question
	// Facts are what was seen that can be evidence for the property: who acquired, who was
	// refused. The graph engine lists them.
	Facts []scenarios.Fact
	// Cases are the verdicts case by case, where tasks look at inode numbers or file times.
	// nil: they do not, or the setting says which case it is. The verdict of the whole is
	// Broken when a case is, and Holds when all do; what is below belongs to the first that
	// decides, and Scenario says by its assumptions which, unless it is so in all.
	Cases []Case
	looks engine.Observed
	// undecided: there are several cases, and the machine as the setting has it was left alone for
	// them, since nothing is broken there so far.
	undecided bool
	// ordered: it was tried out whether the order of file times matters.
	ordered bool
	// early says why the space in which sleeps last was not decided, where that would have told
	// more; otherwise it is empty.
	early string
	// late: nothing holds because it depends on the time.
	late bool
	// checked: all schedules were asked about, and not a single one followed.
	checked bool
	// Attempts are the ways in which the space was covered, one after the other, and why each was not enough.
	Attempts []Attempt
	// Stats are the counts of the exploration, of all cases together.
	Stats Stats
	// Odds is the probability that a uniformly random scheduler hits the violation; see
	// the package documentation. It is negative when it is not known; OddsWhy says why, for a
	// broken property of which it was to be computed.
	Odds    float64
	OddsWhy string
	// Counterexample is the evidence for Broken, nil otherwise.
	Counterexample *trace.Counterexample
	// Native says in a sentence what came of running commands natively, without the machine that the verdict is of;
	// empty when nobody has. It is set by whoever runs them.
	Native string
	// Survives says which stall processes survive that a longer one breaks; empty where nobody has tried shorter
	// ones. It is set by whoever tries them.
	Survives string
	// Accepted is the code of the cause for which what is broken was accepted; see [Result.Accept].
	Accepted string
	// AnyNumber says for which number of processes and kills it is proved beside those of the setting; empty where it
	// is not. It is set by whoever looks for a proof.
	AnyNumber string
	// BrokenWith is a larger number of processes that breaks it; 0 where none is known. It is set by whoever tries
	// them.
	BrokenWith int
	// Also are counterexamples of other kinds, where the property tells kinds apart. They come in the order of kinds.
	Also []*trace.Counterexample
	// Elapsed is the wall-clock time that the verdict took, set by whoever measures it.
	Elapsed time.Duration
}

// NewResult is the result of whoever has a counterexample and nothing else: broken, without
// odds. Without a counterexample it is unknown, which is where every search begins.
func NewResult(sc *scenarios.Scenario, p *scenarios.Property, cx *trace.Counterexample) Result {
	r := Result{Scenario: sc, Property: p, Judgement: p.Judgement(), Odds: -1, Counterexample: cx}
	if cx != nil {
		r.Verdict = Broken
	}
	r.Claim, r.Claimed = sc.Claim(p)
	return r
}

// Ask makes the verdict depend on a question. The cause of the counterexample then says which call it is about.
func (r *Result) Ask(q *trace.Question) {
	r.Question = q
	if q.Open() && r.Counterexample != nil {
		r.Counterexample.Asked = true
		explain.Explain(r.Scenario, r.Counterexample)
	}
}

// Watch makes the result show other files than its scenario names: paths on the machine, in
// the order of their columns. The cause is told anew, because inodes are numbered as they
// come up at the files that are shown.
func (r *Result) Watch(paths []string) {
	sc := *r.Scenario
	sc.Watch = paths
	r.Scenario = &sc
	if r.Counterexample != nil {
		explain.Explain(&sc, r.Counterexample)
	}
}

// AsClaimed reports whether the verdict is the one that the scenario claims, in every case.
func (r *Result) AsClaimed() bool {
	return r.Claimed && r.Verdict == r.Claim && r.casesAsClaimed()
}

// Uncontended says that a verdict "holds" says little, because nobody was ever in anybody's
// way; "" when it does not hold, or somebody was, or there is nobody else.
func (r *Result) Uncontended() string {
	if r.Verdict != Holds || r.Stats.Contended > 0 || r.looks.Refused || r.Scenario.Setting.Contenders() < 2 {
		return ""
	}
	return "in no schedule did a task ever meet another's lock"
}

// Stats counts what an exploration did.
type Stats struct {
	// States and Transitions of the merged graph; 0 for an engine that runs schedules.
	States, Transitions int
	// Schedules counts complete runs of the program.
	Schedules int
	// Covered is how many schedules the graph stands for, at least: there are more where
	// somebody polls, or where a violation or a budget ended the exploration. It is counted for
	// real programs; otherwise it is 0.
	Covered float64 `json:"-"`
	// Histories counts the distinct histories seen.
	Histories int
	// Coroutines counts the runs of tasks' Go code, and Edges what was learned by them.
	Coroutines, Edges int
	// Symmetry: of states that differ only in who is who one was kept, and counted.
	Symmetry bool `json:",omitempty"`
	// Reduced: states were left out that differ only in when commands made calls that touch nothing shared.
	Reduced bool `json:",omitempty"`
	// Machines counts the distinct states of the machine alone; up to symmetry it depends a little on which
	// worker came first.
	Machines int
	// Contended counts the transitions in which a task was told that the lock is taken,
	// or waited for it: a verdict "holds" without any would be vacuous.
	Contended int
	// Bytes is what the stored states take. It depends a little on which worker came
	// first, so no file has it.
	Bytes int `json:"-"`
	// Depth is the number of steps of the longest shortest path.
	Depth int
}

// learned adds what a space has learned and numbered.
func (s *Stats) learned(x *search.Explorer) {
	l := x.Learned()
	s.Coroutines, s.Edges, s.Machines, s.Histories = l.Coroutines, l.Edges, l.Machines, l.Histories
}

// ErrNothingToJudge is the error for a property that a scenario gives no evidence on: what
// must be seen before it can be said to hold ([scenarios.Evidence]) was seen nowhere, so
// "holds" would say nothing. It is found out by exploring, and says which call went wrong
// first where one did.
var ErrNothingToJudge = engine.ErrNothing

// add sums up the counts of two explorations.
func (s *Stats) add(t Stats) {
	s.States += t.States
	s.Transitions += t.Transitions
	s.Schedules += t.Schedules
	s.Histories = max(s.Histories, t.Histories)
	s.Coroutines += t.Coroutines
	s.Edges = max(s.Edges, t.Edges)
	s.Symmetry = s.Symmetry || t.Symmetry
	s.Reduced = s.Reduced || t.Reduced
	s.Machines = max(s.Machines, t.Machines)
	s.Contended += t.Contended
	s.Bytes = max(s.Bytes, t.Bytes)
	s.Depth = max(s.Depth, t.Depth)
}

// unjudged lists the locks of which "p holds" says nothing although others of the scenario gave
// evidence, each with what is missing: "/b: nobody ever acquired".
func unjudged(p *scenarios.Property, facts []scenarios.Fact) []string {
	if !p.Evidence.ByLock || p.Evidence.Lacks == nil {
		return nil
	}
	var out []string
	for _, lock := range locksIn(facts) {
		own := slices.DeleteFunc(slices.Clone(facts),
			func(f scenarios.Fact) bool { return f.About != lock && f.About != "" })
		if lacks := p.Lacks(own); lacks != "" {
			out = append(out, lock+": "+lacks)
		}
	}
	return out
}

// locksIn lists what facts are about, if that is more than one.
func locksIn(facts []scenarios.Fact) []string {
	var out []string
	for _, f := range facts {
		if f.About != "" {
			out = append(out, f.About)
		}
	}
	slices.Sort(out)
	if out = slices.Compact(out); len(out) < 2 {
		return nil
	}
	return out
}
