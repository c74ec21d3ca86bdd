package command

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// What kills leave of a command with several orders of its own calls is the same where no order is followed twice.
func TestKilledOnceInEachOrder(t *testing.T) {
	testmain.Slow(t, "it executes commands", "./scenarios/command")
	testmain.Needs(t, "sh", "./scenarios/command")
	s := &Spec{Dir: "/data", Files: []File{{Name: "n", Content: "0\n"}},
		Commands: []Line{{Shell: "read x <n; echo $x >a & echo $x >b; wait"}}}
	s.Crashes = 1
	require.NoError(t, s.validate())
	sc, err := s.bare()
	testmain.Traced(t, err, "./scenarios/command")
	m := sc.NewMachine()
	left := func(cuts []*fsfake.Machine) (all []string) {
		for _, c := range cuts {
			all = append(all, s.outcome(scenarios.NewView(c)).Key(nil))
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	ends, err := s.everyWay(&sc, m, 0, false, true)
	require.NoError(t, err)
	var once []*fsfake.Machine
	for _, e := range ends {
		once = append(once, e.cuts...)
	}
	met := &meeting{at: map[string]bool{}, changes: &s.record.changes}
	var every []*fsfake.Machine
	for ways := []fsfake.WayTaken(nil); ; {
		port, err := s.alone(&sc, m.Clone(), 0, false, ways, never, met)
		require.NoError(t, err)
		for at := range port.before {
			cuts, err := s.killedBefore(&sc, m, 0, port, at, nil)
			require.NoError(t, err)
			every = append(every, cuts...)
		}
		if ways = fsfake.NextWays(port.ways, 0); ways == nil {
			break
		}
	}
	require.Greater(t, len(left(every)), 3)
	require.Equal(t, left(every), left(once))
	without, err := s.everyWay(&sc, m, 0, false, false)
	require.NoError(t, err)
	for _, e := range without {
		require.Empty(t, e.cuts, "it is not to be killed")
	}
	// More kills than may be tried are counted, and not begun.
	few := *s
	few.mostRuns = 12
	sc, err = few.bare()
	require.NoError(t, err)
	_, err = few.everyWay(&sc, sc.NewMachine(), 0, false, true)
	require.ErrorIs(t, err, ErrTooLong)
	require.Less(t, few.record.started(), few.mostRuns)
}
