package checker

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/sched"
)

const lease = 10 * time.Second

// A heart is how a holder keeps its lease, and how a contender looks at it.
type heart struct {
	interval  time.Duration
	file      string // that it touches
	clockLast bool   // the contender looks at the file first, and then at the clock
}

// scenario is a holder with a heartbeat, and a contender that takes over what is older than the lease.
func (h heart) scenario(punctual ...int) *scenarios.Scenario {
	create := func(t *scenarios.Task) error {
		f, err := t.OpenFile(fixtures.Lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err == nil {
			err = f.Close()
		}
		return err
	}
	old := func(t *scenarios.Task) bool {
		var now time.Time
		if !h.clockLast {
			now = t.Now()
		}
		st, err := t.Stat(fixtures.Lock)
		if h.clockLast {
			now = t.Now()
		}
		return err == nil && now.Sub(st.ModTime()) > lease
	}
	acquire := func(t *scenarios.Task) (scenarios.Hold, error) {
		err := create(t)
		if errors.Is(err, fs.ErrExist) && t.Index == 1 && old(t) {
			_ = t.Unlink(fixtures.Lock)
			err = create(t)
		}
		return scenarios.Hold{}, err
	}
	release := func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(fixtures.Lock) }
	sc := fixtures.New("toy/lease/heartbeat", scenarios.Protocol{Path: fixtures.Lock, Acquire: acquire, Release: release},
		scenarios.Setting{Processes: 2, Fixed: true, Stalls: 1, StallFor: 30 * time.Second, Punctual: punctual})
	sc.Program = func(process, _ int) scenarios.Program {
		return func(t *scenarios.Task) {
			_ = scenarios.Locked(t, scenarios.Protocol{Path: fixtures.Lock, Acquire: acquire, Release: release}, func() {
				for range 3 {
					if process == 1 {
						t.Work()
						return
					}
					t.Sleep(h.interval)
					_ = t.WriteFile(h.file, []byte("x"), 0o644)
				}
			})
		}
	}
	return sc
}

// A heartbeat of a holder that is never delayed keeps the lease where it is right, and only there.
func TestHeartbeat(t *testing.T) {
	testmain.Slow(t, "it asks every engine about heartbeats", "./checker")
	ctx := context.Background()
	const in, late = 4 * time.Second, 12 * time.Second
	for _, c := range []struct {
		name     string
		heart    heart
		punctual []int
		want     Verdict
	}{
		{"right, and a slow contender", heart{in, fixtures.Lock, false}, []int{0}, Holds},
		{"right, and a slow holder", heart{in, fixtures.Lock, false}, nil, Broken},
		{"too late", heart{late, fixtures.Lock, false}, []int{0, 1}, Broken},
		{"of another file", heart{in, "/other", false}, []int{0, 1}, Broken},
		{"right, and the contender is slow between its look and the clock", heart{in, fixtures.Lock, true}, []int{0}, Broken},
		{"right, and the contender looks and reads the clock in no time", heart{in, fixtures.Lock, true}, []int{0, 1}, Holds},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			sc := c.heart.scenario(c.punctual...)
			sc.Setting.Assume.Times = scenarios.TimesShared // one case: nobody compares times of two changes
			for name, o := range map[string]Options{
				"graph": {}, "monitors": {Memory: RememberMonitors}, "reference": {oracle: referenceOf(5_000)},
			} {
				r, err := Check(ctx, sc, scenarios.MutualExclusion, o)
				require.NoError(t, err, name)
				if name == "reference" && r.Verdict == Unknown {
					continue // the budget ended
				}
				require.Equal(t, c.want.String(), r.Verdict.String(), "%s: %s", name, r.Why)
				if r.Verdict == Holds && name == "graph" && len(c.punctual) == 1 {
					require.Equal(t, []string{"assumes that A is never delayed: no time passes but what is slept"}, r.Conditions())
				}
				if r.Verdict == Broken {
					again, err := Replay(sc, scenarios.MutualExclusion, r.Counterexample.Schedule)
					require.NoError(t, err)
					require.True(t, again.Broken)
				}
			}
			for _, d := range sched.Drawings() {
				s, err := Sample(ctx, sc, scenarios.MutualExclusion, SampleOptions{Strategy: d.Name, Runs: 150, Seed: 1, KeepGoing: true})
				require.NoError(t, err)
				if c.want == Holds {
					require.Zero(t, s.Failures, d.Name)
				}
			}
		})
	}
}

// Whoever sleeps wakes in time: a stall of half a minute passes in pieces of four seconds.
func TestStallInPieces(t *testing.T) {
	fixtures.OnlyAnswers(t)
	r, err := Check(context.Background(), heart{4 * time.Second, "/other", false}.scenario(0, 1), scenarios.MutualExclusion, Options{})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict)
	var passed []time.Duration
	for _, s := range r.Counterexample.Trace {
		if s.Choice.Action == sched.Stall {
			passed = append(passed, s.Passed)
		}
	}
	require.Equal(t, []time.Duration{4 * time.Second, 4 * time.Second, 4 * time.Second}, passed)
}
