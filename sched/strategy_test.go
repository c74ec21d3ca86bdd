package sched_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lockpick/sched"
)

func TestRunToCompletion(t *testing.T) {
	at := func(step int, text string) sched.Preemption {
		return sched.Preemption{Step: step, Choice: parse(t, text)[0]}
	}
	for _, c := range []struct {
		toy  toy
		list []sched.Preemption
		want string
	}{
		{toy{left: []int{3, 4}}, nil, "A3 B4"},
		{toy{left: []int{3, 4}}, []sched.Preemption{at(1, "B")}, "A1 B4 A2"},
		{toy{left: []int{3, 4}}, []sched.Preemption{at(0, "B"), at(2, "A")}, "B2 A3 B2"},
		// Passed over: not possible, beyond the end, second of a step.
		{toy{left: []int{3, 4}}, []sched.Preemption{at(1, "B!"), at(1, "C"), at(1, "~")}, "A3 B4"},
		{toy{left: []int{3, 4}}, []sched.Preemption{at(100, "B")}, "A3 B4"},
		{toy{left: []int{3, 4}}, []sched.Preemption{at(1, "~"), at(1, "B"), at(1, "A")}, "A1 B4 A2"},
		// Faults.
		{toy{left: []int{3, 4}, kills: 1}, []sched.Preemption{at(2, "A!")}, "A2! B4"},
		{toy{left: []int{3, 4}, stalls: 1}, []sched.Preemption{at(2, "~")}, "A2 ~ A1 B4"},
		// Whoever sleeps gives way, and comes round again.
		{toy{left: []int{2, 2, 2}, asleep: map[int]bool{0: true}}, nil, "A1 B2 C2 A1"},
	} {
		got, err := c.toy.play(t, sched.RunToCompletion{Preemptions: c.list})
		require.NoError(t, err)
		require.Equal(t, c.want, got.String())
	}
}

// A round robin gives an idle poller its turn only when nobody else has anything to do.
func TestRunToCompletionPassesOverTheIdle(t *testing.T) {
	a, b := sched.Task{Process: 0, N: 1}, sched.Task{Process: 1, N: 1}
	v := sched.View{Last: 1, Tasks: []sched.TaskView{
		{Task: a, Enabled: true, Idle: true},
		{Task: b, Enabled: true, Asleep: true},
	}}
	c, err := sched.RunToCompletion{}.Next(&v)
	require.NoError(t, err)
	require.Equal(t, b, c.Task)
	v.Tasks[1].Enabled = false
	c, err = sched.RunToCompletion{}.Next(&v)
	require.NoError(t, err)
	require.Equal(t, a, c.Task)
	v.Tasks[0].Enabled = false
	_, err = sched.RunToCompletion{}.Next(&v)
	require.ErrorIs(t, err, sched.ErrEnd)
}

func TestReplayIsStrict(t *testing.T) {
	y := toy{left: []int{2, 2}, kills: 1}
	for _, c := range []struct{ text, want, drift string }{
		{"A2 B2", "A2 B2", ""},
		{"A1 B!", "A1 B!", ""},
		{"B1", "B1", ""}, // it ends early
		{"A3", "A2", "step 3 of the schedule (A1) cannot happen: the task is blocked, has ended or was killed"},
		{"A1 ~", "A1", "step 2 of the schedule (~) cannot happen: no stall is left, or the setting has none"},
		{"C1", "", "step 1 of the schedule (C1) cannot happen: there is no such task"},
		{"A.2x1", "", "step 1 of the schedule (A.2x1) cannot happen: there is no such task"},
		{"A1! B!", "A1!", "step 3 of the schedule (B!) cannot happen: no crash is left"},
		{"A! A1", "A!", "step 2 of the schedule (A1) cannot happen: the task is blocked, has ended or was killed"},
	} {
		got, err := y.play(t, sched.Replay{Schedule: parse(t, c.text)})
		require.Equal(t, c.want, got.String(), c.text)
		if c.drift == "" {
			require.NoError(t, err, c.text)
			continue
		}
		require.ErrorContains(t, err, c.drift)
		var drift *sched.DriftError
		require.ErrorAs(t, err, &drift)
		require.Equal(t, len(got)+1, drift.Step)
	}
}

// strategies are the drawing ones, by name.
func strategies(seed uint64) map[string]sched.Strategy {
	out := map[string]sched.Strategy{}
	for _, d := range sched.Drawings() {
		out[d.Name] = d.New(seed, 12, 3)
	}
	return out
}

// One seed, one schedule; and every run of a drawing strategy is one that can be
// replayed and written down.
func TestDrawingStrategies(t *testing.T) {
	first, err := sched.FindDrawing("")
	require.NoError(t, err)
	require.Equal(t, "random", first.Name)
	_, err = sched.FindDrawing("luck")
	require.EqualError(t, err, `sched: unknown strategy "luck": choose random or pct`)
	y := toy{left: []int{4, 4, 4}, kills: 1, stalls: 1}
	rapid.Check(t, func(rt *rapid.T) {
		seed := rapid.Uint64().Draw(rt, "seed")
		again := strategies(seed)
		for name, st := range strategies(seed) {
			s, err := y.play(t, st)
			require.NoError(t, err)
			same, err := y.play(t, again[name])
			require.NoError(t, err)
			require.Equal(t, s, same, name)
			replayed, err := y.play(t, sched.Replay{Schedule: parse(t, s.String())})
			require.NoError(t, err)
			require.Equal(t, s, replayed, name)
		}
	})
}

// Random reaches every schedule of a small space, about equally often where all
// options are open.
func TestRandomReachesEverything(t *testing.T) {
	seen := map[string]int{}
	const runs = 2000
	for seed := range uint64(runs) {
		s, err := toy{left: []int{2, 2}}.play(t, sched.NewRandom(seed))
		require.NoError(t, err)
		seen[s.String()]++
	}
	require.Len(t, seen, 6) // 4 choose 2
	require.InDelta(t, runs/4, seen["A2 B2"], runs/20)
	require.InDelta(t, runs/8, seen["A1 B1 A1 B1"], runs/20)
}

// PCT's guarantee: a bug of depth d is hit with probability at least 1/(n·k^(d-1)). The
// bug here needs B to run completely between the second and the third step of A: two
// ordering constraints. One of depth 1 would be "B before A".
func TestPCTGuarantee(t *testing.T) {
	const n, k, runs = 2, 8, 4000
	y := toy{left: []int{4, 4}}
	for _, c := range []struct {
		depth int
		bug   string
		bound float64
	}{
		{1, "B4 A4", 1.0 / n},
		{2, "A2 B4 A2", 1.0 / (n * k)},
		{3, "A2 B2 A2 B2", 1.0 / (n * k * k)},
	} {
		hits := 0
		for seed := range uint64(runs) {
			s, err := y.play(t, sched.NewPCT(seed, k, c.depth))
			require.NoError(t, err)
			if s.String() == c.bug {
				hits++
			}
		}
		// Within four standard deviations below the bound, at worst.
		require.Greater(t, float64(hits), runs*c.bound-4*math.Sqrt(runs*c.bound), "depth %d", c.depth)
		t.Logf("depth %d: %d of %d runs, the bound is %.0f", c.depth, hits, runs, runs*c.bound)
	}
}

// A task of higher priority that only polls does not keep the others from running.
func TestPCTSleepersGiveWay(t *testing.T) {
	for seed := range uint64(50) {
		s, err := toy{left: []int{6, 6}, asleep: map[int]bool{0: true, 1: true}}.play(t, sched.NewPCT(seed, 12, 1))
		require.NoError(t, err)
		require.Len(t, s, 12)
		for i := 2; i < len(s); i++ {
			require.NotEqual(t, s[i-1], s[i], "seed %d: %s", seed, s)
		}
	}
}

// Every fault that the budget allows is tried, at one random step.
func TestPCTFaults(t *testing.T) {
	kills, stalls := 0, 0
	for seed := range uint64(400) {
		s, err := toy{left: []int{4, 4}, kills: 1, stalls: 1}.play(t, sched.NewPCT(seed, 8, 2))
		require.NoError(t, err)
		for _, c := range s {
			switch c.Action {
			case sched.Kill:
				kills++
			case sched.Stall:
				stalls++
			}
		}
	}
	require.Greater(t, kills, 100)
	require.Greater(t, stalls, 100)
}
