package search

import (
	"os"
	"slices"
	"testing"
	"time"

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

// A fair schedule that breaks a property does so when the program itself runs, and has no more preemptions than it
// says. Where nobody sleeps all schedules are fair. What one preemption breaks is found with two at most, for to go on
// polling may be one.
func TestFairSchedules(t *testing.T) {
	t.Parallel()
	found := 0
	for _, sc := range situations() {
		for _, c := range sc.Claims {
			if q := c.Property.Question; c.Property.OfCycles() || q != scenarios.NoQuestion && q != scenarios.Stuck {
				continue
			}
			name := sc.ID + " " + c.Property.ID
			cover := func(fair bool, bound int) (*preemptive, *Preempted) {
				x, err := NewExplorer(&sc, c.Property)
				require.NoError(t, err, name)
				s := &preemptive{x: x, want: scenarios.NoKind, fair: fair}
				p, err := s.coverAll(t.Context(), Limits{States: 20_000}, bound, bound, Limits{})
				require.NoError(t, err, name)
				return s, p
			}
			any, all := cover(false, 1)
			fair, one := cover(true, 1)
			if all.Ended != nil || one.Ended != nil {
				continue // too large for a test
			}
			if any.sleeps+fair.sleeps == 0 {
				require.Equal(t, all.States, one.States, name)
			}
			if len(all.Broken) > 0 {
				_, two := cover(true, 2)
				require.NotEmpty(t, two.Broken, name)
			}
			for _, b := range one.Broken {
				found++
				tr, err := NewTester(&sc, c.Property)
				require.NoError(t, err)
				o, err := tr.Run(sched.Replay{Schedule: b.Schedule}, false)
				require.NoError(t, err, name)
				require.True(t, o.Broken, name)
				require.LessOrEqual(t, o.Cost.Preemptions, b.Preemptions, name)
			}
		}
	}
	require.Greater(t, found, 5)
}

// Of two programs that count their attempts each number of rounds is a path. Fair schedules are fewer, and are made
// when the others take too many executions.
func TestFairSchedulesOfWhoCounts(t *testing.T) {
	t.Parallel()
	counts := func(t *scenarios.Task) {
		for i := range 60 {
			f, err := t.OpenFile("/tmp/lock", os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			if err == nil {
				_ = f.Close()
				_ = t.Unlink("/tmp/lock")
				return
			}
			t.Sleep(time.Duration(i+1) * time.Millisecond)
		}
	}
	sc := &scenarios.Scenario{
		ID: "toy/counts/contend", Setting: scenarios.Setting{Processes: 2}, External: true,
		Program: func(int, int) scenarios.Program { return counts },
		Claims:  []scenarios.Claim{{Property: scenarios.Deadlock, Verdict: scenarios.Holds}},
	}
	x, err := NewExplorer(sc, scenarios.Deadlock)
	require.NoError(t, err)
	defer x.Close()
	p, err := x.CoverPreemptions(t.Context(), scenarios.NoKind, Limits{}, 1, 1, Limits{})
	require.NoError(t, err)
	require.True(t, p.Fair)
	require.Nil(t, p.Ended)
	require.Empty(t, p.Broken)
	require.Equal(t, 1, p.Bound)
	t.Log(p.States, p.Places, x.Learned().Coroutines)
}

// The first to sleep after a preemption may go on through all of its sleeps or let others go on; from then on whoever
// sleeps lets them.
func TestStances(t *testing.T) {
	t.Parallel()
	s := &preemptive{fair: true}
	for _, c := range []struct {
		was    stance
		slot   int
		asleep bool
		want   []stance
	}{
		{stance{slot: -1}, 1, false, []stance{{1, chooses}}},
		{stance{slot: -1}, 1, true, []stance{{1, goesOn}, {1, slept}}},
		{stance{1, chooses}, 1, true, []stance{{1, goesOn}, {1, slept}}},
		{stance{1, goesOn}, 1, true, []stance{{1, goesOn}}},
		{stance{1, goesOn}, 0, false, []stance{{0, yields}}},
		{stance{1, slept}, 0, false, []stance{{0, yields}}},
		{stance{0, yields}, 0, true, []stance{{0, slept}}},
	} {
		require.Equal(t, c.want, s.next(c.was, c.slot, c.asleep), "%v", c)
		for _, is := range c.want {
			require.Equal(t, is, stanceOf(is.word()))
		}
	}
	require.Equal(t, stance{slot: -1}, stanceOf(stance{slot: -1}.word()))
}
