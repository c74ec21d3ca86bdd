package checker

import (
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

// A past is one distinct history; its events are its key's.
type past struct {
	watch  uint32 // what the monitor makes of it
	goesOn bool   // another past goes on from it
}

type pastTable struct {
	mu    sync.Mutex
	spec  model.Spec
	judge porcupine.Model
	// clients: the tasks, and then the processes as those who crash.
	clients int
	keys    keyTable // the canonical forms
	all     []past
	events  *interner
	values  *interner
	calls   int   // porcupine's
	fault   error // the monitor and porcupine differ
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

// pastBytes is what a past takes beside its key.
const pastBytes = 8

func newPastTable(spec model.Spec, clients int) *pastTable {
	t := &pastTable{
		spec: spec, judge: spec.Porcupine(), clients: clients,
		events: newInterner(), values: newInterner(), watches: newWatchTable(spec),
	}
	t.events.id(pastEvent{})                              // number 0 is no event
	t.keys.id(appendPast(nil, make([][]pastOp, clients))) // it gets number pastNone
	t.all = append(t.all, past{})
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
	before := t.keys.key(id)
	ev := t.events.values[event].(pastEvent)
	value, crashed := t.values.id(ev.value), t.values.id(model.Crashed{})
	t.mu.Unlock()
	after, changed := appendEvent(key[:0], before, t.clients, client, ev.kind, value, crashed)
	if !changed {
		return id, true, key
	}

	t.mu.Lock()
	defer t.mu.Unlock()
	t.all[id].goesOn = true
	to, isNew := t.keys.id(after)
	if isNew {
		t.all = append(t.all, past{watch: t.watches.next(t.all[id].watch, client, event, t.events)})
		if !t.ok(to) {
			t.confirm(to)
		}
	}
	return to, t.ok(to), after
}

// rows returns the operations of a past, by client.
func (t *pastTable) rows(id uint32) [][]pastOp { return parsePast(t.keys.key(id), t.clients) }

// ok reports whether the monitor has nothing against a past.
func (t *pastTable) ok(id uint32) bool { return !t.watches.violated(t.all[id].watch) }

// operations lays a past out in time, for porcupine.
func (t *pastTable) operations(id uint32) []porcupine.Operation {
	h := newHistory(t.clients)
	tell(t.rows(id), t.values.values, h)
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

// len is how many histories there are.
func (t *pastTable) len() int { return len(t.all) }

// continued reports whether another history goes on from one.
func (t *pastTable) continued(id uint32) bool { return t.all[id].goesOn }

// follow makes the monitor follow another specification than porcupine, for tests of what
// becomes of that. It must be called before anything else.
func (t *pastTable) follow(spec model.Spec) { t.watches = newWatchTable(spec) }

// specification is what the histories are judged by.
func (t *pastTable) specification() model.Spec { return t.spec }

func (t *pastTable) count() (pasts, bytes int) {
	if t == nil {
		return 0, 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.watched {
		return len(t.watches.all), t.watches.size()
	}
	return len(t.all), t.keys.size() + pastBytes*cap(t.all) + t.watches.size()
}

// die numbers the events of deaths beforehand: they are needed at every state.
func (t *pastTable) die(processes int) {
	t.cut = t.events.id(pastEvent{pastCut, nil})
	for i := range processes {
		in := model.Crash{Owner: scenarios.ProcessName(i)}
		t.crash = append(t.crash, t.event(pastCrash, in, in))
	}
}
