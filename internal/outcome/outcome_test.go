package outcome

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Two outcomes are equal if they have one key, and each part of it counts.
func TestEqual(t *testing.T) {
	o := Outcome{
		Exits: []string{"exit 0"}, Printed: []string{"a"}, Tree: []Entry{{Name: "f", Thing: Told(`"1"`)}}, Clock: "1s",
	}
	same := o
	same.Idle = []bool{true}
	require.True(t, o.equal(same))
	exits, printed, tree, clock, mode := o, o, o, o, o
	exits.Exits, printed.Printed = []string{"exit 1"}, []string{"b"}
	tree.Tree, clock.Clock = []Entry{{Name: "f", Thing: Told(`"2"`)}}, "2s"
	mode.Tree = []Entry{{Name: "f", Thing: Told(`"1"`), Mode: 0o600}}
	for i, other := range []Outcome{exits, printed, tree, clock, mode} {
		require.False(t, o.equal(other), i)
		require.NotEqual(t, o.Key(nil), other.Key(nil))
	}
}
