package history

import "encoding/binary"

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
