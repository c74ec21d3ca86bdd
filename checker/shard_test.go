package checker

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/internal/race"
	"lockpick/scenarios"
)

// What shards find together is what one run finds alone.
func TestShardsMergeToTheWhole(t *testing.T) {
	two, three := scenarios.Setting{Processes: 2}, scenarios.Setting{Processes: 3}
	crash := scenarios.Setting{Processes: 2, Crashes: 1}
	for _, c := range []struct {
		name     string
		lock     scenarios.Protocol
		setting  scenarios.Setting
		property *scenarios.Property
	}{
		{"stat/two", fixtures.StatThenWrite(), two, scenarios.MutualExclusion},
		{"stat/three", fixtures.StatThenWrite(), three, scenarios.MutualExclusion},
		{"stat/foreign", fixtures.StatThenWrite(), three, scenarios.ForeignRelease},
		{"excl/three", fixtures.ExclWait(), three, scenarios.MutualExclusion},
		{"excl/crash", fixtures.ExclWait(), crash, scenarios.Wedge},
		{"flock/crash", fixtures.Flock(), crash, scenarios.MutualExclusion},
		{"excl/starve", fixtures.ExclWait(), crash, scenarios.Starvation},
	} {
		sc := fixtures.New("toy/"+c.name, c.lock, c.setting, scenarios.Claim{Property: c.property})
		whole, err := Check(context.Background(), sc, c.property, Options{Workers: 1})
		require.NoError(t, err)
		numbers := []int{1, 2, 5}
		if race.Detector { // a shard's workers do the same whatever the number
			numbers = []int{2}
		}
		for _, n := range numbers {
			t.Run(fmt.Sprintf("%s/%d", c.name, n), func(t *testing.T) {
				var parts []ShardResult
				for i := range n {
					p, err := CheckShard(context.Background(), sc, c.property, Options{Workers: 1 + i%2}, Shard{i, n})
					require.NoError(t, err)
					b, err := json.Marshal(p)
					require.NoError(t, err)
					var back ShardResult
					require.NoError(t, json.Unmarshal(b, &back))
					parts = append(parts, back)
				}
				merged, err := Merge(sc, c.property, parts)
				require.NoError(t, err)
				require.Equal(t, whole.Verdict.String(), merged.Verdict.String(), merged.Why)
				if c.property != scenarios.Starvation {
					require.Equal(t, whole.Stats.Violations, merged.Stats.Violations)
				}
				if whole.Counterexample != nil {
					require.Equal(t, whole.Counterexample.Schedule.String(), merged.Counterexample.Schedule.String())
					require.True(t, merged.Counterexample.Smallest)
				}
				if n == 1 {
					return
				}
				less, err := Merge(sc, c.property, parts[1:])
				require.NoError(t, err)
				require.Equal(t, Unknown, less.Verdict, "a missing shard proves nothing")
				require.Contains(t, less.Why, fmt.Sprintf("shard 0 of %d is missing", n))
				require.Nil(t, less.Counterexample)
				found := slices.ContainsFunc(parts[1:], func(p ShardResult) bool { return p.Schedule != "" })
				require.Equal(t, found, strings.Contains(less.Why, "another found a violation"), less.Why)
				_, err = Merge(sc, c.property, append(parts, parts[0]))
				require.ErrorContains(t, err, "twice")
			})
		}
	}
}

// A shard's file is the same whenever it is made, with any number of workers.
func TestShardsAreReproducible(t *testing.T) {
	sc := fixtures.Row(t, "ctx/stat-then-write/contend", 3)
	var want []byte
	for run := range 6 {
		r, err := CheckShard(context.Background(), sc, scenarios.MutualExclusion, Options{Workers: 1 + run%3}, Shard{1, 2})
		require.NoError(t, err)
		got, err := json.Marshal(r)
		require.NoError(t, err)
		if run == 0 {
			want = got
		}
		require.Equal(t, string(want), string(got))
	}
}

func TestShardsThatDoNotFit(t *testing.T) {
	sc := fixtures.New("toy/excl/contend", fixtures.Excl(), scenarios.Setting{Processes: 2})
	p := scenarios.MutualExclusion
	part, err := CheckShard(context.Background(), sc, p, Options{}, Shard{0, 2})
	require.NoError(t, err)
	other := *sc
	other.Setting.Crashes = 1
	_, err = Merge(&other, p, []ShardResult{part})
	require.ErrorContains(t, err, "was explored in another setting: ")
	for _, s := range []Shard{{-1, 2}, {2, 2}, {0, 0}} {
		_, err = CheckShard(context.Background(), sc, p, Options{}, s)
		require.ErrorContains(t, err, "counts from 0", s)
	}
}
