package checker

import (
	"github.com/anishathalye/porcupine"

	"lockpick/checker/trace"
	"lockpick/model"
)

// A history is the operations of a run with their intervals. An operation's call is
// stamped at its first step and its return at its last: a task may be delayed for any
// time before and after, so wider stamps would be wrong: they hide violations.
type history struct {
	ops []porcupine.Operation
	// open holds the index of each client's pending operation, or -1.
	open []int
}

func newHistory(clients int) *history {
	h := &history{open: make([]int, clients)}
	h.reset()
	return h
}

func (h *history) reset() {
	h.ops = h.ops[:0]
	for i := range h.open {
		h.open[i] = -1
	}
}

func (h *history) invoke(client, step int, input any) {
	h.open[client] = len(h.ops)
	h.ops = append(h.ops, porcupine.Operation{
		ClientId: client, Input: input, Call: int64(step*trace.TimestampsPerStep + trace.AtCall),
		Output: model.Pending{}, Return: trace.Never,
	})
}

func (h *history) ret(client, step int, output any) {
	op := &h.ops[h.open[client]]
	op.Output, op.Return = output, int64(step*trace.TimestampsPerStep+trace.AtReturn)
	h.open[client] = -1
}

// cut ends a client's pending operation, whose process was killed: it may have taken
// effect or not, but not later than now.
func (h *history) cut(client, step int) {
	if i := h.open[client]; i >= 0 {
		h.ops[i].Return = int64(step*trace.TimestampsPerStep + trace.AtReturn)
		h.open[client] = -1
	}
}

// crash records the death of a process as an operation of the environment.
func (h *history) crash(client, step int, owner string) {
	t := int64(step*trace.TimestampsPerStep + trace.AtCrash)
	h.ops = append(h.ops, porcupine.Operation{
		ClientId: client, Input: model.Crash{Owner: owner}, Call: t,
		Output: model.Crashed{}, Return: t + 1,
	})
}

// only returns the operations that spec speaks of.
func only(spec model.Spec, ops []porcupine.Operation) []porcupine.Operation {
	var out []porcupine.Operation
	for _, op := range ops {
		if spec.Accepts(op.Input) {
			out = append(out, op)
		}
	}
	return out
}

// prefix returns the history up to and including the returns of step.
func prefix(ops []porcupine.Operation, step int) []porcupine.Operation {
	end := int64((step + 1) * trace.TimestampsPerStep)
	var out []porcupine.Operation
	for _, op := range ops {
		if op.Call >= end {
			continue
		}
		if op.Return >= end {
			op.Output, op.Return = model.Pending{}, trace.Never
		}
		out = append(out, op)
	}
	return out
}
