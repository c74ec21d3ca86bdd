package trace

import (
	"math"

	"github.com/anishathalye/porcupine"
)

// Timestamps: step s, counted from 1, has the times 4(s-1) to 4(s-1)+3, so that calls of
// a step come before its returns, and a crash comes after what it cuts off.
const (
	AtCall            = 0
	AtReturn          = 1
	AtCrash           = 2
	TimestampsPerStep = 4
	// Never is the end of an operation that never returned.
	Never = math.MaxInt64
)

// StepOf returns the step, counted from 1, that a timestamp of a counterexample's
// history belongs to, or 0 for the end of an operation that never returned.
func StepOf(timestamp int64) int {
	if timestamp == Never {
		return 0
	}
	return int(timestamp/TimestampsPerStep) + 1
}

// TimestampOf returns the first timestamp of a step, counted from 1.
func TimestampOf(step int) int64 { return int64(step-1) * TimestampsPerStep }

// StepsOf returns the first and the last step of an operation of a history, counted
// from 1 as in a trace; last is 0 when the operation never returned.
func StepsOf(op porcupine.Operation) (first, last int) {
	return StepOf(op.Call), StepOf(op.Return)
}
