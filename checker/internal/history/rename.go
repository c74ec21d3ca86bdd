package history

import (
	"lockpick/model"
	"lockpick/scenarios"
)

// Rename renames the processes of a history. Clients are the tasks, one for each process,
// and then the processes as those who crash.
func (t *Table) Rename(id uint32, perm []int) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(perm)
	client := func(c int) int { return c/n*n + perm[c%n] }
	owner := func(name string) string {
		for i, to := range perm {
			if name == scenarios.ProcessName(i) {
				return scenarios.ProcessName(to)
			}
		}
		return name
	}
	from := t.Rows(id)
	rows := make([][]Operation, len(from))
	for c, row := range from {
		to := make([]Operation, len(row))
		for i, op := range row {
			to[i] = Operation{In: t.values.ID(model.Renamed(t.values.Values[op.In], owner)), State: op.State, Before: make([]uint32, len(op.Before))}
			if op.State == Return {
				to[i].Out = t.values.ID(model.Renamed(t.values.Values[op.Out], owner))
			}
			for k, b := range op.Before {
				to[i].Before[client(k)] = b
			}
		}
		rows[client(c)] = to
	}
	to, isNew := t.keys.ID(appendForm(nil, rows))
	if isNew {
		t.all = append(t.all, entry{monitor: t.monitorOf(rows)})
	}
	return to
}
