package search

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
)

// A call and what is forgotten after it are one operation on the machine: there is no machine between them that no
// state has.
func TestNoMachineBetween(t *testing.T) {
	for _, s := range sizes() {
		if s.Processes > 3 || s.Name != "ctx" && s.Name != "flopen, blocking" {
			continue
		}
		x, err := NewExplorer(s.Scenario(), scenarios.Deadlock)
		require.NoError(t, err)
		c, err := x.Explore(context.Background(), Limits{Workers: 1}, x.Initial)
		require.NoError(t, err)
		require.True(t, c.Complete, c.Why)
		in := map[uint32]bool{}
		var row []uint32
		for id := range c.States.Len() {
			row = c.States.Row(id, row)
			in[row[0]] = true
		}
		require.Len(t, in, x.Learned().Machines, s.Name)
	}
}
