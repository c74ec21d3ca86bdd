package sched

import "fmt"

// Replay follows a schedule strictly: at the first choice that is not possible it ends
// the run with a [DriftError], and at the schedule's end with [ErrEnd].
type Replay struct {
	Schedule Schedule
}

// A DriftError says where a run left its schedule.
type DriftError struct {
	// Step counts the choices from 1.
	Step int
	// Want is what the schedule asked for.
	Want Choice
	// Why says what stood in the way.
	Why string
}

func (e *DriftError) Error() string {
	return fmt.Sprintf("sched: step %d of the schedule (%s) cannot happen: %s", e.Step, e.Want, e.Why)
}

// Follows implements [Follower].
func (r Replay) Follows() bool { return true }

// Next implements Strategy.
func (r Replay) Next(v *View) (Choice, error) {
	if v.Step >= len(r.Schedule) {
		return Choice{}, ErrEnd
	}
	c := r.Schedule[v.Step]
	if v.possible(c) {
		return c, nil
	}
	return Choice{}, &DriftError{Step: v.Step + 1, Want: c, Why: v.obstacle(c)}
}

// obstacle says why c is not possible.
func (v *View) obstacle(c Choice) string {
	switch c.Action {
	case Stall:
		return "no stall is left, or the setting has none"
	case PowerLoss:
		return fmt.Sprintf("the disk has %d legal states then, counted from 0, or the power cannot be lost any more", v.Losses)
	case Kill:
		return "no crash is left, or the process may not be killed, has ended or is unknown"
	}
	for i := range v.Tasks {
		if v.Tasks[i].Task == c.Task && v.Tasks[i].Enabled && c.Fails != "" {
			return fmt.Sprintf("the call cannot fail with %s then: it would fail anyway, or is none that fails so, or no more calls may fail", c.Fails)
		}
		if v.Tasks[i].Task == c.Task && v.Tasks[i].Enabled {
			return fmt.Sprintf("the step can go in %d ways then, counted from 1", max(v.Tasks[i].Ways, 1))
		}
		if v.Tasks[i].Task == c.Task {
			return "the task is blocked, has ended or was killed"
		}
	}
	return "there is no such task"
}
