package history

import (
	"encoding/binary"
	"slices"

	"lockpick/model"
	"lockpick/scenarios"
)

// A past is a history: of each client the operations. Histories with equal pasts have the same precedence relation, and
// so the same judgement. A past is never changed.
type past [][]Operation

// A Operation is one operation of a history.
type Operation struct {
	In, Out uint32 // values by number; out is meaningless unless it returned
	State   Kind
	Before  []uint32 // how many operations of each client had returned
}

// appendForm appends a text that tells pasts apart.
func (p past) appendForm(b []byte) []byte {
	for _, row := range p {
		b = appendCount(b, uint32(len(row)))
		for i := range row {
			op := &row[i]
			b = append(appendCount(b, op.In), byte(op.State))
			if op.State == Return {
				b = appendCount(b, op.Out)
			}
			for _, n := range op.Before {
				b = appendCount(b, n)
			}
		}
	}
	return b
}

func appendCount(b []byte, n uint32) []byte { return binary.AppendUvarint(b, uint64(n)) }

// pending reports whether the last operation of a client has not ended.
func (p past) pending(client int) bool {
	n := len(p[client])
	return n > 0 && p[client][n-1].State == Invoke
}

// returned counts the operations of each client that have ended.
func (p past) returned() []uint32 {
	out := make([]uint32, len(p))
	for c := range p {
		if out[c] = uint32(len(p[c])); p.pending(c) {
			out[c]--
		}
	}
	return out
}

// with returns the history with one more event of a client; value is the number of its input or output, crashed that of
// a crash's output.
func (p past) with(client int, kind Kind, value, crashed uint32) past {
	q := slices.Clone(p)
	q[client] = slices.Clone(p[client])
	switch last := len(q[client]) - 1; kind {
	case Invoke:
		q[client] = append(q[client], Operation{In: value, State: Invoke, Before: p.returned()})
	case Crash:
		q[client] = append(q[client], Operation{In: value, Out: crashed, State: Return, Before: p.returned()})
	case Return:
		q[client][last].Out, q[client][last].State = value, Return
	case Cut:
		q[client][last].State = Cut
	}
	return q
}

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
	rows := make(past, len(from))
	for c, row := range from {
		to := make([]Operation, len(row))
		for i, op := range row {
			to[i] = Operation{In: t.values.ID(p.value(t.values.Values[op.In])), State: op.State,
				Before: make([]uint32, len(op.Before))}
			if op.State == Return {
				to[i].Out = t.values.ID(p.value(t.values.Values[op.Out]))
			}
			for k, b := range op.Before {
				to[i].Before[p.client(k)] = b
			}
		}
		rows[p.client(c)] = to
	}
	return t.number(rows, func() uint32 { return t.monitorOf(rows) })
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
