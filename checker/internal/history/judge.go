package history

import (
	"encoding/binary"

	"github.com/anishathalye/porcupine"

	"lockpick/checker/internal/table"
	"lockpick/checker/trace"
	"lockpick/model"
)

// A Judge decides histories by one specification, each distinct one once. Judge of
// record is porcupine.
type Judge struct {
	Spec  model.Spec
	model porcupine.Model
	names *table.Interner
	seen  map[string]bool
	buf   []byte
	rows  [][]int
	calls int // porcupine's
}

// NewJudge returns a judge that has not judged anything.
func NewJudge(spec model.Spec) *Judge {
	return &Judge{Spec: spec, model: spec.Porcupine(), names: table.NewInterner(), seen: map[string]bool{}}
}

// OK reports whether the history is linearizable.
func (j *Judge) OK(ops []porcupine.Operation) bool {
	j.buf = j.appendKey(j.buf[:0], ops)
	if ok, known := j.seen[string(j.buf)]; known {
		return ok
	}
	j.calls++
	ok := porcupine.CheckOperations(j.model, Only(j.Spec, ops))
	j.seen[string(j.buf)] = ok
	return ok
}

// Distinct counts the histories that it has judged.
func (j *Judge) Distinct() int { return len(j.seen) }

// appendKey appends what matters of a history to a judge: per client the inputs and
// outputs in order, and with each operation how many operations of every client had
// returned when it was invoked. Histories with one key have the same precedence
// relation, and so the same verdict.
func (j *Judge) appendKey(b []byte, ops []porcupine.Operation) []byte {
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
		if j.Spec.Accepts(ops[i].Input) {
			j.rows[ops[i].ClientId] = append(j.rows[ops[i].ClientId], i)
		}
	}
	for c := range clients {
		b = binary.AppendUvarint(b, uint64(len(j.rows[c])))
		for _, i := range j.rows[c] {
			b = binary.AppendUvarint(b, uint64(j.names.ID(ops[i].Input)))
			b = binary.AppendUvarint(b, uint64(j.names.ID(ops[i].Output)))
			for _, row := range j.rows[:clients] {
				n := 0
				for n < len(row) && ops[row[n]].Return < ops[i].Call {
					n++
				}
				b = appendCount(b, uint32(n))
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
