package checker

// StepOf returns the step, counted from 1, that a time stamp of a counterexample's
// history belongs to, or 0 for the end of an operation that never returned.
func StepOf(stamp int64) int {
	if stamp == never {
		return 0
	}
	return int(stamp/stampsStep) + 1
}

// StampOf returns the first time stamp of a step.
func StampOf(step int) int64 { return int64(step-1) * stampsStep }
