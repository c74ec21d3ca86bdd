package checker

import (
	"encoding/binary"
	"slices"
	"sync"

	"github.com/anishathalye/porcupine"

	"lockpick/model"
	"lockpick/scenarios"
)

// What a state remembers of its past: the history so far, as far as any judgement of
// it can depend on it. Only the precedence relation matters: for each operation how
// many operations of every client had returned when it was invoked, with inputs and
// outputs. Pasts with the same relation are one.
//
// While the graph grows, a monitor judges: what it makes of an event is looked up, for
// its states are few. porcupine has the last word. It judges every violation when the
// monitor reports it, and in the end every past that no other goes on from. Those cover
// the rest, because what comes before a linearizable history's end is linearizable too.

// A pastEvent is one event of a history, without its client.
type pastEvent struct {
	kind  pastKind
	value any
}

type pastKind uint8

const (
	pastInvoke pastKind = iota + 1
	pastReturn
	pastCut   // the pending operation's process was killed
	pastCrash // the crash itself, an operation of its own
)

// A past is one distinct history.
type past struct {
	rows   [][]pastOp // by client; shared with its neighbours, never changed in place
	watch  uint32     // what the monitor makes of it
	goesOn bool       // another past goes on from it
}

type pastOp struct {
	in, out uint32 // values by number; out is meaningless while pending
	state   pastKind
	before  []uint8 // how many operations of each client had returned
}

type pastTable struct {
	mu     sync.Mutex
	spec   model.Spec
	judge  porcupine.Model
	ids    map[string]uint32
	all    []past
	events *interner
	values *interner
	bytes  int
	calls  int   // porcupine's
	fault  error // the monitor and porcupine differ
	// cut is the event of a pending operation's process being killed, crash by process that
	// of its death, 0 when the specification does not speak of deaths.
	cut   uint32
	crash []uint32
	// watched: a past is not a history, but what the monitor makes of it.
	watched bool
	watches *watchTable
}

// pastNone is the empty history.
const pastNone = 0

func newPastTable(spec model.Spec, clients int) *pastTable {
	t := &pastTable{
		spec: spec, judge: spec.Porcupine(), ids: map[string]uint32{},
		events: newInterner(), values: newInterner(), watches: newWatchTable(spec),
	}
	t.events.id(pastEvent{}) // number 0 is no event
	empty := past{rows: make([][]pastOp, clients)}
	t.add(empty, appendPast(nil, empty.rows)) // it gets number pastNone
	return t
}

// event numbers an event. It returns 0 for an operation that the specification does
// not speak of.
func (t *pastTable) event(kind pastKind, input, value any) uint32 {
	if t == nil || !t.spec.Accepts(input) {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.events.id(pastEvent{kind, value})
}

// next appends an event of a client to a past. It reports whether the result is
// linearizable. key is scratch.
func (t *pastTable) next(id uint32, client int, event uint32, key []byte) (uint32, bool, []byte) {
	t.mu.Lock()
	if t.watched {
		defer t.mu.Unlock()
		to := t.watches.next(id, client, event, t.events)
		return to, !t.watches.violated(to), key
	}
	before := t.all[id].rows
	ev := t.events.values[event].(pastEvent)
	value, crashed := t.values.id(ev.value), t.values.id(model.Crashed{})
	t.mu.Unlock()
	rows, changed := appendEvent(before, client, ev.kind, value, crashed)
	if !changed {
		return id, true, key
	}
	key = appendPast(key[:0], rows)

	t.mu.Lock()
	defer t.mu.Unlock()
	t.all[id].goesOn = true
	to, ok := t.ids[string(key)]
	if !ok {
		to = t.add(past{rows: rows, watch: t.watches.next(t.all[id].watch, client, event, t.events)}, key)
		if !t.ok(to) {
			t.confirm(to)
		}
	}
	return to, t.ok(to), key
}

// appendEvent returns a history with one more event of a client; value is its input or
// output. A cut changes nothing where no operation is pending.
func appendEvent(before [][]pastOp, client int, kind pastKind, value, crashed uint32) (rows [][]pastOp, changed bool) {
	row := append([]pastOp(nil), before[client]...)
	switch last := len(row) - 1; kind {
	case pastInvoke:
		row = append(row, pastOp{in: value, state: pastInvoke, before: returned(before)})
	case pastCrash:
		row = append(row, pastOp{in: value, out: crashed, state: pastReturn, before: returned(before)})
	case pastReturn:
		row[last].out, row[last].state = value, pastReturn
	case pastCut:
		if last < 0 || row[last].state != pastInvoke {
			return before, false
		}
		row[last].state = pastCut
	}
	rows = append([][]pastOp(nil), before...)
	rows[client] = row
	return rows, true
}

// ok reports whether the monitor has nothing against a past.
func (t *pastTable) ok(id uint32) bool { return !t.watches.violated(t.all[id].watch) }

// add numbers a new past.
func (t *pastTable) add(n past, key []byte) uint32 {
	at := uint32(len(t.all))
	t.ids[string(key)] = at
	t.all = append(t.all, n)
	t.bytes += 2*len(key) + 80
	return at
}

// returned counts the operations of each client that have ended.
func returned(rows [][]pastOp) []uint8 {
	n := make([]uint8, len(rows))
	for c, row := range rows {
		n[c] = uint8(len(row))
		if len(row) > 0 && row[len(row)-1].state == pastInvoke {
			n[c]--
		}
	}
	return n
}

// appendPast appends the canonical form of a history.
func appendPast(b []byte, rows [][]pastOp) []byte {
	for _, row := range rows {
		b = append(b, byte(len(row)))
		for i := range row {
			op := &row[i]
			b = binary.AppendUvarint(b, uint64(op.in))
			b = append(b, byte(op.state))
			if op.state == pastReturn {
				b = binary.AppendUvarint(b, uint64(op.out))
			}
			b = append(b, op.before...)
		}
	}
	return b
}

// operations lays a past out in time, for porcupine.
func (t *pastTable) operations(rows [][]pastOp) []porcupine.Operation {
	h := newHistory(len(rows))
	tell(rows, t.values.values, h)
	return h.ops
}

// A listener is told of a history's events in an order in which they can have happened.
type listener interface {
	invoke(client, step int, input any)
	ret(client, step int, output any)
	cut(client, step int)
}

// tell lays a past out in time: the invocations in an order that fits, and before each
// just the returns that came before it.
func tell(rows [][]pastOp, values []any, l listener) {
	order := invocations(rows)
	ended := make([]int, len(rows))
	step := 0
	end := func(client int) {
		op := &rows[client][ended[client]]
		if op.state == pastReturn {
			l.ret(client, step, values[op.out])
		} else {
			l.cut(client, step)
		}
		ended[client]++
		step++
	}
	for _, o := range order {
		op := &rows[o.client][o.index]
		for c, n := range op.before {
			for ended[c] < int(n) {
				end(c)
			}
		}
		l.invoke(o.client, step, values[op.in])
		step++
	}
	for c, row := range rows {
		if n := len(row); n > ended[c] && row[n-1].state != pastInvoke {
			end(c)
		}
	}
}

type invocation struct{ client, index, before int }

// invocations lists the operations in an order in which they can have been invoked: who
// saw fewer returns came first.
func invocations(rows [][]pastOp) []invocation {
	var out []invocation
	for c, row := range rows {
		for i := range row {
			n := 0
			for _, b := range row[i].before {
				n += int(b)
			}
			out = append(out, invocation{c, i, n})
		}
	}
	slices.SortStableFunc(out, func(a, b invocation) int { return a.before - b.before })
	return out
}

func (t *pastTable) count() (pasts, bytes int) {
	if t == nil {
		return 0, 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watched {
		return len(t.watches.all), t.watches.bytes
	}
	return len(t.all), t.bytes + t.watches.bytes
}

// die numbers the events of deaths beforehand: they are needed at every state.
func (t *pastTable) die(processes int) {
	t.cut = t.events.id(pastEvent{pastCut, nil})
	for i := range processes {
		in := model.Crash{Owner: scenarios.ProcessName(i)}
		t.crash = append(t.crash, t.event(pastCrash, in, in))
	}
}
