package history

import (
	"bytes"
	"cmp"
	"context"
	"encoding/binary"
	"fmt"
	"sync/atomic"

	"github.com/anishathalye/porcupine"

	"lockpick/checker/internal/parallel"
	"lockpick/checker/internal/table"
	"lockpick/checker/trace"
	"lockpick/model"
)

// confirm asks porcupine about a history that the monitor calls a violation. Others may
// use the table meanwhile; t.mu is held before and after.
func (t *Table) confirm(id uint32) {
	ops := t.Operations(id)
	t.mu.Unlock()
	ok := porcupine.CheckOperations(t.judge, ops)
	t.mu.Lock()
	if ok {
		t.differ(id, "a violation", "linearizable")
	}
}

// differ keeps the first disagreement.
func (t *Table) differ(id uint32, monitor, other string) {
	if t.fault == nil {
		t.fault = fmt.Errorf("checker: the monitor of %s calls a history %s, porcupine calls it %s: this is a fault "+
			"of lockpick; the history is %s",
			t.spec.Name, monitor, other, t.Describe(id))
	}
}

// Fault returns the disagreement seen so far, if any.
func (t *Table) Fault() error {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.fault
}

// FinalCheck lets porcupine judge every history that no other goes on from, where the
// monitor saw no violation. What comes before the end of a linearizable history is
// linearizable too, so porcupine agrees with every judgement then. The error is a
// disagreement, one seen earlier included, or that of ctx, when it ended first. It is for
// when nobody appends any more.
func (t *Table) FinalCheck(ctx context.Context, workers int) error {
	if t == nil || t.MonitorsOnly {
		return nil
	}
	var last []uint32
	for id := range t.all {
		if !t.all[id].goesOn && t.OK(uint32(id)) {
			last = append(last, uint32(id))
		}
	}
	refuted := make([]bool, len(last))
	var taken atomic.Int64
	parallel.Together(min(workers, len(last)), func(int) {
		for {
			i := int(taken.Add(1)) - 1
			if i >= len(last) || ctx.Err() != nil {
				return
			}
			refuted[i] = !porcupine.CheckOperations(t.judge, t.Operations(last[i]))
		}
	})
	if ctx.Err() != nil {
		return cmp.Or(t.fault, ctx.Err())
	}
	for i, id := range last {
		if refuted[i] {
			t.differ(id, "linearizable", "a violation")
		}
	}
	return t.fault
}

// Describe writes a history down by its values, not by their numbers.
func (t *Table) Describe(id uint32) []byte {
	var b bytes.Buffer
	for c, row := range t.Rows(id) {
		for i := range row {
			op := &row[i]
			fmt.Fprintf(&b, "%d %#v %d %v", c, t.values.Values[op.In], op.State, op.Before)
			if op.State == Return {
				fmt.Fprintf(&b, " %#v", t.values.Values[op.Out])
			}
			b.WriteByte('\n')
		}
	}
	return b.Bytes()
}

// A Judge decides histories by one specification, each distinct one once. Judge of
// record is porcupine.
type Judge struct {
	Spec  model.Spec
	model porcupine.Model
	names *table.Interner
	seen  map[string]bool
	buf   []byte
	rows  [][]int
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
