package history

import (
	"cmp"
	"context"
	"fmt"
	"sync/atomic"

	"lockpick/checker/internal/parallel"

	"github.com/anishathalye/porcupine"
)

// confirm asks porcupine about a history that the monitor calls a violation. Others may
// use the table meanwhile; t.mu is held before and after.
func (t *Table) confirm(id uint32) {
	t.calls++
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
		t.fault = fmt.Errorf("checker: the monitor of %s calls a history %s, porcupine calls it %s: this is a fault of lockpick; the history is %s",
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
	t.calls += len(last)
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
