package checker

import (
	"encoding/binary"

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

// A judge decides histories by one specification, each distinct one once. Judge of
// record is porcupine.
type judge struct {
	spec  model.Spec
	model porcupine.Model
	names *interner
	seen  map[string]bool
	buf   []byte
	rows  [][]int
	calls int // porcupine's
}

func newJudge(spec model.Spec) *judge {
	return &judge{spec: spec, model: spec.Porcupine(), names: newInterner(), seen: map[string]bool{}}
}

// ok reports whether the history is linearizable.
func (j *judge) ok(ops []porcupine.Operation) bool {
	j.buf = j.appendKey(j.buf[:0], ops)
	if ok, known := j.seen[string(j.buf)]; known {
		return ok
	}
	j.calls++
	ok := porcupine.CheckOperations(j.model, only(j.spec, ops))
	j.seen[string(j.buf)] = ok
	return ok
}

// appendKey appends what matters of a history to a judge: per client the inputs and
// outputs in order, and with each operation how many operations of every client had
// returned when it was invoked. Histories with one key have the same precedence
// relation, and so the same verdict.
func (j *judge) appendKey(b []byte, ops []porcupine.Operation) []byte {
	clients := 0
	for i := range ops {
		clients = max(clients, ops[i].ClientId+1)
	}
	for len(j.rows) < clients {
		j.rows = append(j.rows, nil)
	}
	for c := range clients {
		j.rows[c] = j.rows[c][:0]
	}
	for i := range ops {
		if j.spec.Accepts(ops[i].Input) {
			j.rows[ops[i].ClientId] = append(j.rows[ops[i].ClientId], i)
		}
	}
	for c := range clients {
		b = binary.AppendUvarint(b, uint64(len(j.rows[c])))
		for _, i := range j.rows[c] {
			b = binary.AppendUvarint(b, uint64(j.names.id(ops[i].Input)))
			b = binary.AppendUvarint(b, uint64(j.names.id(ops[i].Output)))
			for _, row := range j.rows[:clients] {
				n := 0
				for n < len(row) && ops[row[n]].Return < ops[i].Call {
					n++
				}
				b = append(b, byte(n))
			}
			// Pending for ever differs from cut off by a crash.
			if ops[i].Return == trace.Never {
				b = append(b, 1)
			} else {
				b = append(b, 0)
			}
		}
	}
	return b
}

// An interner gives equal comparable values one small number, in order of arrival.
type interner struct {
	ids    map[any]uint32
	values []any
}

func newInterner() *interner { return &interner{ids: map[any]uint32{}} }

func (t *interner) id(v any) uint32 {
	if id, ok := t.ids[v]; ok {
		return id
	}
	id := uint32(len(t.values))
	t.ids[v] = id
	t.values = append(t.values, v)
	return id
}
