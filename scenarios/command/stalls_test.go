package command

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// A program that looks at the clock is told something else wherever the clock jumps. Its serial runs go on from
// snapshots then, and end as they do where each begins anew.
func TestStalledRunsGoOnFromSnapshots(t *testing.T) {
	testmain.Slow(t, "it executes commands", "./scenarios/command")
	testmain.Needs(t, "perl", "./scenarios/command")
	const program = `mkdir "d" or exit 1; my $t = time; open F, ">>n"; print F time - $t, time - $t; close F; rmdir "d"`
	ends := map[bool][]string{}
	starts := map[bool]int{}
	for _, anew := range []bool{false, true} {
		s := &Spec{Dir: "/data", Files: []File{{Name: "n"}}, NoSnapshots: anew, worth: 1,
			Commands: []Line{{Argv: []string{"perl", "-e", program}}, {Argv: []string{"perl", "-e", program}}}}
		s.Stalls, s.StallFor = 1, 5*time.Second
		require.NoError(t, s.validate())
		sc, err := s.bare()
		testmain.Traced(t, err, "./scenarios/command")
		runs, err := s.serial(&sc)
		require.NoError(t, err)
		for _, o := range runs.orders {
			ends[anew] = append(ends[anew], o.Outcome.Key(nil))
		}
		slices.Sort(ends[anew])
		starts[anew] = s.record.started()
	}
	require.Equal(t, ends[true], ends[false])
	require.Greater(t, len(ends[true]), 3, "the programs write down how far the clock has jumped")
	require.Less(t, 3*starts[false], 2*starts[true], "%v", starts)
}
