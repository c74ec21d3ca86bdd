package history

import (
	"bytes"
	"cmp"
	"context"
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
	form  []byte
}

// NewJudge returns a judge that has not judged anything.
func NewJudge(spec model.Spec) *Judge {
	return &Judge{Spec: spec, model: spec.Porcupine(), names: table.NewInterner(), seen: map[string]bool{}}
}

// OK reports whether the history is linearizable.
func (j *Judge) OK(ops []porcupine.Operation) bool {
	j.form = j.past(ops).appendForm(j.form[:0])
	ok, known := j.seen[string(j.form)]
	if !known {
		ok = porcupine.CheckOperations(j.model, Only(j.Spec, ops))
		j.seen[string(j.form)] = ok
	}
	return ok
}

// Distinct counts the histories that it has judged.
func (j *Judge) Distinct() int { return len(j.seen) }

// past is a history as far as it matters to a judge. What is pending for ever differs from what a crash has cut off.
func (j *Judge) past(ops []porcupine.Operation) past {
	ops = Only(j.Spec, ops)
	clients := 0
	for i := range ops {
		clients = max(clients, ops[i].ClientId+1)
	}
	p := make(past, clients)
	for _, op := range ops {
		is := Operation{In: j.names.ID(op.Input), Out: j.names.ID(op.Output), State: Return,
			Before: make([]uint32, clients)}
		if op.Return == trace.Never {
			is.State = Invoke
		}
		for _, o := range ops {
			if o.Return < op.Call {
				is.Before[o.ClientId]++
			}
		}
		p[op.ClientId] = append(p[op.ClientId], is)
	}
	return p
}
