package checker

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// plainPast is a history in plain form, to compare the canonical form with.
type plainPast [][]pastOp

func (p plainPast) pending(c int) bool {
	return len(p[c]) > 0 && p[c][len(p[c])-1].state == pastInvoke
}

// with returns the history with one more event of a client.
func (p plainPast) with(c int, kind pastKind, value, crashed uint32) plainPast {
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
	case pastInvoke:
		q[c] = append(q[c], pastOp{in: value, state: pastInvoke, before: before})
	case pastCrash:
		q[c] = append(q[c], pastOp{in: value, out: crashed, state: pastReturn, before: before})
	case pastReturn:
		q[c][last].out, q[c][last].state = value, pastReturn
	case pastCut:
		if p.pending(c) {
			q[c][last].state = pastCut
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
		bytes := appendPast(nil, plain)
		for range rapid.IntRange(0, 400).Draw(t, "events") {
			c := rapid.IntRange(0, clients-1).Draw(t, "client")
			kinds := []pastKind{pastInvoke, pastCrash, pastCut}
			if plain.pending(c) {
				kinds = []pastKind{pastReturn, pastCut}
			}
			kind, value := rapid.SampledFrom(kinds).Draw(t, "kind"), number.Draw(t, "value")
			next := plain.with(c, kind, value, 7)
			after, changed := appendEvent(nil, bytes, clients, c, kind, value, 7)
			require.Equal(t, kind != pastCut || plain.pending(c), changed)
			plain, bytes = next, after
			require.Equal(t, appendPast(nil, plain), bytes)
		}
		require.Equal(t, [][]pastOp(plain), parsePast(bytes, clients))
	})
}
