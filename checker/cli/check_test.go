package cli

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/toys"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Each system's table stands there as soon as it is decided, where one worker decides before the
// next system is looked at.
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
	require.Zero(t, Run(t.Context(), list, []string{"check", "--workers", "1"}, &out, &errs, nil), errs.String())
	require.Contains(t, begun, "excl/crash    ✓")
	require.NotContains(t, begun, "later")
	require.True(t, strings.HasPrefix(out.String(), begun))
	require.Contains(t, out.String(), "and kills\n\n                mutual       foreign\n"+
		"later           exclusion    release\n")
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

// What asks nothing is no pass, and says so beside others.
func TestNothingClaimed(t *testing.T) {
	var out, errs strings.Builder
	list := toys.All()[:2]
	list[1].Claims = nil
	require.Zero(t, Run(t.Context(), list, []string{"check"}, &out, &errs, nil))
	require.Equal(t, "lockpick: left out: toy/excl/contend claims nothing: say in Claims what it promises\n", errs.String())
	errs.Reset()
	require.Equal(t, ExitUsage, Run(t.Context(), list[1:], []string{"check"}, &out, &errs, nil))
	require.Contains(t, errs.String(), "toy/excl/contend claims nothing")
	for _, command := range [][]string{{"explain", "toy/excl/contend"}, {"sample", "toy/excl/contend"}, {"replay", "toy/excl/contend", "A1"}} {
		errs.Reset()
		require.Equal(t, ExitUsage, Run(t.Context(), list, command, &out, &errs, nil))
		require.Equal(t, "lockpick: toy/excl/contend claims nothing: say in Claims what it promises\n", errs.String())
	}
	errs.Reset()
	require.Equal(t, ExitUsage, Run(t.Context(), nil, []string{"check"}, &out, &errs, nil))
	require.Contains(t, errs.String(), "there are no scenarios")
}

// Of a question that cannot be decided what is written says so: nobody takes what is left, or an
// empty table, for all that was asked.
func TestUndecidableIsShown(t *testing.T) {
	sc := toys.All()[0]
	n := 0
	sc.Setup = func(m *fsfake.Machine) {
		n++
		_ = m.Proc(1).Mkdir(fmt.Sprintf("/new%d", n), 0o777)
	}
	for flag, want := range map[string]string{"--verbose": "1 unknown", "--json": `"unknown"`} {
		var out, errs strings.Builder
		args := []string{"check", flag}
		require.Equal(t, ExitUsage, Run(t.Context(), []scenarios.Scenario{sc}, args, &out, &errs, nil), errs.String())
		require.Contains(t, errs.String(), "no verdict")
		require.Contains(t, out.String(), want)
		require.Contains(t, out.String(), "makes another machine each time", flag)
	}
}
