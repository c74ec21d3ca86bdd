package history

import (
	"lockpick/checker/internal/table"
	"lockpick/model"
)

// A monitors numbers the states of a specification's monitor, and remembers what
// events make of them. Two histories that no continuation can tell apart have one
// state, so there are few, and explorations in which a history is such a state instead of
// a history merge many more states. That the monitor agrees with porcupine is tested on
// every history of every scenario.
type monitors struct {
	ids   map[string]uint32 // by key
	all   []model.Monitor
	begun []told // by monitor: a history that leads to it
	steps map[uint64]uint32
	key   []byte
	keys  int // bytes of all keys
}

// A told is the last event of a history, and what the monitor makes of what was before it.
type told struct {
	before uint32
	client int
	event  uint32
}

func newMonitors(spec model.Spec) *monitors {
	t := &monitors{ids: map[string]uint32{}, steps: map[uint64]uint32{}}
	t.id(model.NewMonitor(spec), told{}) // it gets the number Empty
	return t
}

// RememberMonitors makes t remember monitors. It must be called before anything else.
func (t *Table) RememberMonitors() { t.MonitorsOnly = true }

// next tells a monitor of an event.
func (t *monitors) next(id uint32, client int, event uint32, events *table.Interner) uint32 {
	key := StepKey(id, client, event)
	if to, ok := t.steps[key]; ok {
		return to
	}
	m := t.all[id].Clone()
	switch ev := events.Values[event].(Event); ev.kind {
	case Invoke:
		m.Invoke(client, ev.value)
	case Return:
		m.Return(client, ev.value)
	case Cut:
		if m.Open(client) {
			m.Return(client, model.Pending{})
		}
	case Crash:
		m.Invoke(client, ev.value)
		m.Return(client, model.Crashed{})
	}
	to := t.id(m, told{id, client, event})
	t.steps[key] = to
	return to
}

// violated reports whether no history with this state is linearizable.
func (t *monitors) violated(id uint32) bool { return t.all[id].Violated() }

// id numbers a monitor, which must not change afterwards; a history that leads to it is kept.
func (t *monitors) id(m model.Monitor, last told) uint32 {
	t.key = m.AppendKey(t.key[:0])
	id, known := t.ids[string(t.key)]
	if !known {
		id = uint32(len(t.all))
		t.ids[string(t.key)] = id
		t.keys += len(t.key)
		t.all = append(t.all, m)
		t.begun = append(t.begun, last)
	}
	return id
}

// monitorBytes is about what a monitor takes beside its key, which it holds a second time.
const monitorBytes = 144

// size is about the memory that the table takes, in bytes.
func (t *monitors) size() int { return 2*t.keys + monitorBytes*len(t.all) }

// A teller tells a monitor of a whole history.
type teller struct {
	t  *Table
	at uint32
}

// monitorOf returns what the monitor makes of a history from its beginning.
func (t *Table) monitorOf(rows [][]Operation) uint32 {
	w := &teller{t: t, at: Empty}
	tell(rows, t.values.Values, w)
	return w.at
}

func (w *teller) Invoke(client, _ int, input any)  { w.tell(client, Invoke, input) }
func (w *teller) Return(client, _ int, output any) { w.tell(client, Return, output) }
func (w *teller) Cut(client, _ int)                { w.tell(client, Cut, nil) }

func (w *teller) tell(client int, kind Kind, value any) {
	if !w.t.monitors.violated(w.at) {
		w.at = w.t.monitors.next(w.at, client, w.t.events.ID(Event{kind, value}), w.t.events)
	}
}

// StepKey packs what an event makes of a history depends on.
func StepKey(history uint32, client int, event uint32) uint64 {
	return uint64(history)<<32 | uint64(client)<<24 | uint64(event)
}
