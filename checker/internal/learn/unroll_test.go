package learn

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// However often the same calls come in a row, one or two of them, rounds are of one kind; what comes
// before, between or after makes another.
func TestKindsWithoutSpins(t *testing.T) {
	kind := func(calls string) string {
		var out []string
		for _, c := range strings.Split(calls, "") {
			out = withoutSpins(append(out, c))
		}
		return strings.Join(out, "")
	}
	for _, spin := range []string{"s", "st"} {
		much := kind("a" + strings.Repeat(spin, 20) + "b")
		require.Equal(t, much, kind("a"+strings.Repeat(spin, 900)+"b"))
		for _, other := range []string{
			"a" + strings.Repeat(spin, 3) + "b", "a" + strings.Repeat(spin, 20) + "c", "b" + strings.Repeat(spin, 20) + "b",
			"a" + strings.Repeat(spin, 20) + "xs" + "b", "a" + strings.Repeat(spin, 20) + "x" + strings.Repeat(spin, 20) + "b",
		} {
			require.NotEqual(t, much, kind(other), other)
		}
	}
	few := strings.Split("abcabcabcabc", "")
	require.Equal(t, few, withoutSpins(slices.Clone(few)))
}
