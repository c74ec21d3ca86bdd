package saved

import (
	"errors"

	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A Recipe is a schedule, with the call of each step where they are known.
type Recipe struct {
	Schedule sched.Schedule
	// Calls are as report.CallsOf lists them, or nil.
	Calls []string
}

// A Followed is what a recipe came to.
type Followed struct {
	checker.Replayed
	// Left says where the schedule could not be followed to the letter; nil when it could.
	Left *sched.DriftError
	// Aligned: it broke the property only when it was aligned by its calls.
	Aligned bool
}

// Follow follows a recipe: to the letter; if that breaks nothing, aligned by its calls; if
// that breaks nothing either, to the letter as far as it goes, without the choices that
// are impossible, and at its end everybody runs on. The error is a fault of the scenario,
// or a task that it does not have.
func Follow(sc *scenarios.Scenario, p *scenarios.Property, r Recipe) (Followed, error) {
	got, err := checker.Replay(sc, p, r.Schedule)
	var left *sched.DriftError
	if err != nil && !errors.As(err, &left) {
		return Followed{}, err
	}
	f := Followed{Replayed: got, Left: left}
	if f.Broken || p.OfCycles() { // a cycle is not to be stretched
		return f, err
	}
	runner, err := checker.NewRunner(sc, p)
	if err != nil {
		return f, err
	}
	if r.Calls != nil {
		a := aligner{runner: runner, recipe: r}
		schedule, err := a.align()
		if err != nil {
			return f, err
		}
		if schedule != nil {
			f.Replayed, err = checker.Replay(sc, p, schedule)
			f.Aligned = true
			return f, err
		}
	}
	if left == nil {
		return f, nil
	}
	ran, err := runner.Run(&leniently{schedule: r.Schedule}, false)
	if err != nil {
		return f, err
	}
	f.Replayed, err = checker.Replay(sc, p, ran.Schedule)
	return f, err
}

// leniently follows a schedule without the choices that are impossible, and then lets
// everybody run to the end.
type leniently struct {
	schedule sched.Schedule
	at       int
	rest     sched.RunToCompletion
	options  []sched.Choice
}

// Next implements sched.Strategy.
func (l *leniently) Next(v *sched.View) (sched.Choice, error) {
	l.options = v.Options(l.options[:0])
	for l.at < len(l.schedule) {
		c := l.schedule[l.at]
		l.at++
		for _, o := range l.options {
			if o == c {
				return c, nil
			}
		}
	}
	return l.rest.Next(v)
}
