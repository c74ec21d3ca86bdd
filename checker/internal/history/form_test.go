package history

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// plainPast is a history in plain form, to compare the canonical form with.
type plainPast [][]Operation

func (p plainPast) pending(c int) bool {
	return len(p[c]) > 0 && p[c][len(p[c])-1].State == Invoke
}

// with returns the history with one more event of a client.
func (p plainPast) with(c int, kind Kind, value, crashed uint32) plainPast {
	before := make([]uint32, len(p))
	for i := range p {
		before[i] = uint32(len(p[i]))
		if p.pending(i) {
			before[i]--
		}
	}
	q := slices.Clone(p)
	q[c] = slices.Clone(p[c])
	switch last := len(q[c]) - 1; kind {
	case Invoke:
		q[c] = append(q[c], Operation{In: value, State: Invoke, Before: before})
	case Crash:
		q[c] = append(q[c], Operation{In: value, Out: crashed, State: Return, Before: before})
	case Return:
		q[c][last].Out, q[c][last].State = value, Return
	case Cut:
		if p.pending(c) {
			q[c][last].State = Cut
		}
	}
	return q
}

// Appending events to the canonical form is appending them to the history, also when
// there are more than fit a byte.
func TestAppendEvent(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		clients := rapid.IntRange(1, 5).Draw(t, "clients")
		number := rapid.OneOf(rapid.Uint32Range(0, 5), rapid.Uint32Range(0, 100_000))
		plain := make(plainPast, clients)
		bytes := appendForm(nil, plain)
		for range rapid.IntRange(0, 400).Draw(t, "events") {
			c := rapid.IntRange(0, clients-1).Draw(t, "client")
			kinds := []Kind{Invoke, Crash, Cut}
			if plain.pending(c) {
				kinds = []Kind{Return, Cut}
			}
			kind, value := rapid.SampledFrom(kinds).Draw(t, "kind"), number.Draw(t, "value")
			next := plain.with(c, kind, value, 7)
			after, changed := appendEvent(nil, bytes, clients, c, kind, value, 7)
			require.Equal(t, kind != Cut || plain.pending(c), changed)
			plain, bytes = next, after
			require.Equal(t, appendForm(nil, plain), bytes)
		}
		require.Equal(t, [][]Operation(plain), parse(bytes, clients))
	})
}
