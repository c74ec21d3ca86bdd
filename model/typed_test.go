package model

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestAnOperationOfAnotherSpecificationIsRefused(t *testing.T) {
	require.False(t, Mutex().Accepts(Read{}))
	require.False(t, Mutex().Accepts(nil))
	require.PanicsWithValue(t, "model: mutex does not accept model.Read",
		func() { Mutex().Apply(Mutex().Init, Read{}) })
}

func TestBagIsASortedMultiset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOf(rapid.SampledFrom([]string{"A", "B", "", "A B", "C,D"})).Draw(t, "names")
		shuffled := rapid.Permutation(names).Draw(t, "shuffled")
		bag := BagOf(names...)
		require.Equal(t, bag, BagOf(shuffled...))
		require.Len(t, bag.Names(), len(names))
		for _, name := range names {
			require.True(t, bag.Has(name))
			require.Equal(t, bag, bag.Remove(name).Add(name))
			require.False(t, bag.RemoveAll(name).Has(name))
		}
		require.Equal(t, bag, bag.Remove("nobody"))
	})
	require.Panics(t, func() { BagOf("a\x1fb") })
}

func TestEncodingsDifferExactlyWhenValuesDo(t *testing.T) {
	type pair struct{ A, B string }
	type list [2]uint8
	values := []any{
		nil, 0, 1, -1, 64, int8(1), uint(1), "", "a", false, true,
		pair{"a", ""}, pair{"", "a"}, list{1, 0}, list{0, 1},
		Added{}, Released{}, Acquire{Owner: "A"}, Release{Owner: "A"}, Acquire{Owner: "B"},
		MutexState{"A", 1}, MutexState{"A", 2}, Held{true}, Found{true},
	}
	for i, v := range values {
		for j, w := range values {
			require.Equal(t, i == j, string(appendTyped(nil, v)) == string(appendTyped(nil, w)), "%#v, %#v", v, w)
		}
	}
	require.Panics(t, func() { appendTyped(nil, new(int)) })
}
