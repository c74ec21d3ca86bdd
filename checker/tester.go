package checker

import (
	"errors"

	"github.com/anishathalye/porcupine"

	"lockpick/checker/internal/history"
	"lockpick/checker/internal/learn"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A tester runs one scenario, one schedule at a time, and judges each run by one
// property. It is not safe for concurrent use.
type tester struct {
	sc       *scenarios.Scenario
	property *scenarios.Property
	base     *fsfake.Machine
	judge    *history.Judge
	prober   *prober
	// maxSteps cuts a run that does not end.
	maxSteps int
	// live: let every run be one of the tasks' own code. Runs that are kept always are.
	live    bool
	learned *world // the one whose buffers are used again
	// judgeable: some run had what the property is judged by.
	judgeable bool
	// unjudged: leave histories unjudged (for measuring what judging costs).
	unjudged bool
}

// defaultMaxSteps cuts runs of programs that never end; no scenario comes near.
const defaultMaxSteps = 10_000

func newTester(sc *scenarios.Scenario, p *scenarios.Property) (*tester, error) {
	if err := sc.Validate(); err != nil {
		return nil, err
	}
	if err := p.Validate(); err != nil {
		return nil, err
	}
	base, err := machineAtFirst(sc, p)
	if err != nil {
		return nil, err
	}
	t := &tester{sc: sc, property: p, base: base, maxSteps: defaultMaxSteps}
	switch p.Judgement() {
	case scenarios.ByHistory:
		t.judge = history.NewJudge(p.Spec)
	case scenarios.ByGraph:
		if p.NeedsProbe() && sc.Probe == nil {
			return nil, nothingToJudge(sc, p)
		}
		t.prober = newProber(sc)
	}
	return t, nil
}

// An outcome is what one run came to.
type outcome struct {
	schedule sched.Schedule
	cost     trace.Cost
	broken   bool
	// finished: nothing could happen any more. Otherwise the strategy ended the run, or
	// the step limit cut it.
	finished bool
	cut      bool
	trace    trace.Trace
	history  []porcupine.Operation
	waits    []trace.Wait
	said     string // what is wrong, in the words of the invariant
	// wait: how many calls were told that the lock is taken.
	contended int
}

// run makes one run. With keep the outcome has a trace and a history. A run ends with
// the step that breaks the property. The error is a drift of a replay, or a fault of
// the scenario itself.
func (t *tester) run(st sched.Strategy, keep bool) (outcome, error) {
	w, err := t.begin(keep)
	if err != nil {
		return outcome{}, err
	}
	defer w.stop()
	var o outcome
	calls := w.calls
	defer func() { w.calls = calls[:0] }()
	replay, strict := st.(sched.Replay)
	for w.err == nil {
		// A replay may go on although everybody polls in vain: it says how long. When it
		// goes on although nobody is left, it drifts.
		if moves, lively := w.look(); !moves && w.steps >= len(replay.Schedule) || !lively && !strict {
			o.finished = true
			break
		}
		if w.steps >= t.maxSteps {
			o.cut = true
			break
		}
		if ends, err := t.endsHere(w); ends || err != nil {
			if err != nil {
				return o, err
			}
			break
		}
		c, err := st.Next(&w.view)
		if errors.Is(err, sched.ErrEnd) {
			_, lively := w.look()
			o.finished = !lively
			break
		}
		if err != nil {
			o.history = w.history.Ops
			return o, err
		}
		preempts := w.preempts(c)
		w.preempted = append(w.preempted, preempts)
		o.cost.Add(c, preempts)
		o.schedule = append(o.schedule, c)
		before := len(w.history.Ops)
		calls = w.apply(c, calls[:0])
		if contended(calls) {
			o.contended++
		}
		if keep {
			o.trace = append(o.trace, w.record(c, calls, preempts, before))
		}
		if t.property.Invariant != nil {
			if o.said = t.property.Invariant(scenarios.NewView(w.m)); o.said != "" {
				o.broken = true
				break
			}
		}
	}
	if w.err != nil {
		return o, w.err
	}
	t.judgeable = t.judgeable || w.evidence(t.property)
	if err := t.decide(w, &o); err != nil {
		return o, err
	}
	if keep {
		o.history = append([]porcupine.Operation(nil), w.history.Ops...)
	}
	return o, nil
}

// begin starts a run.
func (t *tester) begin(keep bool) (*world, error) {
	if keep || t.live {
		return newWorld(t.sc, t.property, t.base.Clone()), nil
	}
	if t.learned == nil || t.learned.memo.Full() {
		c, err := learn.NewMemo(t.sc, learn.Functions(t.sc))
		if err != nil {
			return nil, err
		}
		t.learned = emptyWorld(t.sc, t.property)
		t.learned.memo = c
	}
	t.learned.start(t.base.Clone())
	return t.learned, nil
}

// decide judges a run at its end, and cuts it to the step that broke the property.
func (t *tester) decide(w *world, o *outcome) error {
	switch {
	case t.judge != nil:
		if t.unjudged || t.judge.OK(w.history.Ops) {
			return nil
		}
		o.broken = true
		t.cutToViolation(w, o)
	case t.property.Question == scenarios.Stuck:
		o.broken, o.waits = w.deadlocked()
	case t.property.Question == scenarios.LockedOut:
		if !w.unfinished() {
			var err error
			o.broken, o.waits, err = t.prober.wedged(w.m)
			return err
		}
	}
	return nil
}

// cutToViolation shortens a run whose history is not linearizable to the first step at
// which it is not: only returns can break it.
func (t *tester) cutToViolation(w *world, o *outcome) {
	for s := range o.schedule {
		p := history.Prefix(w.history.Ops, s)
		if t.judge.OK(p) {
			continue
		}
		w.history.Ops = p
		o.schedule = o.schedule[:s+1]
		o.cost = trace.Cost{}
		for i, c := range o.schedule {
			o.cost.Add(c, w.preempted[i])
		}
		if o.trace != nil {
			o.trace = o.trace[:s+1]
		}
		o.finished = false
		return
	}
}

// preempts reports whether c is a preemption: a switch away from a task that could have
// gone on.
func (w *world) preempts(c sched.Choice) bool {
	if c.Action != sched.Run || w.last < 0 {
		return false
	}
	l := &w.view.Tasks[w.last]
	return l.Task != c.Task && l.Enabled && !l.Asleep
}

// contended reports whether a call met somebody else's lock: it was refused because
// the name exists or the lock is held, or it waits.
func contended(calls []trace.Call) bool {
	for i := range calls {
		if met(&calls[i].Op, &calls[i].Result) {
			return true
		}
	}
	return false
}

// record makes the trace's step from what apply did.
func (w *world) record(c sched.Choice, calls []trace.Call, preempts bool, opsBefore int) trace.Step {
	s := trace.Step{N: w.steps, Choice: c, Preempts: preempts, After: w.m.Clone()}
	s.Calls = append(s.Calls, calls...)
	if len(w.history.Ops) > opsBefore && c.Action == sched.Run {
		s.Invoked = w.history.Ops[opsBefore].Input
	}
	at := int64((w.steps-1)*trace.TimestampsPerStep + trace.AtReturn)
	for _, op := range w.history.Ops {
		if op.Return == at && c.Action == sched.Run {
			s.Returned = op.Output
		}
	}
	for _, a := range w.actors {
		if a.holding == nil {
			continue
		}
		if a.since == s.N {
			a.object = lockObject(w.m, a.id.Pid, *a.holding)
		}
		s.Holders = append(s.Holders, trace.Holder{Task: a.task, Path: a.holding.Path, ID: a.object, Since: a.since})
	}
	s.Exited = len(calls) > 0 && calls[len(calls)-1].Op.Call == fsfake.CallExit
	return s
}

// deadlocked reports whether somebody is unfinished and nobody can ever move again.
func (w *world) deadlocked() (bool, []trace.Wait) {
	if !w.unfinished() {
		return false, nil
	}
	var waits []trace.Wait
	for _, a := range w.actors {
		if w.finished(a) {
			continue
		}
		if w.enabled(a) {
			return false, nil
		}
		waits = append(waits, trace.Wait{How: trace.WaitsInCall, Task: a.task, Call: a.op})
	}
	return true, waits
}
