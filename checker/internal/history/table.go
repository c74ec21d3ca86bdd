package history

import (
	"slices"
	"sync"

	"github.com/anishathalye/porcupine"

	"lockpick/checker/internal/table"
	"lockpick/model"
	"lockpick/scenarios"
)

// What a state remembers of the operations so far: the history, as far as any judgement
// of it can depend on it. Only the precedence relation matters: for each operation how
// many operations of every client had returned when it was invoked, with inputs and
// outputs. Histories with the same relation are one.
//
// While the graph grows, a monitor judges: what it makes of an event is looked up, for
// its states are few. Porcupine makes the final check. It judges every violation when the
// monitor reports it, and in the end every history that no other goes on from. Those cover
// the rest, because what comes before a linearizable history's end is linearizable too.

// An Event is one event of a history, without its client.
type Event struct {
	kind  Kind
	value any
}

// A Kind says what an event is, and how an operation has ended.
type Kind uint8

// The kinds of events.
const (
	Invoke Kind = iota + 1 // also: the operation is pending
	Return
	Cut   // the pending operation's process was killed
	Crash // the crash itself, an operation of its own
)

// An entry is one distinct history; its events are its key's.
type entry struct {
	past    past
	monitor uint32 // what the monitor makes of it
	goesOn  bool   // another history goes on from it
}

// A Table numbers the distinct histories of an exploration, from 0, which is [Empty], and
// says of each whether it is linearizable. Several may append side by side.
type Table struct {
	mu    sync.Mutex
	spec  model.Spec
	judge porcupine.Model
	// clients: the tasks, and then the processes as those who crash.
	clients int
	ids     map[string]uint32 // by form
	form    []byte            // scratch
	all     []entry
	forms   int // bytes of all forms
	events  *table.Interner
	values  *table.Interner
	fault   error // the monitor and porcupine differ
	// Cut is the event of a pending operation's process being killed, crash by process that
	// of its death, 0 when the specification does not speak of deaths.
	Cut   uint32
	Crash []uint32
	// MonitorsOnly: an entry is not a history, but what the monitor makes of it.
	MonitorsOnly bool
	monitors     *monitors
}

// Empty is the empty history.
const Empty = 0

// entryBytes is about what a history takes, and formBytes what its operations take for each byte of its form.
const entryBytes, formBytes = 64, 12

// NewTable returns a table of the histories of so many clients, judged by a specification.
func NewTable(spec model.Spec, clients int) *Table {
	t := &Table{
		spec: spec, judge: spec.Porcupine(), clients: clients,
		events: table.NewInterner(), values: table.NewInterner(), monitors: newMonitors(spec), ids: map[string]uint32{},
	}
	t.events.ID(Event{})                                          // number 0 is no event
	t.number(make(past, clients), func() uint32 { return Empty }) // it gets the number Empty
	return t
}

// Event numbers an event. It returns 0 for an operation that the specification does
// not speak of.
func (t *Table) Event(kind Kind, input, value any) uint32 {
	if t == nil || !t.spec.Accepts(input) {
		return 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.events.ID(Event{kind, value})
}

// Append appends an event of a client to a history. It reports whether the result is
// linearizable. A cut changes nothing where no operation is pending.
func (t *Table) Append(id uint32, client int, event uint32) (uint32, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.MonitorsOnly {
		to := t.monitors.next(id, client, event, t.events)
		return to, !t.monitors.violated(to)
	}
	ev, before := t.events.Values[event].(Event), t.all[id].past
	if ev.kind == Cut && !before.pending(client) {
		return id, true
	}
	t.all[id].goesOn = true
	n := len(t.all)
	to := t.number(before.with(client, ev.kind, t.values.ID(ev.value), t.values.ID(model.Crashed{})), func() uint32 {
		return t.monitors.next(t.all[id].monitor, client, event, t.events)
	})
	if len(t.all) > n && !t.OK(to) {
		t.confirm(to)
	}
	return to, t.OK(to)
}

// number numbers a history; monitor says what the monitor makes of one that is new.
func (t *Table) number(p past, monitor func() uint32) uint32 {
	t.form = p.appendForm(t.form[:0])
	id, known := t.ids[string(t.form)]
	if !known {
		id = uint32(len(t.all))
		t.ids[string(t.form)] = id
		t.forms += len(t.form)
		t.all = append(t.all, entry{past: p, monitor: monitor()})
	}
	return id
}

// Rows returns the operations of a history, by client. They must not be changed.
func (t *Table) Rows(id uint32) [][]Operation { return t.all[id].past }

// OK reports whether the monitor has nothing against a history.
func (t *Table) OK(id uint32) bool { return !t.monitors.violated(t.all[id].monitor) }

// Operations lays a history out in time, for porcupine.
func (t *Table) Operations(id uint32) []porcupine.Operation {
	h := NewRecorder(t.clients)
	tell(t.Rows(id), t.values.Values, h)
	return h.Ops
}

// A listener is told of a history's events in an order in which they can have happened.
type listener interface {
	Invoke(client, step int, input any)
	Return(client, step int, output any)
	Cut(client, step int)
}

// tell lays a history out in time: the invocations in an order that fits, and before each
// just the returns that came before it.
func tell(rows [][]Operation, values []any, l listener) {
	order := invocations(rows)
	ended := make([]int, len(rows))
	step := 0
	end := func(client int) {
		op := &rows[client][ended[client]]
		if op.State == Return {
			l.Return(client, step, values[op.Out])
		} else {
			l.Cut(client, step)
		}
		ended[client]++
		step++
	}
	for _, o := range order {
		op := &rows[o.client][o.index]
		for c, n := range op.Before {
			for ended[c] < int(n) {
				end(c)
			}
		}
		l.Invoke(o.client, step, values[op.In])
		step++
	}
	for c, row := range rows {
		if n := len(row); n > ended[c] && row[n-1].State != Invoke {
			end(c)
		}
	}
}

type invocation struct{ client, index, before int }

// invocations lists the operations in an order in which they can have been invoked: who
// saw fewer returns came first.
func invocations(rows [][]Operation) []invocation {
	var out []invocation
	for c, row := range rows {
		for i := range row {
			n := 0
			for _, b := range row[i].Before {
				n += int(b)
			}
			out = append(out, invocation{c, i, n})
		}
	}
	slices.SortStableFunc(out, func(a, b invocation) int { return a.before - b.before })
	return out
}

// Len is how many histories there are.
func (t *Table) Len() int { return len(t.all) }

// Continued reports whether another history goes on from one.
func (t *Table) Continued(id uint32) bool { return t.all[id].goesOn }

// Follow makes the monitor follow another specification than porcupine, for tests of what
// becomes of that. It must be called before anything else.
func (t *Table) Follow(spec model.Spec) { t.monitors = newMonitors(spec) }

// Count returns how many histories there are, or states of monitors, and about the memory
// that they take.
func (t *Table) Count() (histories, bytes int) {
	if t == nil {
		return 0, 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.MonitorsOnly {
		return len(t.monitors.all), t.monitors.size()
	}
	return len(t.all), formBytes*t.forms + entryBytes*cap(t.all) + t.monitors.size()
}

// Deaths numbers the events of deaths beforehand: they are needed at every state.
func (t *Table) Deaths(processes int) {
	t.Cut = t.events.ID(Event{Cut, nil})
	for i := range processes {
		in := model.Crash{Owner: scenarios.ProcessName(i)}
		t.Crash = append(t.Crash, t.Event(Crash, in, in))
	}
}
