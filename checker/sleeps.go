package checker

import (
	"fmt"

	"lockpick/checker/internal/engine"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Sleeps. A space in which no time passes while somebody sleeps is small, and right for whoever
// looks at no clock: a sleep may as well end early. Where tasks sleep and somebody can see how long,
// the verdict is that of the space in which sleeps last (scenarios.SleepsLast).

// sleepsShow reports whether somebody can see how long a sleep lasted, and the setting leaves that
// open.
func sleepsShow(sc *scenarios.Scenario, looks engine.Observed) bool {
	return sleepsSeen(sc, looks) && sc.Setting.Assume.Sleeps == scenarios.SleepsOpen && !sc.AssumesOneCase()
}

func sleepsSeen(sc *scenarios.Scenario, looks engine.Observed) bool {
	return looks.Slept && (looks.Clock || looks.Times() || len(sc.Setting.Punctual) > 0)
}

// struck reports whether there are faults with which sleeps that last are not compared with anything.
func struck(set *scenarios.Setting) bool { return set.FailingCalls > 0 || set.Signals > 0 }

// lasting returns the scenario with sleeps that last, or nil where nobody can see that.
func lasting(sc *scenarios.Scenario, looks engine.Observed) (*scenarios.Scenario, error) {
	if !sleepsShow(sc, looks) || struck(&sc.Setting) { // with these the verdict says what it assumes
		return nil, nil
	}
	st := sc.Setting
	st.Assume.Sleeps = scenarios.SleepsLast
	s, err := sc.In(st)
	return &s, err
}

// lastingStates bounds a space in which sleeps last, by how large it is without: where a round of
// a loop changes something and sleeps, time goes on for ever.
func (o Options) lastingStates(states int) Options {
	most := 20*states + 20_000
	if o.States == 0 || o.States > most {
		o.States = most
	}
	o.Symmetry = false
	return o
}

// withSleeps is the verdict where sleeps last, for a result without, if that makes a difference.
func (r Result) withSleeps(o Options, decide func(*scenarios.Scenario, Options) (Result, error)) (Result, error) {
	sc, err := lasting(r.Scenario, r.looks)
	if sc == nil || err != nil || r.Verdict == Unknown {
		return r, err
	}
	if r.Counterexample != nil && lastsToo(sc, r.Property, r.Counterexample.Trace) {
		return r, nil
	}
	res, err := decide(sc, o.lastingStates(r.Stats.States))
	if err != nil {
		return res, fmt.Errorf("%w (assuming %s)", err, sc.Setting.Assume)
	}
	if res.Verdict == Unknown {
		r.early = res.Why
		return r, nil
	}
	if res.Verdict == Holds { // nothing to replay
		res.Scenario = r.Scenario
	}
	return res, nil
}

// lastsToo reports whether what broke a property breaks it also where sleeps last: then it does
// not matter how long they take.
func lastsToo(sc *scenarios.Scenario, p *scenarios.Property, run trace.Trace) bool {
	if p.OfCycles() || p.Question != scenarios.NoQuestion {
		return false // a question about what comes after the schedule
	}
	for _, atOnce := range []bool{true, false} {
		got, err := Replay(sc, p, sleeping(run, atOnce))
		if err == nil && got.Broken { // an error is a drift: what is next to do has changed
			return true
		}
	}
	return false
}

// sleeping returns the schedule of a run as it reads where sleeps last: a sleep has two steps
// then, its beginning and its end. The end comes at once, or right before the task's next step.
func sleeping(run trace.Trace, atOnce bool) sched.Schedule {
	var out sched.Schedule
	asleep := map[sched.Task]bool{}
	for i := range run {
		c := run[i].Choice
		if c.Action == sched.Run && asleep[c.Task] {
			out = append(out, c)
			asleep[c.Task] = false
		}
		out = append(out, c)
		if run[i].Sleeps() {
			if atOnce {
				out = append(out, c)
			} else {
				asleep[c.Task] = true
			}
		}
	}
	return out
}

// sleeps says what a verdict assumes of sleeps, "" for nothing.
func (r *Result) sleeps() string {
	set := &r.Scenario.Setting
	short := r.early != "" || struck(set) && sleepsSeen(r.Scenario, r.looks) || r.looks.Slept && (r.looks.Clock ||
		r.looks.Times()) && (set.Assume.Sleeps == scenarios.SleepsShort || r.Scenario.AssumesOneCase() &&
		set.Assume.Sleeps == scenarios.SleepsOpen)
	switch {
	case !short:
		return ""
	case r.Verdict == Broken:
		return "assumes that a sleep may end early"
	}
	return "assumes that no time passes while somebody sleeps"
}
