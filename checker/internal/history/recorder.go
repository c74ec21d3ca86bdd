package history

import (
	"github.com/anishathalye/porcupine"

	"lockpick/checker/trace"
	"lockpick/model"
)

// A Recorder is the operations of a run with their intervals. An operation's call is
// stamped at its first step and its return at its last: a task may be delayed for any
// time before and after, so wider stamps would be wrong: they hide violations.
type Recorder struct {
	Ops []porcupine.Operation
	// Open holds the index of each client's pending operation, or -1.
	Open []int
}

// NewRecorder returns the empty history of so many clients.
func NewRecorder(clients int) *Recorder {
	h := &Recorder{Open: make([]int, clients)}
	h.Reset()
	return h
}

// Reset forgets everything.
func (h *Recorder) Reset() {
	h.Ops = h.Ops[:0]
	for i := range h.Open {
		h.Open[i] = -1
	}
}

// Invoke begins an operation of a client in a step, counted from 0 here and below.
func (h *Recorder) Invoke(client, step int, input any) {
	h.Open[client] = len(h.Ops)
	h.Ops = append(h.Ops, porcupine.Operation{
		ClientId: client, Input: input, Call: int64(step*trace.TimestampsPerStep + trace.AtCall),
		Output: model.Pending{}, Return: trace.Never,
	})
}

// Return ends a client's pending operation.
func (h *Recorder) Return(client, step int, output any) {
	op := &h.Ops[h.Open[client]]
	op.Output, op.Return = output, int64(step*trace.TimestampsPerStep+trace.AtReturn)
	h.Open[client] = -1
}

// Cut ends a client's pending operation, whose process was killed: it may have taken
// effect or not, but not later than now.
func (h *Recorder) Cut(client, step int) {
	if i := h.Open[client]; i >= 0 {
		h.Ops[i].Return = int64(step*trace.TimestampsPerStep + trace.AtReturn)
		h.Open[client] = -1
	}
}

// Crash records the death of a process as an operation of the environment.
func (h *Recorder) Crash(client, step int, owner string) {
	t := int64(step*trace.TimestampsPerStep + trace.AtCrash)
	h.Ops = append(h.Ops, porcupine.Operation{
		ClientId: client, Input: model.Crash{Owner: owner}, Call: t,
		Output: model.Crashed{}, Return: t + 1,
	})
}

// Only returns the operations that spec speaks of.
func Only(spec model.Spec, ops []porcupine.Operation) []porcupine.Operation {
	var out []porcupine.Operation
	for _, op := range ops {
		if spec.Accepts(op.Input) {
			out = append(out, op)
		}
	}
	return out
}

// Prefix returns the history up to and including the returns of step.
func Prefix(ops []porcupine.Operation, step int) []porcupine.Operation {
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

// Unnamed takes the names of locks out of operations, where there is one lock.
func Unnamed(ops []porcupine.Operation) {
	for i := range ops {
		ops[i].Input = model.Unnamed(ops[i].Input)
	}
}
