package checker

import "lockpick/model"

// A watchTable numbers the states of a specification's monitor, and remembers what
// events make of them. Two histories that no continuation can tell apart have one
// state, so there are few, and explorations in which a past is such a state instead of
// a history merge many more states. That the monitor agrees with porcupine is tested on
// every history of every scenario.
type watchTable struct {
	keys  keyTable
	all   []model.Monitor
	steps u64table[uint32]
	key   []byte
}

func newWatchTable(spec model.Spec) *watchTable {
	t := &watchTable{}
	t.id(model.NewMonitor(spec)) // it gets number pastNone
	return t
}

// watch makes t remember monitors. It must be called before anything else.
func (t *pastTable) watch() { t.watched = true }

// next tells a monitor of an event.
func (t *watchTable) next(id uint32, client int, event uint32, events *interner) uint32 {
	key := stepKey(id, client, event)
	if to, ok := t.steps.get(key); ok {
		return to
	}
	m := t.all[id].Clone()
	switch ev := events.values[event].(pastEvent); ev.kind {
	case pastInvoke:
		m.Invoke(client, ev.value)
	case pastReturn:
		m.Return(client, ev.value)
	case pastCut:
		if m.Open(client) {
			m.Return(client, model.Pending{})
		}
	case pastCrash:
		m.Invoke(client, ev.value)
		m.Return(client, model.Crashed{})
	}
	to := t.id(m)
	t.steps.put(key, to)
	return to
}

// violated reports whether no history with this state is linearizable.
func (t *watchTable) violated(id uint32) bool { return t.all[id].Violated() }

// id numbers a monitor, which must not change afterwards.
func (t *watchTable) id(m model.Monitor) uint32 {
	t.key = m.AppendKey(t.key[:0])
	id, isNew := t.keys.id(t.key)
	if isNew {
		t.all = append(t.all, m)
	}
	return id
}

// watchBytes is about what a monitor takes beside its key, which it holds a second time.
const watchBytes = 80

// size is about the memory that the table takes, in bytes.
func (t *watchTable) size() int { return 2*t.keys.size() + watchBytes*len(t.all) }

// A watcher tells a monitor of a whole history.
type watcher struct {
	t  *pastTable
	at uint32
}

// watchAll returns what the monitor makes of a history from its beginning.
func (t *pastTable) watchAll(rows [][]pastOp) uint32 {
	w := &watcher{t: t, at: pastNone}
	tell(rows, t.values.values, w)
	return w.at
}

func (w *watcher) invoke(client, _ int, input any) { w.tell(client, pastInvoke, input) }
func (w *watcher) ret(client, _ int, output any)   { w.tell(client, pastReturn, output) }
func (w *watcher) cut(client, _ int)               { w.tell(client, pastCut, nil) }

func (w *watcher) tell(client int, kind pastKind, value any) {
	if !w.t.watches.violated(w.at) {
		w.at = w.t.watches.next(w.at, client, w.t.events.id(pastEvent{kind, value}), w.t.events)
	}
}

// stepKey packs what a step of a past depends on.
func stepKey(past uint32, client int, event uint32) uint64 {
	return uint64(past)<<32 | uint64(client)<<24 | uint64(event)
}
