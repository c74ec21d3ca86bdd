//go:build linux

package real

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/decided"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
	"lockpick/sched"
)

func TestMain(m *testing.M) {
	Worker()
	os.Exit(m.Run())
}

// find returns one of the scenarios.
func find(t *testing.T, id string) *scenarios.Scenario {
	for _, sc := range all.Core() {
		if sc.ID == id {
			return &sc
		}
	}
	t.Fatalf("there is no scenario %s", id)
	return nil
}

// counterexample returns the smallest schedule that breaks a property, which
// internal/reference finds anew and compares with the record.
func counterexample(t *testing.T, sc *scenarios.Scenario, p *scenarios.Property) sched.Schedule {
	row, ok := decided.Of(sc.ID, p.ID)
	require.True(t, ok, "%s %s is not on record", sc.ID, p)
	s, err := sched.ParseSchedule(row.Schedule)
	require.NoError(t, err)
	return s
}

// Three races, each twenty times out of twenty on the real disk.
func TestTwentyTimes(t *testing.T) {
	testmain.Slow(t, "it starts processes many times", "./checker/real")
	for _, row := range []struct {
		id string
		p  *scenarios.Property
	}{
		{"ctx/stat-then-write/contend", scenarios.MutualExclusion},
		{"gateguard/merge-save/contend", scenarios.LostUpdate},
		{"openclaw-takeover/rename/dead-owner", scenarios.MutualExclusion},
	} {
		t.Run(row.id, func(t *testing.T) {
			sc := find(t, row.id)
			s := counterexample(t, sc, row.p)
			for range 20 {
				r, err := Replay(context.Background(), sc, row.p, s)
				require.NoError(t, err)
				require.Empty(t, r.Mismatches)
				require.True(t, r.Broken)
				require.Equal(t, len(s), r.Steps)
			}
		})
	}
}

// Every row that is broken on the fake is broken in reality.
func TestEveryBrokenRow(t *testing.T) {
	rows := 0
	for _, sc := range all.Core() {
		for _, c := range sc.Claims {
			if c.Verdict != scenarios.Broken {
				continue
			}
			rows++
			t.Run(fmt.Sprintf("%s %s", sc.ID, c.Property), func(t *testing.T) {
				s := counterexample(t, &sc, c.Property)
				r, err := Replay(context.Background(), &sc, c.Property, s)
				require.NoError(t, err)
				for _, m := range r.Mismatches {
					t.Error(m)
				}
				require.True(t, r.Broken)
				t.Logf("%s: %d steps, %d calls and %d disks compared, from the fake: %v", s, r.Steps, r.Compared, r.Disks, r.Emulated)
			})
		}
	}
	require.NotZero(t, rows)
}
