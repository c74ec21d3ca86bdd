package outcome

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
)

// Two commands that add a line each, and exit 0 when they run one after the other.
func TestKind(t *testing.T) {
	start := []Entry{{Name: "f", Text: "0"}}
	of := func(a, b, f string) Outcome {
		return Outcome{Exits: []string{a, b}, Printed: []string{"", ""}, Tree: []Entry{{Name: "f", Text: f}}}
	}
	whole := []Order{{Ran: []int{0, 1}, Outcome: of("exit 0", "exit 0", "0AB")},
		{Ran: []int{1, 0}, Outcome: of("exit 0", "exit 0", "0BA")}}
	parts := append([]Order{{Ran: []int{0}, Outcome: of("exit 0", "killed", "0A")},
		{Ran: []int{1}, Outcome: of("killed", "exit 0", "0B")}}, whole...)
	s := &Serial{What: "commands", Orders: whole}
	for _, c := range []struct {
		a, b, f string
		want    scenarios.Kind
	}{
		{"exit 0", "exit 0", "0A", scenarios.Lost},
		{"exit 0", "exit 1", "0A", scenarios.Refused},
		{"exit 0", "exit 1", "0B", scenarios.Altered},
		{"exit 0", "exit 1", "0", scenarios.Altered},
		{"signal 6", "exit 0", "0B", scenarios.Refused},
		{"exit 1", "exit 1", "0", scenarios.Refused},
		{"exit 1", "exit 1", "", scenarios.Mixed},
		{"exit 0", "exit 1", "0C", scenarios.Mixed},
		{"exit 0", "exit 1", "0AB", scenarios.Altered},
		{"exit 0", "killed", "0B", scenarios.Lost},
	} {
		require.Equal(t, c.want, s.Kind(of(c.a, c.b, c.f), start, parts), "%v", c)
	}
	// What is left beside what the others leave is less than what is not there.
	left := of("exit 0", "exit 1", "0A")
	left.Tree = append(left.Tree, Entry{Name: "g", Text: "1"})
	require.Equal(t, scenarios.Failed, s.Kind(left, start, parts))
	left.Tree = left.Tree[1:]
	require.Equal(t, scenarios.Altered, s.Kind(left, start, parts))
	left.Exits, left.Tree = []string{"exit 1", "exit 1"}, append(slices.Clone(start), left.Tree...)
	require.Equal(t, scenarios.Failed, s.Kind(left, start, parts))
	left.Tree = left.Tree[1:]
	require.Equal(t, scenarios.Altered, s.Kind(left, start, parts))
	// Whoever comes second fails when they run one after the other: that is no failure here, unless both do.
	for i := range whole {
		whole[i].Outcome.Exits[whole[i].Ran[1]] = "exit 1"
	}
	require.Equal(t, scenarios.Lost, s.Kind(of("exit 0", "exit 1", "0B"), start, parts))
	require.Equal(t, scenarios.Lost, s.Kind(of("exit 0", "exit 0", "0B"), start, parts))
	require.Equal(t, scenarios.Refused, s.Kind(of("exit 1", "exit 1", "0"), start, parts))
}
