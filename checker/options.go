package checker

import (
	"context"
	"errors"
	"fmt"

	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/search"
	"lockpick/scenarios"
)

// Options bounds an exploration. The zero value explores everything with one worker
// for each processor, up to the default budgets.
type Options struct {
	// States bounds the stored states of the graph; 0 means 50 million. Where it ended an exploration, the search
	// for the smallest counterexample stores that many for each task, and one more, that may have run last.
	States int
	// Bytes bounds the memory for states, and for what is found out about them: the search for
	// the smallest counterexample, and the graph for the odds. 0 means 8 GiB. The process takes
	// more, by what Go's garbage collector leaves lying (see runtime/debug.SetMemoryLimit).
	Bytes int
	// Preemptions, when not nil, leaves out schedules with more preemptions. Such a
	// search never concludes Holds unless it covered everything all the same.
	Preemptions *int
	// Memory is what a state remembers of its past.
	Memory Memory
	// Symmetry keeps one of the states that differ only in who is who. The scenario must
	// declare its processes interchangeable. Where these use pids, all that they write and read is
	// renamed with them, of at most 4 processes, for deadlock and what is judged by histories. With
	// RememberAuto a space of more than 50 000 states in which nothing was broken is explored so without being asked, if it can be.
	Symmetry bool
	// Workers is the number of parallel workers; 0 means one for each processor.
	Workers int
	// Full covers the whole space of a property that is broken, too, however large it is: for
	// the counts, and for the odds. Without it the search ends at the smallest counterexample
	// where the space has more than 50 000 states.
	Full bool
	// Tried spares further Checks of the same scenario what was tried out of its programs; nil
	// is for one Check.
	Tried *Tried
	// Accept are the codes of causes that a survey accepts: it looks further for others.
	Accept []string
	// SkipOdds leaves out the exact odds of a violation, which take a second pass.
	SkipOdds bool
	// Whole has Check return [ErrPart] as soon as it knows that a budget ends before it has an
	// answer, for those who will ask again with a larger one. Where a violation is enough for
	// everybody, that and its smallest counterexample are an answer.
	Whole bool
	// Progress, when not nil, is called now and then from one goroutine.
	Progress func(Progress)
	// Found, when not nil, is called with what a search breaks the property by first, before it looks for a smaller
	// counterexample, and with nothing else known; and with nil where that turns out to be none.
	Found func(*Result)
	// Kind is that of the counterexample to show, if there is one; [scenarios.NoKind] is the worst.
	Kind scenarios.Kind
	// changes is where RememberAuto changes over, for tests.
	changes changes
	// large: in another case the space was not small, and nothing was broken in what was seen of it.
	large bool
	// oracle, when not nil, decides in place of the graph, for tests.
	oracle func(context.Context, *search.Tester) (Result, error)
	// log, when not nil, is where each attempt is noted.
	log *[]Attempt
}

// ErrPart says that a budget ended before there was an answer, and that only one was wanted that no
// budget has a part in; see [Options.Whole].
var ErrPart = errors.New("checker: a budget ended first")

// changes are the size of a space, in states, beyond which RememberAuto changes over to monitors, and how many
// executions are many; 0 means autoStates and fewExecutions.
type changes struct{ monitors, executions int }

// Tried remembers what was tried out of a scenario's programs: which rounds of their retry loops,
// 10 000 times each, and how often they were run again to see that they do the same, which is 500
// times. That takes longer than a small space, and shows the same whatever the property is. A
// Check with a Tried of an earlier one still runs everything that it learned once more. Use one
// for each scenario; its zero value is ready.
type Tried = learn.Tried

// Memory is what a state remembers of the operations so far.
type Memory uint8

const (
	// RememberAuto keeps histories for 50 000 states, and covers a space that turns out to be
	// larger with monitors, with what was learned until then. Porcupine judges what histories there were when it
	// changes over.
	RememberAuto Memory = iota
	// RememberHistories keeps each distinct history, and has porcupine judge it.
	RememberHistories
	// RememberMonitors keeps what an incremental monitor makes of the history: far fewer
	// states. The monitor agrees with porcupine on every history of the test suite, and a
	// violation is confirmed by porcupine on the counterexample.
	RememberMonitors
)

// smallSpace is how many states make a space small. A small space is covered to its end also
// when the property is broken. It does not depend on it what the smallest counterexample is.
const smallSpace = 50_000

// autoStates is where RememberAuto changes over to monitors: a space that is not small with
// histories is often small without.
const autoStates = smallSpace

// Progress is how far the search for a verdict has come.
type Progress struct {
	Scenario string
	Property *scenarios.Property
	search.Progress
	// Within is what is known to hold, once few preemptions were covered; nil before.
	Within *Within
}

// limits are the bounds of the graph engine.
func (o *Options) limits(sc *scenarios.Scenario, p *scenarios.Property) search.Limits {
	l := search.Limits{States: o.States, Bytes: o.Bytes, Workers: o.Workers}
	if o.Progress != nil {
		l.Progress = func(g search.Progress) { o.Progress(Progress{Scenario: sc.ID, Property: p, Progress: g}) }
	}
	return l
}

// validate reports options that make no sense.
func (o *Options) validate() error {
	for _, b := range []struct {
		name string
		n    int
	}{{"states", o.States}, {"bytes", o.Bytes}, {"workers", o.Workers}} {
		if b.n < 0 {
			return fmt.Errorf("checker: a budget of %d %s: choose 1 or more, or 0 for the default", b.n, b.name)
		}
	}
	if o.Preemptions != nil && *o.Preemptions < 0 {
		return fmt.Errorf("checker: a bound of %d preemptions: choose 0 or more", *o.Preemptions)
	}
	return nil
}
