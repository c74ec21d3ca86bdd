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
// A Monitor is a value: its parts are never changed in place, so a copy is
// independent of the original. The zero Monitor is not usable.
type Monitor struct {
	spec    *Spec
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
	return Monitor{spec: &spec, configs: []config{newConfig(spec.Init, nil)}}
}

// Clone returns an independent copy, in constant time.
func (m Monitor) Clone() Monitor { return m }

// Violated reports whether the history is not linearizable. Once it is not, no
// continuation makes it so.
func (m Monitor) Violated() bool { return len(m.configs) == 0 }

// Invoke tells of an invocation. It panics if the client has not returned from
// its operation before this one, or if the specification does not accept the
// input: a history of several specifications must be filtered by Spec.Accepts.
func (m *Monitor) Invoke(client int, input any) {
	if !m.spec.Accepts(input) {
		panic(fmt.Sprintf("model: %s does not accept %T", m.spec.Name, input))
	}
	at, found := m.find(client)
	if found {
		panic(fmt.Sprintf("model: client %d invokes %v while %v is pending", client, input, m.pending[at].input))
	}
	m.pending = slices.Insert(slices.Clone(m.pending), at, call{client, input})
}

// Return tells of a return. With the output [Pending] the operation ends without
// an answer: it has taken effect by now, with any outcome, or it never will. That
// is what the death of its process means. An operation whose return is never told
// may take effect for ever after. Return panics if the client has no pending
// operation.
func (m *Monitor) Return(client int, output any) {
	at, found := m.find(client)
	if !found {
		panic(fmt.Sprintf("model: client %d returns %v from no operation", client, output))
	}
	s := search{spec: m.spec, pending: m.pending, returning: m.pending[at], output: output, seen: map[string]bool{}}
	for _, c := range m.configs {
		s.visit(c)
	}
	m.configs = minimal(m.spec, m.pending, s.found)
	m.pending = slices.Delete(slices.Clone(m.pending), at, at+1)
}

// AppendKey appends a key of the monitor: monitors of one specification with
// equal keys judge every continuation alike. All violated monitors have one key.
func (m Monitor) AppendKey(b []byte) []byte {
	if m.Violated() {
		return append(b, 0)
	}
	b = append(b, 1)
	b = binary.AppendUvarint(b, uint64(len(m.pending)))
	for _, c := range m.pending {
		b = binary.AppendVarint(b, int64(c.client))
		b = appendTyped(b, c.input)
	}
	b = binary.AppendUvarint(b, uint64(len(m.configs)))
	for _, c := range m.configs {
		b = appendText(b, c.key)
	}
	return b
}

// String renders the states that explain the history: "free | A".
func (m Monitor) String() string {
	if m.Violated() {
		return "violated"
	}
	states := make([]string, len(m.configs))
	for i, c := range m.configs {
		states[i] = m.spec.DescribeState(c.state)
	}
	slices.Sort(states)
	return strings.Join(slices.Compact(states), " | ")
}

// Open reports whether a client has an operation that has not returned.
func (m Monitor) Open(client int) bool {
	_, found := m.find(client)
	return found
}

// find returns the place of the client among the pending operations.
func (m Monitor) find(client int) (int, bool) {
	return slices.BinarySearchFunc(m.pending, client, func(c call, client int) int { return cmp.Compare(c.client, client) })
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
