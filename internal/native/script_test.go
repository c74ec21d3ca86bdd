package native

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A rename that a counterexample has by its target, for its source has a random name, is found natively.
func TestACallMatchesByEachOfItsPaths(t *testing.T) {
	s := script{steps: []Step{{0, "rename", "/d/n"}, {0, "rename", "/d/n"}}, taken: make([]bool, 2), window: 1}
	require.True(t, s.next())
	require.Zero(t, s.match(0, "rename", []string{"/d/n.x7", "/d/n"}))
	s.take(0, 0)
	require.Equal(t, -1, s.match(0, "rename", []string{"/d/n.x7", "/d/m"}))
	require.Equal(t, 1, s.match(0, "rename", []string{"/d/n", "/d/m"}))
}
