package checker

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// Where RememberAuto changes over makes no difference to what is said of a row: from histories to
// monitors, from these to merged automata, or from the machine as the setting has it to the cases
// of what file systems make of it.
func TestWhereAutoChangesOverMakesNoDifference(t *testing.T) {
	testmain.Slow(t, "it covers spaces many times", "./checker")
	fixtures.OneWorker(t)
	t.Parallel()
	rows := fixtures.SmallRows()
	for _, sc := range allToys() {
		rows = append(rows, *sc)
	}
	for _, sc := range all.Corpus() { // which look at inode numbers
		if sc.ID == "freebsd-pidfile/flopen/contend" || sc.ID == "factory-factory/same-inode/dead-owner" {
			st := sc.Setting
			st.Processes = 2
			two, err := sc.In(st)
			require.NoError(t, err)
			rows = append(rows, two)
		}
	}
	before, most := 0, testmain.Many(700, 700, 2100)
	cases := map[scenarios.Verdict]int{}
	for i := range rows {
		sc := &rows[i]
		for _, c := range sc.Claims {
			want := decided(t, sc, c.Property)
			if want.Stats.States > most && len(want.Cases) == 0 || want.Stats.States < 2*leastOfAll {
				continue
			}
			o := Options{Workers: 1, Tried: tried(sc), changes: changes{monitors: leastOfAll}}
			o.Whole = len(want.Cases) > 0 // without a budget that ends it is no part that is left alone for the cases
			got, err := Check(t.Context(), sc, c.Property, o)
			require.NoError(t, err)
			requireSaysTheSame(t, want, got)
			if len(got.Cases) > 0 {
				cases[got.Verdict]++
			}
			if got.Stats.Histories == 0 && want.Stats.Histories > 0 {
				before++
			}
		}
	}
	require.Positive(t, cases[Broken], "no cases were broken")
	require.Positive(t, cases[Holds], "no cases held")
	require.Positive(t, before, "no space went over to monitors")
}

// Whoever wants an answer for the whole space or none has the answer that everybody has, or none.
func TestWholeOrNothing(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	parts := 0
	for _, sc := range fixtures.SmallRows() {
		for _, c := range sc.Claims {
			want := decided(t, &sc, c.Property)
			if want.Stats.States > 500 || len(want.Cases) > 0 || c.Property.OfCycles() {
				continue
			}
			o := Options{Workers: 1, Tried: tried(&sc), Whole: true, States: want.Stats.States}
			got, err := Check(t.Context(), &sc, c.Property, o)
			if !errors.Is(err, ErrPart) { // the search in the order of cost may take more
				require.NoError(t, err)
				requireSaysTheSame(t, want, got)
			}
			o.States /= 2
			_, err = Check(t.Context(), &sc, c.Property, o)
			require.ErrorIs(t, err, ErrPart, "%s %s", sc.ID, c.Property)
			parts++
		}
	}
	require.Positive(t, parts)
}

// leastOfAll is how many states a large space has in this test.
const leastOfAll = 50

// requireSaysTheSame compares all that does not depend on what states remember.
func requireSaysTheSame(t *testing.T, want, got Result) {
	t.Helper()
	who := want.Scenario.ID + " " + want.Property.ID
	require.Equal(t, want.Verdict, got.Verdict, who)
	require.Equal(t, want.Complete, got.Complete, who)
	require.Equal(t, want.Why, got.Why, who)
	require.Equal(t, want.Cases, got.Cases, who)
	got.looks.Retries = want.looks.Retries // who is merged early goes round more often
	got.looks.Refused = want.looks.Refused // of what is broken not all is looked at
	require.Equal(t, want.looks, got.looks, who)
	require.InDelta(t, want.Odds, got.Odds, 1e-9, who)
	require.Equal(t, want.Scenario.Setting.Format(), got.Scenario.Setting.Format(), who)
	if want.Verdict != scenarios.Broken {
		require.Equal(t, want.Facts, got.Facts, who)
		return
	}
	require.Equal(t, want.Counterexample, got.Counterexample, who)
}
