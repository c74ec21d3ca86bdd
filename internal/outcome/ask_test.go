package outcome

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
)

// Which disks are told apart stays as it is when a serial run comes to be known: a state of the disk has a number, by
// which schedules name it, and those that were visited are visited again.
func TestDisksKeepTheirNumbers(t *testing.T) {
	a := NewAtomic(endsAs("exit 0", "f", "a"), []Order{{Ran: []int{0}, Outcome: endsAs("exit 0", "f", "b")}}, Passage{})
	p := a.Ask(scenarios.Durable, Look{Path: func(name string) string { return "/srv/" + name }})
	a.Add(Order{Ran: []int{0}, Outcome: endsAs("exit 0", "f", "b", "log.7", "x")})
	require.Equal(t, [][]string{{"/srv/f"}}, p.Judged())
}
