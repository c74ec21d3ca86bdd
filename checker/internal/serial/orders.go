package serial

import (
	"fmt"

	"lockpick/checker/internal/engine"
	"lockpick/fsfake"
	"lockpick/internal/outcome"
	"lockpick/scenarios"
	"lockpick/sched"
)

// mostRuns is how many serial runs are made at most, and mostSteps how long one is.
const (
	mostRuns  = 10_000
	mostSteps = 10_000
)

// orders makes every serial run and lists what they leave behind, also while some processes have not begun:
// these may be some that refuse. Each is listed once. look, unless nil, is shown the machine before each step.
func orders(
	sc *scenarios.Scenario, p *scenarios.Property, base *fsfake.Machine, of func(scenarios.View) outcome.Outcome,
	look func(*fsfake.Machine),
) ([]outcome.Order, error) {
	var out []outcome.Order
	seen := map[string]bool{}
	whole := 0
	add := func(o outcome.Order) {
		if key := o.Name() + "\n" + o.Outcome.Key(nil); !seen[key] {
			seen[key] = true
			out = append(out, o)
		}
		if len(o.Ran) == sc.Setting.Processes {
			whole++
		}
	}
	w, d := engine.EmptyWorld(sc, p), &sched.DepthFirst{}
	for range mostRuns {
		r := &run{w: w, sc: sc, of: of, add: add, look: look}
		if err := r.make(d, base.Clone()); err != nil {
			return nil, err
		}
		if d.Advance() {
			continue
		}
		if whole == 0 {
			return nil, fmt.Errorf("checker: %s: no serial run ends, so there is nothing that %s could compare with: does a process wait for another?", sc.ID, p)
		}
		return out, nil
	}
	return nil, fmt.Errorf("checker: %s: there are more than %d serial runs, which is too many for %s to compare with: choose fewer processes, crashes or stalls", sc.ID, mostRuns, p)
}
