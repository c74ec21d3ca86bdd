package search

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/toys"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
	"lockpick/sched"
)

// situations are the toys, and those rows of the corpus whose processes have signal handlers, or tasks that others
// start.
func situations() []scenarios.Scenario {
	rows := slices.DeleteFunc(all.All(), func(sc scenarios.Scenario) bool {
		return sc.Setting.Handlers == nil && sc.Setting.Running == nil
	})
	return slices.Concat(toys.All(), toys.Properties(), rows)
}

// Within each bound of preemptions a violation is found by depth where one is found by cost, the program itself goes
// that way, and what is found by cost does not depend on which steps it leaves out.
func TestPreemptionsAreCovered(t *testing.T) {
	t.Parallel()
	found, whole := 0, 0
	for _, sc := range situations() {
		for _, c := range sc.Claims {
			if q := c.Property.Question; c.Property.OfCycles() || q != scenarios.NoQuestion && q != scenarios.Stuck {
				continue
			}
			for bound := range 3 {
				name := sc.ID + " " + c.Property.ID
				new := func() *Explorer {
					x, err := NewExplorer(&sc, c.Property)
					require.NoError(t, err, name)
					return x
				}
				tg := &Target{Preemptions: &bound, NoFaults: true, Limits: Limits{States: 20_000}}
				smallest, err := new().FindSmallest(t.Context(), tg)
				if err != nil {
					continue // too large for a test
				}
				p, err := new().CoverPreemptions(t.Context(), scenarios.NoKind, Limits{}, bound, bound, Limits{})
				require.NoError(t, err, name)
				require.Nil(t, p.Ended, name)
				require.Equal(t, smallest != nil, len(p.Broken) > 0, "%s, %d preemptions: %v, but %v", name, bound, smallest,
					p.Broken)
				if len(p.Broken) == 0 {
					require.True(t, p.Bound == bound || p.Whole, name)
					require.Equal(t, tg.Stored, p.States, "%s, %d preemptions", name, bound)
					whole++
					continue
				}
				found++
				tr, err := NewTester(&sc, c.Property)
				require.NoError(t, err)
				o, err := tr.Run(sched.Replay{Schedule: p.Broken[0].Schedule}, true)
				require.NoError(t, err, name)
				require.True(t, o.Broken, name)
				require.Equal(t, p.Broken[0].Preemptions, o.Cost.Preemptions, "%s: %v", name, p.Broken)
				require.Zero(t, o.Cost.Faults())

				anywhere, err := new().FindSmallest(t.Context(), &Target{NoFaults: true})
				require.NoError(t, err)
				if o, err = tr.Run(sched.Replay{Schedule: anywhere}, false); err == nil && o.Cost.Preemptions <= bound {
					require.Equal(t, anywhere.String(), smallest.String(), name)
				}
			}
		}
	}
	t.Log(found, whole)
	require.Greater(t, found, 10)
	require.Greater(t, whole, 10)
}
