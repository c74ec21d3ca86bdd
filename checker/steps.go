package checker

import "github.com/anishathalye/porcupine"

// StepsOf returns the first and the last step of an operation of a history, counted
// from 1 as in a trace; last is 0 when the operation never returned.
func StepsOf(op porcupine.Operation) (first, last int) {
	first = int(op.Call)/stampsStep + 1
	if op.Return != never {
		last = int(op.Return)/stampsStep + 1
	}
	return first, last
}
