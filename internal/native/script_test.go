package native

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A rename that a counterexample has by its target, for its source has a random name, is found natively.
func TestACallMatchesByEachOfItsPaths(t *testing.T) {
	s := script{steps: []Step{{0, "rename", "/d/n", nil}, {0, "rename", "/d/n", nil}}, taken: make([]bool, 2), window: 1}
	require.True(t, s.next())
	require.Zero(t, s.match(0, "rename", []string{"/d/n.x7", "/d/n"}))
	s.take(0, 0)
	require.Equal(t, -1, s.match(0, "rename", []string{"/d/n.x7", "/d/m"}))
	require.Equal(t, 1, s.match(0, "rename", []string{"/d/n", "/d/m"}))
}

// A name that is not there at the start is the same natively, or a random one in its directory. A copy is a look at
// the size, a read and a write elsewhere, and one call natively.
func TestACallMatchesNewNames(t *testing.T) {
	s := script{steps: []Step{
		{0, "stat", "", []string{"/d/b"}}, {0, "open", "", []string{"/d/b.x7"}}, {0, "stat", "/d/a", nil},
		{0, "read", "/d/a", nil}, {0, "write", "", []string{"/d/b"}},
	}, taken: make([]bool, 5), window: 1}
	require.True(t, s.next())
	require.Equal(t, -1, s.match(0, "stat", []string{"/d"}))
	require.Equal(t, -1, s.match(0, "stat", []string{"/d/a"}))
	require.Zero(t, s.match(0, "stat", []string{"/d/b"}))
	s.take(0, 0)
	require.Equal(t, -1, s.match(0, "open", []string{"/d/b"}))
	require.Equal(t, 1, s.match(0, "open", []string{"/d/b.3q"}))
	s.take(0, 1)
	require.Equal(t, -1, s.match(0, "write", []string{"/d/b"}))
	require.Equal(t, 4, s.match(0, "write", []string{"/d/a", "/d/b"}))
}
