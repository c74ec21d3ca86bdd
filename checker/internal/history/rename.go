package history

import (
	"slices"

	"lockpick/model"
	"lockpick/scenarios"
)

// A renaming gives processes each other's names. Clients are the tasks, one for each process,
// and then the processes as those who crash.
type renaming []int

func (p renaming) client(c int) int { return c/len(p)*len(p) + p[c%len(p)] }

func (p renaming) value(v any) any {
	return model.Renamed(v, func(name string) string {
		for i, to := range p {
			if name == scenarios.ProcessName(i) {
				return scenarios.ProcessName(to)
			}
		}
		return name
	})
}

// Rename renames the processes of a history, or of what the monitor makes of one.
func (t *Table) Rename(id uint32, perm []int) uint32 {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.MonitorsOnly {
		return t.renamedMonitor(id, perm)
	}
	p := renaming(perm)
	from := t.Rows(id)
	rows := make([][]Operation, len(from))
	for c, row := range from {
		to := make([]Operation, len(row))
		for i, op := range row {
			to[i] = Operation{In: t.values.ID(p.value(t.values.Values[op.In])), State: op.State, Before: make([]uint32, len(op.Before))}
			if op.State == Return {
				to[i].Out = t.values.ID(p.value(t.values.Values[op.Out]))
			}
			for k, b := range op.Before {
				to[i].Before[p.client(k)] = b
			}
		}
		rows[p.client(c)] = to
	}
	to, isNew := t.keys.ID(appendForm(nil, rows))
	if isNew {
		t.all = append(t.all, entry{monitor: t.monitorOf(rows)})
	}
	return to
}

// renamedMonitor renames the processes in what a monitor remembers. What that is only the
// specification knows; but a history that leads to it can be renamed, and told to the monitor. All
// histories that lead to it are judged alike, with every continuation, and so are all of them
// renamed: a property is declared symmetric.
func (t *Table) renamedMonitor(id uint32, p renaming) uint32 {
	var events []told
	for ; id != Empty; id = t.monitors.begun[id].before {
		events = append(events, t.monitors.begun[id])
	}
	for _, e := range slices.Backward(events) {
		ev := t.events.Values[e.event].(Event)
		id = t.monitors.next(id, p.client(e.client), t.events.ID(Event{ev.kind, p.value(ev.value)}), t.events)
	}
	return id
}
