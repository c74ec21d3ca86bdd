package reference

import (
	"flag"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/golden"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

var (
	furtherFlag = flag.Bool("reference.further", false, "try every claim that holds one process, one crash and one stall further (CPU minutes)")
	// furtherStates bounds each attempt.
	furtherStates = 1_000_000
)

// Every claim that holds is tried one step further; what is found is docs/reference/one-step-further.md.
func TestOneStepFurther(t *testing.T) {
	if !*furtherFlag {
		t.Skip("SKIPPED: nothing was tried one step further than its row, which takes CPU minutes; go test ./internal/reference -run TestOneStepFurther -reference.further does it")
	}
	var rows []*Further
	list := all.All()
	t.Run("tried", func(t *testing.T) {
		for i := range list {
			for _, c := range list[i].Claims {
				if c.Verdict != scenarios.Holds {
					continue
				}
				row := &Further{Scenario: &list[i], Property: c.Property}
				rows = append(rows, row)
				t.Run(list[i].ID+" "+c.Property.ID, func(t *testing.T) {
					t.Parallel()
					for _, s := range Widenings() {
						r, why := tryWider(t, s, row)
						row.Found, row.Why = append(row.Found, r), append(row.Why, why)
					}
				})
			}
		}
	})
	var done []Further
	for _, r := range rows {
		done = append(done, *r)
	}
	golden.CheckFile(t, filepath.Join(dir, FurtherPage), FurtherText(done, furtherStates))
}

// tryWider decides a row one step further, or says why that is not asked.
func tryWider(t *testing.T, s Widening, row *Further) (*checker.Result, string) {
	sc, err := s.Of(row.Scenario)
	if err != nil {
		return nil, "the setting allows for no more"
	}
	r, err := checker.Check(t.Context(), &sc, row.Property, checker.Options{Workers: 1, SkipOdds: true, States: furtherStates})
	if err != nil {
		return nil, "nothing to judge"
	}
	if r.Verdict == checker.Broken {
		ran, err := checker.Replay(r.Scenario, r.Property, r.Counterexample.Schedule)
		require.NoError(t, err)
		require.True(t, ran.Broken, "%s %s", sc.ID, r.Counterexample.Schedule)
	}
	return &r, ""
}

// Widenings are made from the row's setting, which stays as it is.
func TestWidenings(t *testing.T) {
	sc := all.Core()[0]
	was := sc.Setting
	for i, want := range []string{"3 processes", "2 processes, up to 1 crash", "2 processes, up to 1 stall"} {
		in, err := Widenings()[i].Of(&sc)
		require.NoError(t, err)
		require.Equal(t, want, in.Setting.String())
	}
	require.Equal(t, was, sc.Setting)
}

// A row with one role has as many processes as one likes, all with that role.
func TestOneRole(t *testing.T) {
	for _, sc := range all.All() {
		if sc.ID == "write-file-atomic/fsync-file/start-after-loss" {
			in, err := Widenings()[0].Of(&sc)
			require.NoError(t, err)
			require.NotNil(t, in.Program(1, 1))
			return
		}
	}
	t.Fatal("the row is gone: take another one with one role")
}
