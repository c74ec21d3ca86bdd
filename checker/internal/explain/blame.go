package explain

import (
	"slices"

	"github.com/anishathalye/porcupine"

	"lockpick/checker/trace"
	"lockpick/model"
)

// blamed returns the step whose answer no order of the operations explains, of a property
// that is judged by a history; 0 for others. The history ends with the first answer with
// which no order is left, and that may only be the last straw: an earlier refusal is
// blamed when there is an order without it, or, when refusals together leave none, the
// first of them.
func blamed(cx *trace.Counterexample) int {
	spec := cx.Property.Spec
	if spec.Apply == nil {
		return 0
	}
	var ops []porcupine.Operation
	last := -1
	for _, op := range cx.History {
		if !spec.Accepts(op.Input) {
			continue
		}
		ops = append(ops, op)
		if op.Return != trace.Never && (last < 0 || op.Return > ops[last].Return) {
			last = len(ops) - 1
		}
	}
	if last < 0 {
		return 0
	}
	m := spec.Porcupine()
	without := func(drop ...int) bool {
		var kept []porcupine.Operation
		for i := range ops {
			if !slices.Contains(drop, i) {
				kept = append(kept, ops[i])
			}
		}
		return porcupine.CheckOperations(m, kept)
	}
	first := func(alone bool) (int, bool) {
		for i := range ops {
			if i != last && isRefusal(ops[i].Output) && (alone && without(i) || !alone && without(i, last)) {
				return trace.StepOf(ops[i].Return), true
			}
		}
		return 0, false
	}
	if n, ok := first(true); ok {
		return n
	}
	if isRefusal(ops[last].Output) && !without(last) {
		if n, ok := first(false); ok {
			return n
		}
	}
	return trace.StepOf(ops[last].Return)
}

// isRefusal reports whether an operation answered that it did not get the lock.
func isRefusal(output any) bool {
	a, ok := output.(model.Acquired)
	return ok && !a.OK
}
