package sched

// A Preemption is a choice forced at a step: a switch to another task, a kill or a
// stall.
type Preemption struct {
	// Step counts the choices made before it.
	Step int
	// Choice is what happens there; it is passed over when it is not possible.
	Choice Choice
}

// RunToCompletion lets every task run until it ends, blocks or sleeps, in the order of
// their names, except where a preemption says otherwise. A list of preemptions over
// this baseline is the form in which schedules shrink best: what can be left out, is.
type RunToCompletion struct {
	// Preemptions, in the order of their steps. Of two for one step the first possible
	// one counts.
	Preemptions []Preemption
}

// Next implements Strategy.
func (r RunToCompletion) Next(v *View) (Choice, error) {
	for _, p := range r.Preemptions {
		if p.Step == v.Step && v.possible(p.Choice) {
			return p.Choice, nil
		}
	}
	if c, ok := v.baseline(); ok {
		return c, nil
	}
	return Choice{}, ErrEnd
}
