package all

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/scenarios"
)

// variantsOf lists the variants of a list, in its order.
func variantsOf(list []scenarios.Scenario) []string {
	var out []string
	for i := range list {
		if v := list[i].System() + "/" + list[i].Variant(); !slices.Contains(out, v) {
			out = append(out, v)
		}
	}
	return out
}

// Every variant has one shape, every shape names variants that are there, and what it
// says to copy instead holds somewhere.
func TestShapesAreComplete(t *testing.T) {
	var named []string
	variants := variantsOf(All())
	for _, s := range Shapes() {
		named = append(named, s.Variants...)
		require.NotEmpty(t, s.Title, s.ID)
		require.NotEmpty(t, s.Is, s.ID)
		require.NotEmpty(t, s.Fixed, s.ID)
		for _, v := range s.Fixed {
			require.True(t, holds(v), "%s: nothing holds of %s", s.ID, v)
		}
	}
	require.ElementsMatch(t, variants, named)
}

// holds reports whether some claim of a variant is that it holds.
func holds(variant string) bool {
	return slices.ContainsFunc(All(), func(sc scenarios.Scenario) bool {
		return strings.HasPrefix(sc.ID, variant+"/") && slices.ContainsFunc(sc.Claims, func(c scenarios.Claim) bool {
			return c.Verdict == scenarios.Holds
		})
	})
}

// Every system has its projects, and every hazard that a name stands for is one.
func TestEntriesAreComplete(t *testing.T) {
	systems := map[string]bool{}
	settings := map[string]bool{}
	for _, sc := range All() {
		systems[sc.System()], settings[sc.SettingName()] = true, true
		require.NotEmpty(t, sc.Entry.Shape, sc.ID)
		require.NotEmpty(t, sc.Entry.Projects, sc.ID)
		require.True(t, slices.ContainsFunc(scenarios.Hazards(), func(h scenarios.Hazard) bool { return h.ID == sc.Hazard() }), sc.ID)
	}
	for name := range catalogue().Projects {
		require.True(t, systems[name], "%s has projects and no scenario", name)
	}
	for name := range hazardOf {
		require.True(t, settings[name], "no setting is called %s", name)
	}
}
