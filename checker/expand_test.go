package checker

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/search"
	"lockpick/checker/internal/toys"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
	"lockpick/sched"
)

var errLarge = errors.New("too large for this test")

// expandAll expands a whole space in parts, level by level or in the order of costs: each state by
// the part that its key says, in a process of its own. It returns what each showed.
func expandAll(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, o ExpandOptions, parts, most int) (shown []Expanded, states int, err error) {
	t.Helper()
	crew := make([]*Expansion, parts)
	for i := range crew {
		var err error
		if crew[i], err = NewExpansion(sc, p, o); err != nil {
			return nil, 0, err
		}
	}
	first, err := crew[0].First()
	require.NoError(t, err)
	known, open := map[string]bool{}, map[string]string{first.Key: first.Way}
	for len(open) > 0 {
		if len(known) > most {
			return nil, 0, errLarge
		}
		var level []State
		cost := ""
		for key, way := range open {
			level = append(level, State{key, way})
			if c := (State{key, way}).Cost(); cost == "" || c < cost {
				cost = c
			}
		}
		sort.Slice(level, func(i, j int) bool { return level[i].Way < level[j].Way })
		for _, s := range level {
			if o.InOrder && s.Cost() != cost {
				continue
			}
			delete(open, s.Key)
			known[s.Key] = true
			line, err := ParseState(s.String())
			require.NoError(t, err)
			require.Equal(t, s, line)
			var owner int
			_, err = fmt.Sscanf(s.Key[:8], "%x", &owner)
			require.NoError(t, err)
			require.NoError(t, crew[owner%parts].Expand(line, func(to State) error {
				if way, is := open[to.Key]; !known[to.Key] && (!is || to.Way < way) {
					open[to.Key] = to.Way
				}
				return nil
			}))
		}
	}
	for _, x := range crew {
		e, err := x.End(context.Background())
		if err != nil {
			return nil, 0, err
		}
		shown = append(shown, e)
	}
	return shown, len(known), nil
}

// A space that is spread over parts by the keys of its states is the space: verdict, counts and the
// smallest counterexample, and each state is expanded once.
func TestPartsAreTheWhole(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	small := testmain.Many(60, 300, 300) // states; larger ones show the same and take longer
	list := fixtures.All()
	for _, sc := range all.Core() {
		list = append(list, &sc)
	}
	asked := map[string]int{}
	for _, sc := range list {
		for _, claim := range sc.Claims {
			p := claim.Property
			if p.OfCycles() || sc.External || p.NeedsProbe() && sc.Probe == nil {
				continue
			}
			name := sc.ID + " " + p.ID
			parts, states, err := expandAll(t, sc, p, ExpandOptions{Tried: tried(sc)}, 4, small)
			if errors.Is(err, errLarge) {
				continue
			}
			want, wrong := ask(sc, p, true)
			if errors.Is(wrong, ErrNothingToJudge) {
				continue
			}
			require.NoError(t, wrong, name)
			switch {
			case len(want.Cases) > 0:
				require.ErrorContains(t, err, "states that travel are of one case", name)
				asked["of one case"]++
				continue
			case err != nil && p.Question == scenarios.LockedOut:
				require.ErrorContains(t, err, "a question about all states at once", name)
				asked["about all states"]++
				continue
			}
			require.NoError(t, err, name)
			got, err := MergeExpanded(sc, p, parts, states)
			require.NoError(t, err, name)
			require.Equal(t, want.Verdict, got.Verdict, name)
			require.Equal(t, want.Stats.States, states, name)
			require.Equal(t, want.Stats.Transitions, got.Stats.Transitions, name)
			require.Equal(t, want.Stats.Contended, got.Stats.Contended, name)
			require.Equal(t, want.Stats.Violations, got.Stats.Violations, name)
			asked[got.Verdict.String()]++

			if parts, states, err = expandAll(t, sc, p, ExpandOptions{Monitors: true, InOrder: true, Tried: tried(sc)}, 3, 10*small); err == nil {
				got, err = MergeExpanded(sc, p, parts, states)
			}
			require.NoError(t, err, name)
			require.Equal(t, want.Verdict, got.Verdict, name)
			if want.Counterexample != nil {
				require.Equal(t, want.Counterexample.Schedule.String(), got.Counterexample.Schedule.String(), name)
				require.Equal(t, want.Counterexample.Cost, got.Counterexample.Cost, name)
				require.True(t, got.Counterexample.Smallest, name)
			}
		}
	}
	t.Log(asked)
	for _, kind := range []string{"broken", "holds", "of one case", "about all states"} {
		if kind == "of one case" && testing.Short() {
			continue // those are larger: go test ./checker has them
		}
		require.NotZero(t, asked[kind], kind)
	}
}

// Parts that do not fit together are noticed, and there is no verdict.
func TestPartsOfSomethingElse(t *testing.T) {
	sc := toys.All()[0]
	p := scenarios.MutualExclusion
	parts, states, err := expandAll(t, &sc, p, ExpandOptions{}, 2, 1000)
	require.NoError(t, err)
	merge := func(change func([]Expanded) ([]Expanded, int), want string) {
		t.Helper()
		changed, n := change(slices.Clone(parts))
		_, err := MergeExpanded(&sc, p, changed, n)
		require.ErrorContains(t, err, want)
	}
	merge(func([]Expanded) ([]Expanded, int) { return nil, 0 }, "nothing of toy/look/contend mutual-exclusion was expanded")
	merge(func(p []Expanded) ([]Expanded, int) { return p[:1], states }, "some were lost")
	merge(func(p []Expanded) ([]Expanded, int) { return append(p, p[0]), states }, "one of them was given twice")
	merge(func(p []Expanded) ([]Expanded, int) {
		p[1] = p[0] // the part with the violation is lost, and the number of states may be right
		return p, 2 * p[0].States
	}, "one of them was given twice")
	merge(func(p []Expanded) ([]Expanded, int) { p[1].First = p[1].First[1:] + "0"; return p, states }, "two versions")
	merge(func(p []Expanded) ([]Expanded, int) { p[1].Program = "0f"; return p, states }, "different builds")
	merge(func(p []Expanded) ([]Expanded, int) { p[1].InOrder = true; return p, states }, "different options")
	merge(func(p []Expanded) ([]Expanded, int) { p[1].Version = 1; return p, states }, "is of version 1")
	merge(func(p []Expanded) ([]Expanded, int) { p[0].Setting = "processes 3"; return p, states }, "another setting")
	merge(func(p []Expanded) ([]Expanded, int) { p[0].Scenario = "x"; return p, states }, "cannot be merged")

	x, err := NewExpansion(&sc, p, ExpandOptions{})
	require.NoError(t, err)
	first, err := x.First()
	require.NoError(t, err)
	none := func(State) error { return nil }
	require.ErrorContains(t, x.Expand(State{first.Key, first.Way + "A10A10A10A10A10A10A10A10A10A10A10"}, none), "another version of lockpick")
	require.ErrorContains(t, x.Expand(State{first.Key, first.Way + "A10"}, none), "not the one that was meant")
	other := sc
	other.ID = "toy/other/contend"
	x, err = NewExpansion(&other, p, ExpandOptions{})
	require.NoError(t, err)
	require.ErrorContains(t, x.Expand(first, none), "not the one that was meant")
	_, err = NewExpansion(&sc, scenarios.Starvation, ExpandOptions{})
	require.ErrorContains(t, err, "question about cycles")
}

// Whether sleeps last is a question about all states: parts that leave it open give no verdict.
func TestPartsAssumeHowLongSleepsTake(t *testing.T) {
	fixtures.OnlyAnswers(t)
	sc := fischer(time.Second, 0, 1)
	p := sc.Claims[0].Property
	sc.Setting.Assume.Times = scenarios.TimesShared
	merge := func(assume scenarios.SleepAssumption) (Result, error) {
		st := sc.Setting
		st.Assume.Sleeps = assume
		in, err := sc.In(st)
		require.NoError(t, err)
		parts, states, err := expandAll(t, &in, p, ExpandOptions{}, 2, 10_000)
		require.NoError(t, err)
		return MergeExpanded(&in, p, parts, states)
	}
	_, err := merge(scenarios.SleepsOpen)
	require.ErrorContains(t, err, "tasks of "+sc.ID+" sleep, and somebody can see how long: let all parts assume the same, sleeps-last or sleeps-short")
	last, err := merge(scenarios.SleepsLast)
	require.NoError(t, err)
	require.Equal(t, Holds, last.Verdict)
	short, err := merge(scenarios.SleepsShort)
	require.NoError(t, err)
	require.Equal(t, Broken, short.Verdict)
}

// What a state is written as is read back, and compares as choices do.
func FuzzParseState(f *testing.F) {
	key := strings.Repeat("0f", 16)
	for _, way := range []string{"", "A10B10", "a{|0012Z9zB1", "A00", "|00G0", "{A1"} {
		f.Add(key + " 000.000.000000" + way)
	}
	f.Fuzz(func(t *testing.T, line string) {
		s, err := ParseState(line)
		if err != nil {
			return
		}
		require.Equal(t, line, s.String())
		tr, err := s.traveller()
		require.NoError(t, err)
		var b strings.Builder
		for _, c := range tr.Schedule {
			require.NoError(t, pack(&b, c))
		}
		require.Equal(t, s.Way[costLen:], b.String())
	})
}

// Packed choices are in the order of choices.
func TestWaysCompareAsChoices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) sched.Schedule {
			return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) sched.Choice {
				task := sched.Task{Process: rapid.IntRange(0, 2).Draw(t, "process"), N: 1}
				switch rapid.IntRange(0, 5).Draw(t, "action") {
				case 0:
					return sched.Choice{Action: sched.Kill, Task: task}
				case 1:
					return sched.Choice{Action: sched.Stall}
				case 2:
					return sched.Choice{Action: sched.PowerLoss, State: rapid.IntRange(0, 300).Draw(t, "state")}
				}
				task.N = rapid.IntRange(1, 12).Draw(t, "n")
				if rapid.IntRange(0, 3).Draw(t, "fails") == 0 {
					return sched.Choice{Task: task, Fails: rapid.SampledFrom([]string{"EACCES", "EIO", "ENOSPC"}).Draw(t, "error")}
				}
				return sched.Choice{Action: sched.Run, Task: task, Which: rapid.IntRange(0, 40).Draw(t, "which")}
			}), 3, 3).Draw(t, name)
		}
		a, b := draw("a"), draw("b")
		text := func(s sched.Schedule) string {
			var b strings.Builder
			for _, c := range s {
				require.NoError(t, pack(&b, c))
			}
			return b.String()
		}
		require.Equal(t, slices.CompareFunc(a, b, search.CompareChoices) < 0, text(a) < text(b))
	})
}
