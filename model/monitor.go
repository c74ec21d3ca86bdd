package model

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// A Monitor judges a history while it happens: told of every invocation and
// every return in order, it knows at any moment whether the history so far is
// linearizable. It agrees with porcupine on every history (that is tested), and
// unlike a history it can be compared: two monitors with equal keys judge every
// continuation alike, so what happened before can be forgotten.
//
// It remembers the set of configurations that can explain the history: a state
// of the specification, and which pending operations have taken effect already,
// with which guessed outcome. A guess is kept or dropped when the operation
// returns (Wing and Gong's search, breadth first and on line). Operations are
// made to take effect as late as possible, just before some return needs them
// (Lowe, Testing for linearizability, 2017), and a configuration that another
// will reach anyway is left out, which makes the set canonical.
//
// Of several locks ([LockByLock]) there is one such set for each. What names no lock is told to
// each, and to one more set, rest: a lock that comes up later has been told the same.
//
// A Monitor is a value: its parts are never changed in place, so a copy is
// independent of the original. The zero Monitor is not usable.
type Monitor struct {
	spec  *Spec
	rest  explained
	parts []part // by lock; none: rest is all there is
}

// A part is what is known of one lock.
type part struct {
	lock string
	explained
}

// An explained is what can explain a history of one object.
type explained struct {
	pending []call   // by client
	configs []config // by key; none: violated
}

// A call is an operation that has been invoked and has not returned.
type call struct {
	client int
	input  any
}

// A config is one explanation of the history so far.
type config struct {
	state any
	taken []guess // the pending operations that have taken effect, by client
	key   string
}

// A guess is the outcome with which a pending operation has taken effect.
type guess struct {
	client int
	output any
}

// NewMonitor returns a monitor of the empty history.
func NewMonitor(spec Spec) Monitor {
	return Monitor{spec: &spec, rest: explained{configs: []config{newConfig(spec.Init, nil)}}}
}

// Clone returns an independent copy, in constant time.
func (m Monitor) Clone() Monitor { return m }

// Violated reports whether the history is not linearizable. Once it is not, no
// continuation makes it so.
func (m Monitor) Violated() bool {
	if len(m.parts) == 0 {
		return len(m.rest.configs) == 0
	}
	return slices.ContainsFunc(m.parts, func(p part) bool { return len(p.configs) == 0 })
}

// Invoke tells of an invocation. It panics if the client has not returned from
// its operation before this one, or if the specification does not accept the
// input: a history of several specifications must be filtered by Spec.Accepts.
func (m *Monitor) Invoke(client int, input any) {
	if !m.spec.Accepts(input) {
		panic(fmt.Sprintf("model: %s does not accept %T", m.spec.Name, input))
	}
	if before, open := m.open(client); open {
		panic(fmt.Sprintf("model: client %d invokes %v while %v is pending", client, input, before))
	}
	lock := ""
	if m.spec.PerLock {
		lock, _ = LockOf(input)
	}
	at, known := slices.BinarySearchFunc(m.parts, lock, func(p part, lock string) int { return cmp.Compare(p.lock, lock) })
	m.parts = slices.Clone(m.parts)
	switch {
	case lock == "":
		m.rest = m.rest.invoke(client, input)
		for i := range m.parts {
			m.parts[i].explained = m.parts[i].invoke(client, input)
		}
		return
	case !known:
		m.parts = slices.Insert(m.parts, at, part{lock, m.rest})
	}
	m.parts[at].explained = m.parts[at].invoke(client, input)
}

// Return tells of a return. With the output [Pending] the operation ends without
// an answer: it has taken effect by now, with any outcome, or it never will. That
// is what the death of its process means. An operation whose return is never told
// may take effect for ever after. Return panics if the client has no pending
// operation.
func (m *Monitor) Return(client int, output any) {
	input, open := m.open(client)
	if !open {
		panic(fmt.Sprintf("model: client %d returns %v from no operation", client, output))
	}
	m.rest = m.rest.returns(m.spec, client, output)
	rest := m.rest.appendKey(nil)
	var parts []part
	for _, p := range m.parts {
		p.explained = p.returns(m.spec, client, output)
		if !slices.Equal(p.appendKey(nil), rest) { // otherwise it is as if it had not come up
			parts = append(parts, p)
		}
	}
	m.parts = parts
	if _, ofLock := LockOf(input); !ofLock && len(m.rest.configs) == 0 {
		m.parts = nil // of no lock is this explained
	}
}

// invoke adds a pending operation.
func (e explained) invoke(client int, input any) explained {
	at, _ := e.find(client)
	e.pending = slices.Insert(slices.Clone(e.pending), at, call{client, input})
	return e
}

// returns ends the pending operation of a client, if there is one.
func (e explained) returns(spec *Spec, client int, output any) explained {
	at, found := e.find(client)
	if !found {
		return e
	}
	s := search{spec: spec, pending: e.pending, returning: e.pending[at], output: output, seen: map[string]bool{}}
	for _, c := range e.configs {
		s.visit(c)
	}
	return explained{
		configs: minimal(spec, e.pending, s.found),
		pending: slices.Delete(slices.Clone(e.pending), at, at+1),
	}
}

// AppendKey appends a key of the monitor: monitors of one specification with
// equal keys judge every continuation alike. All violated monitors have one key.
func (m Monitor) AppendKey(b []byte) []byte {
	if m.Violated() {
		return append(b, 0)
	}
	b = append(b, 1)
	b = m.rest.appendKey(b)
	for i := range m.parts {
		b = appendText(b, m.parts[i].lock)
		b = m.parts[i].appendKey(b)
	}
	return b
}

func (e explained) appendKey(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(len(e.pending)))
	for _, c := range e.pending {
		b = binary.AppendVarint(b, int64(c.client))
		b = appendTyped(b, c.input)
	}
	b = binary.AppendUvarint(b, uint64(len(e.configs)))
	for _, c := range e.configs {
		b = appendText(b, c.key)
	}
	return b
}

// String renders the states that explain the history: "free | A"; of several locks
// "/x: free; /y: A".
func (m Monitor) String() string {
	if m.Violated() {
		return "violated"
	}
	if len(m.parts) == 0 {
		return m.rest.describe(m.spec)
	}
	if len(m.parts) == 1 {
		return m.parts[0].describe(m.spec)
	}
	texts := make([]string, len(m.parts))
	for i := range m.parts {
		texts[i] = m.parts[i].lock + ": " + m.parts[i].describe(m.spec)
	}
	return strings.Join(texts, "; ")
}

func (e explained) describe(spec *Spec) string {
	states := make([]string, len(e.configs))
	for i, c := range e.configs {
		states[i] = spec.DescribeState(c.state)
	}
	slices.Sort(states)
	return strings.Join(slices.Compact(states), " | ")
}

// Open reports whether a client has an operation that has not returned.
func (m Monitor) Open(client int) bool {
	_, open := m.open(client)
	return open
}

// open returns the operation of a client that has not returned.
func (m Monitor) open(client int) (input any, open bool) {
	if at, found := m.rest.find(client); found {
		return m.rest.pending[at].input, true
	}
	for i := range m.parts {
		if at, found := m.parts[i].find(client); found {
			return m.parts[i].pending[at].input, true
		}
	}
	return nil, false
}

// find returns the place of the client among the pending operations.
func (e explained) find(client int) (int, bool) {
	return slices.BinarySearchFunc(e.pending, client, func(c call, client int) int { return cmp.Compare(c.client, client) })
}

func newConfig(state any, taken []guess) config {
	var room [192]byte
	key := appendTyped(room[:0], state)
	for _, g := range taken {
		key = binary.AppendVarint(key, int64(g.client))
		key = appendTyped(key, g.output)
	}
	return config{state: state, taken: taken, key: string(key)}
}

// guessed returns the place of the client among the operations that have taken effect.
func (c config) guessed(client int) (int, bool) {
	return slices.BinarySearchFunc(c.taken, client, func(g guess, client int) int { return cmp.Compare(g.client, client) })
}

// take returns the configuration after a pending operation has taken effect.
func (c config) take(client int, o Outcome) config {
	at, _ := c.guessed(client)
	return newConfig(o.State, slices.Insert(slices.Clone(c.taken), at, guess{client, o.Output}))
}
