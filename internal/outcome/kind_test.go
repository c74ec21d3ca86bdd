package outcome

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
)

// Two commands that add a line each, and exit 0 when they run one after the other.
func TestKind(t *testing.T) {
	start := []Entry{{Name: "f", Thing: Told("0")}}
	of := func(a, b, f string) Outcome {
		return Outcome{Exits: []string{a, b}, Printed: []string{"", ""}, Tree: []Entry{{Name: "f", Thing: Told(f)}}}
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
		{"exit 0", "exit 1", "0B", scenarios.Undone},
		{"exit 0", "exit 1", "0", scenarios.Undone},
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
	left.Tree = append(left.Tree, Entry{Name: "g", Thing: Told("1")})
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

// A command that commits reads its message back from a file that both write. What is there of the one that succeeds is
// what the other one, which fails, leaves when it runs alone.
func TestKindOfWhatIsUndone(t *testing.T) {
	of := func(a, b, message, head string) Outcome {
		return Outcome{Exits: []string{a, b}, Printed: []string{"", ""},
			Tree: []Entry{{Name: "MESSAGE", Thing: Told(message)}, {Name: "head", Thing: Told(head)}}}
	}
	start := of("", "", "0", "0").Tree
	// Whoever comes second has nothing to commit.
	orders := []Order{{Ran: []int{0}, Outcome: of("exit 0", "killed", "A", "A")},
		{Ran: []int{1}, Outcome: of("killed", "exit 0", "B", "B")},
		{Ran: []int{0, 1}, Outcome: of("exit 0", "exit 1", "A", "A")},
		{Ran: []int{1, 0}, Outcome: of("exit 1", "exit 0", "B", "B")}}
	s := &Serial{What: "commands", Orders: orders[2:]}
	kind := func(a, b, message, head string) scenarios.Kind { return s.Kind(of(a, b, message, head), start, orders) }
	require.Equal(t, scenarios.Undone, kind("exit 0", "exit 128", "B", "B"), "A has committed with the message of B")
	require.Equal(t, scenarios.Undone, kind("exit 128", "exit 0", "A", "A"))
	require.Equal(t, scenarios.Altered, kind("exit 0", "exit 128", "B", "A"), "the commit of A is there")
	require.Equal(t, scenarios.Refused, kind("exit 0", "exit 128", "A", "A"))
	require.Equal(t, scenarios.Mixed, kind("exit 0", "exit 128", "B", "C"))

	// One that another one overwrites when they run one after the other leaves nothing anyway.
	orders[2].Outcome, orders[3].Outcome = of("exit 0", "exit 0", "B", "B"), of("exit 0", "exit 0", "A", "A")
	require.Equal(t, scenarios.Altered, kind("exit 0", "exit 128", "B", "B"))
	// One that does nothing of its own leaves nothing to miss.
	orders[0].Outcome = of("exit 0", "killed", "0", "0")
	require.Equal(t, scenarios.Altered, kind("exit 0", "exit 128", "B", "0"))
}
