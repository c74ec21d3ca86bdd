package sched

// A DepthFirst is a plain depth-first search over schedules, each run from the start. It is the
// strategy of one run after another: a run goes the path so far, and then takes the first option
// each time; Advance moves to the next schedule.
//
// It passes over one kind of choice: the step of a task that has polled for a whole
// round in vain while nothing has changed. Such a round ends where it began.
type DepthFirst struct {
	// Narrow leaves out some of the options; nil leaves out none. It must be a pure function of what it is
	// given and of the choices before.
	Narrow func(v *View, options []Choice) []Choice

	path []branch
}

type branch struct {
	options []Choice
	next    int
}

// Next implements [Strategy].
func (d *DepthFirst) Next(v *View) (Choice, error) {
	if v.Step == len(d.path) {
		options := progressOptions(v)
		if d.Narrow != nil {
			options = d.Narrow(v, options)
		}
		d.path = append(d.path, branch{options: options})
	}
	b := &d.path[v.Step]
	if len(b.options) == 0 {
		return Choice{}, ErrEnd
	}
	return b.options[b.next], nil
}

// progressOptions are all options but the steps of idle tasks.
func progressOptions(v *View) []Choice {
	var out []Choice
	all := v.Options(nil)
	for _, c := range all {
		idle := false
		for i := range v.Tasks {
			idle = idle || !c.IsFault() && v.Tasks[i].Task == c.Task && v.Tasks[i].Idle
		}
		if !idle {
			out = append(out, c)
		}
	}
	return out
}

// Advance moves to the next schedule; it reports false when there is none.
func (d *DepthFirst) Advance() bool {
	for n := len(d.path); n > 0; n-- {
		b := &d.path[n-1]
		if b.next++; b.next < len(b.options) {
			return true
		}
		d.path = d.path[:n-1]
	}
	return false
}
