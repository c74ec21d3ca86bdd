package search

import (
	"errors"

	"github.com/anishathalye/porcupine"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/history"
	"lockpick/checker/internal/learn"
	"lockpick/checker/internal/serial"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A Tester runs one scenario, one schedule at a time, and judges each run by one
// property. It is not safe for concurrent use.
type Tester struct {
	Sc       *scenarios.Scenario
	Property *scenarios.Property
	base     *fsfake.Machine
	Judge    *history.Judge
	prober   *engine.Prober
	remains  *engine.Remainder // what may be left behind; nil where nobody asks
	// Tried is what need not be tried out again of the programs.
	Tried *learn.Tried
	// MaxSteps cuts a run that does not end.
	MaxSteps int
	// Live: let every run be one of the tasks' own code. Runs that are kept always are.
	Live bool
	// enumerates: runs are made with every choice.
	enumerates    bool
	learned, live *engine.World // those whose buffers are used again
	steps         int           // of the run before
	// facts are what the runs so far showed that can be evidence; enough: it is.
	facts  []scenarios.Fact
	enough bool
	// Nowhere: in some run nothing could happen any more although somebody was not finished.
	Nowhere bool
	// traps is what knows of traps; nil until it is asked. NoTraps: it is not asked. TooLarge: so
	// much follows some state that it does not say, and is not asked any more.
	traps    *trapFinder
	NoTraps  bool
	TooLarge bool
	// TrapStates is how many states may follow; 0 means 200 000.
	TrapStates int
	observed   engine.Observed // by the tasks, in all runs so far
	Locks      engine.Locks    // those that are known to be used
	looked     bool            // they were looked for
	// KeepHistory: let every outcome have a history, which costs less than a trace.
	KeepHistory bool
	// Unjudged: leave histories unjudged (for measuring what judging costs).
	Unjudged bool
}

// defaultMaxSteps cuts runs of programs that never end; no scenario comes near.
const defaultMaxSteps = 10_000

// NewTester returns a tester. The error is a fault of the scenario, or a property that it
// cannot be asked.
func NewTester(sc *scenarios.Scenario, p *scenarios.Property) (*Tester, error) {
	if err := sc.Validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	p, err := serial.Bind(sc, p)
	if err != nil {
		return nil, err
	}
	base, err := engine.MachineAtFirst(sc, p)
	if err != nil {
		return nil, err
	}
	t := &Tester{Sc: sc, Property: p, base: base, MaxSteps: defaultMaxSteps, Tried: &learn.Tried{}}
	switch p.Judgement() {
	case scenarios.ByHistory:
		t.Judge = history.NewJudge(p.Spec)
	case scenarios.ByGraph:
		if p.NeedsProbe() && sc.Probe == nil {
			return nil, engine.NoProbe(sc, p)
		}
		t.prober = engine.NewProber(sc, p)
	}
	t.remains = engine.NewRemainder(sc, p, base)
	return t, nil
}

// An Outcome is what one run came to.
type Outcome struct {
	Schedule sched.Schedule
	Cost     trace.Cost
	Broken   bool
	Kind     scenarios.Kind // of what is broken
	// Finished: nothing could happen any more. Otherwise the strategy ended the run, or
	// the step limit cut it.
	Finished bool
	Cut      bool
	Trace    trace.Trace
	History  []porcupine.Operation
	Waits    []trace.Wait
	attempt  []trace.Call
	said     string // what is wrong, in the words of the invariant or the assertion
	// wait: how many calls were told that the lock is taken.
	Contended int
}

// Run makes one run. With keep the outcome has a trace and a history. A run ends with
// the step that breaks the property. The error is a drift of a replay, or a fault of
// the scenario itself.
func (t *Tester) Run(st sched.Strategy, keep bool) (Outcome, error) {
	if keep && !t.looked {
		t.looked = true
		t.Locks.Add(engine.LocksOf(t.Sc, t.Property))
	}
	w, err := t.begin(keep)
	if err != nil {
		return Outcome{}, err
	}
	defer w.Stop()
	defer func() { t.observed = t.observed.Or(w.Observed()) }()
	o := Outcome{Schedule: make(sched.Schedule, 0, t.steps)} // it outlives the run
	calls := w.Calls
	defer func() { w.Calls, t.steps = calls[:0], len(o.Schedule) }()
	follows := sched.Follows(st)
	for w.Err == nil {
		// Whoever follows a schedule may go on although everybody polls in vain, and says how
		// long. When it goes on although nobody is left, it drifts.
		if progress := w.Look(); !progress && !follows {
			o.Finished = true
			break
		}
		if w.Steps >= t.MaxSteps {
			o.Cut = true
			break
		}
		if ends, err := t.endsHere(w); ends || err != nil {
			if err != nil {
				return o, err
			}
			break
		}
		c, err := st.Next(&w.View)
		if errors.Is(err, sched.ErrEnd) {
			o.Finished = !w.Look()
			break
		}
		if err != nil {
			o.History = w.History.Ops
			return o, err
		}
		preempts := w.Preempts(c)
		w.Preempted = append(w.Preempted, preempts)
		o.Cost.Add(c, preempts)
		o.Schedule = append(o.Schedule, c)
		before := len(w.History.Ops)
		calls = w.Apply(c, calls[:0])
		if engine.Contended(calls) {
			o.Contended++
		}
		if keep {
			o.Trace = append(o.Trace, w.Record(c, calls, preempts, before))
		}
		if err := t.Locks.Distinct(t.Sc, t.Property, w.M); err != nil {
			return o, err
		}
		if o.said, err = w.BrokenHere(t.Property); err != nil {
			return o, err
		}
		if o.Broken = o.said != ""; o.Broken {
			if t.Property.Kind != nil {
				o.Kind = t.Property.Kind(scenarios.NewView(w.M))
			}
			break
		}
	}
	if w.Err != nil && !t.brokenBefore(w) {
		return o, w.Err
	}
	w.AddLocks(&t.Locks)
	if err := t.Locks.Judgeable(t.Sc, t.Property); err != nil {
		return o, err
	}
	if err := t.decide(w, &o); err != nil {
		return o, err
	}
	t.remember(w)
	t.Nowhere = t.Nowhere || o.Finished && w.Unfinished()
	if keep || t.KeepHistory {
		o.History = append([]porcupine.Operation(nil), w.History.Ops...)
	}
	if keep && !t.Locks.Named() {
		engine.Unnamed(o.Trace)
		history.Unnamed(o.History)
	}
	return o, nil
}

// Observed is what the tasks and the probe looked at in all runs so far.
func (t *Tester) Observed() engine.Observed { return t.observed.Or(t.prober.Observed()) }

// begin starts a run.
func (t *Tester) begin(keep bool) (*engine.World, error) {
	w := t.live
	switch {
	case keep, t.Live && w == nil:
		if w = engine.EmptyWorld(t.Sc, t.Property); !keep {
			t.live = w
		}
	case t.Live:
	case t.learned == nil || t.learned.Memo.Full():
		c, err := learn.NewMemo(t.Sc, learn.Functions(t.Sc))
		if err != nil {
			return nil, err
		}
		t.learned = engine.EmptyWorld(t.Sc, t.Property)
		t.learned.Memo = c
		fallthrough
	default:
		w = t.learned
	}
	w.Locates, w.Enumerates = keep, t.enumerates
	w.Start(t.base.Clone())
	return w, nil
}

// brokenBefore reports whether a run that ended with somebody who spins for ever had broken its property
// before: histories are judged when a run is over.
func (t *Tester) brokenBefore(w *engine.World) bool {
	return w.Spins() && t.Judge != nil && !t.Unjudged && !t.Judge.OK(w.History.Ops)
}

// decide judges a run at its end, and cuts it to the step that broke the property.
func (t *Tester) decide(w *engine.World, o *Outcome) error {
	switch {
	case t.Judge != nil:
		if t.Unjudged || t.Judge.OK(w.History.Ops) {
			return nil
		}
		o.Broken = true
		t.cutToViolation(w, o)
	case t.Property.Question == scenarios.Stuck:
		if o.Broken, o.Waits = w.Deadlocked(); !o.Broken && t.Sc.External {
			_, err := t.inTrap(w, o)
			return err
		}
	case t.Property.Question == scenarios.Leaves:
		o.said = w.LeftBehind(t.remains)
		o.Broken = o.said != ""
	case t.Property.Question == scenarios.LockedOut:
		if trapped, err := t.inTrap(w, o); trapped || err != nil {
			return err
		}
		if !w.Unfinished() {
			var err error
			if o.Broken, o.Waits, err = t.prober.Wedged(w.M); err == nil && o.Broken && o.Trace != nil {
				o.attempt, err = t.prober.Attempted(w.M)
			}
			return err
		}
	}
	return nil
}

// remember keeps what a run showed, until that is evidence.
func (t *Tester) remember(w *engine.World) {
	if t.enough {
		return
	}
	t.facts = engine.EndFacts(w.AddFacts(t.facts, t.Property), t.prober, t.remains)
	t.enough = t.Property.Lacks(t.facts) == ""
}

// Lacking returns nil when the runs so far showed what is evidence for the property, and
// otherwise the error that says what is missing.
func (t *Tester) Lacking() error {
	if err := t.Outlived(); err != nil {
		return err
	}
	if t.enough {
		return nil
	}
	return engine.Lacking(t.Sc, t.Property, t.facts)
}

// Outlived returns an error where some run ended in a way of which nobody can say whether it is a wedge:
// see [engine.Prober.Outlived].
func (t *Tester) Outlived() error {
	err := t.prober.Outlived()
	if err == nil && t.traps != nil {
		err = t.traps.x.Outlived()
	}
	return err
}

// Unsaid says why nobody can say whether the end of a run that was kept is a wedge; "" where it was decided.
func (t *Tester) Unsaid(o Outcome) string {
	if t.prober == nil || len(o.Trace) == 0 {
		return ""
	}
	return t.prober.Unsaid(o.Trace[len(o.Trace)-1].After)
}

// cutToViolation shortens a run whose history is not linearizable to the first step at
// which it is not: only returns can break it.
func (t *Tester) cutToViolation(w *engine.World, o *Outcome) {
	for s := range o.Schedule {
		p := history.Prefix(w.History.Ops, s)
		if t.Judge.OK(p) {
			continue
		}
		w.History.Ops = p
		o.cut(s+1, w.Preempted)
		return
	}
}

// cut shortens a run to its first n choices.
func (o *Outcome) cut(n int, preempted []bool) {
	o.Schedule = o.Schedule[:n]
	o.Cost = trace.Cost{}
	for i, c := range o.Schedule {
		o.Cost.Add(c, preempted[i])
	}
	if o.Trace != nil {
		o.Trace = o.Trace[:n]
	}
	o.Finished = false
}

// endsHere reports whether a run breaks its property where it stands, although a kill, a stall
// or a loss of power may still happen: nobody can move any more, and that is a deadlock or a
// wedge.
func (t *Tester) endsHere(w *engine.World) (bool, error) {
	switch t.Property.Question {
	case scenarios.Stuck:
		if w.Spins() {
			return true, nil
		}
		for i := range w.View.Tasks {
			if w.View.Tasks[i].Enabled {
				return false, nil
			}
		}
		bad, _ := w.Deadlocked()
		return bad, nil
	case scenarios.Leaves:
		return w.LeftBehind(t.remains) != "", nil
	case scenarios.LockedOut:
		if w.Losses == 0 && len(w.View.Kills) == 0 && len(w.View.Signals) == 0 || w.Unfinished() {
			return false, nil
		}
		bad, _, err := t.prober.Wedged(w.M)
		return bad, err
	}
	return false, nil
}
