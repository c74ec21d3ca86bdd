package reference

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

// What is said of a fix is what its row claims.
func TestFixesNameRows(t *testing.T) {
	byID := map[string]scenarios.Scenario{}
	for _, sc := range all.All() {
		byID[sc.ID] = sc
	}
	for _, f := range Fixes() {
		sc, ok := byID[f.Row]
		require.True(t, ok, f.Row)
		require.True(t, slices.ContainsFunc(sc.Claims, func(c scenarios.Claim) bool {
			return c.Verdict == scenarios.Broken
		}), "%s holds", f.Row)
		require.True(t, holds(f.Instead), "%s: nothing holds of %s", f.Row, f.Instead)
	}
	for _, c := range Corrections() {
		for _, id := range c.Rows {
			require.Contains(t, byID, id)
		}
	}
}

// holds reports whether some claim of a variant is that it holds.
func holds(variant string) bool {
	return slices.ContainsFunc(all.All(), func(sc scenarios.Scenario) bool {
		return strings.HasPrefix(sc.ID, variant+"/") && slices.ContainsFunc(sc.Claims, func(c scenarios.Claim) bool {
			return c.Verdict == scenarios.Holds
		})
	})
}
