package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/toys"
	"lockpick/fsfake"
)

// Each system's table stands there as soon as it is decided, before the next system is
// looked at.
func TestTablesComeAsTheyAreDecided(t *testing.T) {
	var out, errs strings.Builder
	list := toys.All()[:3]
	second := toys.All()[1]
	second.ID = "later/excl/contend"
	setup, begun := second.Setup, ""
	second.Setup = func(m *fsfake.Machine) {
		if begun == "" {
			begun = out.String()
		}
		setup(m)
	}
	list = append(list, second)
	require.Zero(t, Run(t.Context(), list, []string{"check"}, &out, &errs, nil), errs.String())
	require.Contains(t, begun, "excl/crash    ✓")
	require.NotContains(t, begun, "later")
	require.True(t, strings.HasPrefix(out.String(), begun))
	require.Contains(t, out.String(), "up to 1 crash\n\n                mutual       foreign\nlater           exclusion    release\n")
	require.Contains(t, out.String(), "all as claimed")

	var whole strings.Builder
	require.Zero(t, Run(t.Context(), list, []string{"check", "--json"}, &whole, &errs, nil))
	require.True(t, strings.HasPrefix(whole.String(), "{"))
}

// A property of nobody's is an error with nothing printed first.
func TestNothingToJudgePrintsNothing(t *testing.T) {
	got := run(t, "check", "--property", "duplicate")
	require.Equal(t, ExitUsage, got.exit)
	require.Empty(t, got.stdout)
}
