package command

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/internal/testmain"
)

// A program that looks at the clock is told something else wherever the clock jumps, and one that comes after another
// was killed finds something else for each of its calls. Serial runs go on from snapshots then, and end as they do
// where each begins anew.
func TestSerialRunsGoOnFromSnapshots(t *testing.T) {
	testmain.Slow(t, "it executes commands", "./scenarios/command")
	testmain.Needs(t, "perl", "./scenarios/command")
	const program = `mkdir "d" or exit 1; my $t = time; open F, ">>n"; print F time - $t, time - $t; close F; rmdir "d"`
	const writes = `open F, "+<", "n"; $| = 1; $x = <F>; for (1 .. 3) { syswrite F, "$_$x" } close F`
	for _, c := range []struct {
		program string
		set     func(s *Spec)
	}{
		{program, func(s *Spec) { s.Stalls, s.StallFor = 1, 5*time.Second }},
		{writes, func(s *Spec) { s.Crashes = 1 }},
	} {
		ends := map[bool][]string{}
		starts := map[bool]int{}
		for _, anew := range []bool{false, true} {
			s := &Spec{Dir: "/data", Files: []File{{Name: "n", Content: "0\n"}}, NoSnapshots: anew, worth: 1,
				Commands: slices.Repeat([]Line{{Argv: []string{"perl", "-e", c.program}}}, 2)}
			c.set(s)
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
		require.Greater(t, len(ends[true]), 3, "the clock jumps, or the other one was killed, at each call")
		require.Less(t, 3*starts[false], 2*starts[true], "%v", starts)
	}
}

// Whether time matters is tried on paths that begin alike by executions that go on from one snapshot, also where the
// first call comes early, as it does of what flock -F starts.
func TestTimeIsTriedFromSnapshots(t *testing.T) {
	testmain.Slow(t, "it executes commands", "./scenarios/command")
	testmain.Needs(t, "perl", "./scenarios/command")
	testmain.Needs(t, "flock", "./scenarios/command")
	const program = `open F, "+<", "n"; $x = <F>; print time > 0, $x`
	s := &Spec{Dir: "/data", Files: []File{{Name: "n", Content: "0\n"}, {Name: "l"}}, worth: 60, Commands: []Line{
		{Argv: []string{"flock", "-F", "l", "perl", "-e", program}},
		{Argv: []string{"sh", "-c", "echo 1 >n"}}, {Argv: []string{"sh", "-c", "echo 2 >n"}},
	}}
	require.NoError(t, s.validate())
	sc, err := s.bare()
	testmain.Traced(t, err, "./scenarios/command")
	_, err = s.serial(&sc)
	require.NoError(t, err)
	again := s.rerun(0)
	defer again.close()
	ends := s.record.lateness(s.start(0)).ends
	require.Greater(t, len(ends), 2)
	for _, end := range ends {
		path := end.path()
		is, err := again.differsLate(path, looksOn(path), longestDelay)
		require.NoError(t, err)
		require.Empty(t, is)
	}
	require.Equal(t, 1, again.known[0].record.started())
}
