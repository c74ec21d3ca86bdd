package sched

// RunToCompletion lets every task run until it ends, blocks or sleeps, in the order of
// their names.
type RunToCompletion struct{}

// Next implements Strategy.
func (RunToCompletion) Next(v *View) (Choice, error) {
	if c, ok := v.baseline(); ok {
		return c, nil
	}
	return Choice{}, ErrEnd
}
