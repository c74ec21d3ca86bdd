package checker

import (
	"lockpick/model"
	"lockpick/scenarios"
)

// permute renames the processes of a past. Clients are the tasks, one for each process,
// and then the processes as those who crash.
func (t *pastTable) permute(id uint32, perm []int) uint32 {
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
	from := t.rows(id)
	rows := make([][]pastOp, len(from))
	for c, row := range from {
		to := make([]pastOp, len(row))
		for i, op := range row {
			to[i] = pastOp{in: t.values.id(model.Renamed(t.values.values[op.in], owner)), state: op.state, before: make([]uint32, len(op.before))}
			if op.state == pastReturn {
				to[i].out = t.values.id(model.Renamed(t.values.values[op.out], owner))
			}
			for k, b := range op.before {
				to[i].before[client(k)] = b
			}
		}
		rows[client(c)] = to
	}
	to, isNew := t.keys.id(appendPast(nil, rows))
	if isNew {
		t.all = append(t.all, past{watch: t.watchAll(rows)})
	}
	return to
}
