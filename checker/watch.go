package checker

import "lockpick/model"

// A past can be watched instead of kept: what remains of it is the state of an
// incremental linearizability monitor. Two histories that no continuation can tell
// apart are then one past, which merges many more states. That the monitor agrees with
// porcupine is tested on every history of every scenario.

// watch makes t remember monitors. It must be called before anything else.
func (t *pastTable) watch() {
	t.watched = true
	clear(t.ids)
	t.all[pastNone] = past{watch: model.NewMonitor(t.spec), ok: true}
	t.key = t.all[pastNone].watch.AppendKey(t.key[:0])
	t.ids[string(t.key)] = pastNone
}

// watchNext is next for monitors.
func (t *pastTable) watchNext(id uint32, client int, ev pastEvent) (uint32, bool) {
	m := t.all[id].watch.Clone()
	switch ev.kind {
	case pastInvoke:
		m.Invoke(client, ev.value)
	case pastReturn:
		m.Return(client, ev.value)
	case pastCut:
		if !m.Open(client) {
			return id, true
		}
		m.Return(client, model.Pending{})
	case pastCrash:
		m.Invoke(client, ev.value)
		m.Return(client, model.Crashed{})
	}
	t.key = m.AppendKey(t.key[:0])
	if at, ok := t.ids[string(t.key)]; ok {
		return at, t.all[at].ok
	}
	return t.add(past{watch: m, ok: !m.Violated()}), !m.Violated()
}
