package history

import (
	"encoding/binary"
	"slices"

	"lockpick/model"
	"lockpick/scenarios"
)

// The canonical form of a history, as bytes: for each client the number of its
// operations, and of each the input, how it ended, the output if it returned, and how
// many operations of each client had returned when it was invoked. Histories with one
// form have the same precedence relation, and so the same judgement. Explorations append
// to these bytes directly; the parsed form is for whoever looks at a history.

// A Operation is one operation of a history.
type Operation struct {
	In, Out uint32 // values by number; out is meaningless unless it returned
	State   Kind
	Before  []uint32 // how many operations of each client had returned
}

// appendForm appends the canonical form of a history.
func appendForm(b []byte, rows [][]Operation) []byte {
	for _, row := range rows {
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

func appendCount(b []byte, n uint32) []byte {
	if n < 0x80 {
		return append(b, byte(n))
	}
	return binary.AppendUvarint(b, uint64(n))
}

// count reads a number at a place of the canonical form, and returns the place after it.
func count(b []byte, at int) (uint32, int) {
	if b[at] < 0x80 {
		return uint32(b[at]), at + 1
	}
	n, size := binary.Uvarint(b[at:])
	return uint32(n), at + size
}

// parse returns the history with a canonical form.
func parse(b []byte, clients int) [][]Operation {
	rows := make([][]Operation, clients)
	var n uint32
	at := 0
	for c := range rows {
		if n, at = count(b, at); n == 0 {
			continue
		}
		rows[c] = make([]Operation, n)
		for i := range rows[c] {
			op := &rows[c][i]
			op.In, at = count(b, at)
			op.State = Kind(b[at])
			at++
			if op.State == Return {
				op.Out, at = count(b, at)
			}
			op.Before = make([]uint32, clients)
			for k := range op.Before {
				op.Before[k], at = count(b, at)
			}
		}
	}
	return rows
}

// A span is where one client's operations stand in a canonical form.
type span struct {
	n        uint32 // operations
	from, to int    // all of them, after n
	begin    int    // n itself
	last     int    // the state of the last
}

// pending reports whether the last operation has not ended.
func (r *span) pending(b []byte) bool { return r.n > 0 && Kind(b[r.last]) == Invoke }

// scan finds the rows of a canonical form; room is scratch.
func scan(b []byte, clients int, room []span) []span {
	at := 0
	for range clients {
		r := span{begin: at}
		r.n, at = count(b, at)
		r.from = at
		for range r.n {
			_, at = count(b, at)
			r.last = at
			at++
			if Kind(b[r.last]) == Return {
				_, at = count(b, at)
			}
			for range clients {
				_, at = count(b, at)
			}
		}
		r.to = at
		room = append(room, r)
	}
	return room
}

// appendEvent appends to key the canonical form of the history before with one more event
// of a client; value is the number of its input or output, crashed that of a crash's
// output. A cut changes nothing where no operation is pending.
func appendEvent(key, before []byte, clients, client int, kind Kind, value, crashed uint32) (after []byte, changed bool) {
	var room [16]span
	rows := scan(before, clients, room[:0])
	r := &rows[client]
	switch kind {
	case Invoke, Crash:
		key = append(key, before[:r.begin]...)
		key = append(appendCount(key, r.n+1), before[r.from:r.to]...)
		key = appendCount(key, value)
		if kind == Crash {
			key = appendCount(append(key, byte(Return)), crashed)
		} else {
			key = append(key, byte(Invoke))
		}
		for i := range rows {
			n := rows[i].n
			if rows[i].pending(before) {
				n--
			}
			key = appendCount(key, n)
		}
		return append(key, before[r.to:]...), true
	case Return:
		key = append(append(key, before[:r.last]...), byte(Return))
		return append(appendCount(key, value), before[r.last+1:]...), true
	}
	if !r.pending(before) {
		return before, false
	}
	key = append(append(key, before[:r.last]...), byte(Cut))
	return append(key, before[r.last+1:]...), true
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
	rows := make([][]Operation, len(from))
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
