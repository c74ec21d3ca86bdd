package checker_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/toys"
	"lockpick/scenarios"
)

// Where births are followed in every order, after all, the question is still asked on the machine that was asked about.
func TestEveryBirthIsAskedInTheSetting(t *testing.T) {
	every := toys.All()[0]
	st := every.Setting
	st.Assume.Inodes = scenarios.InodesReused
	sc, err := every.In(st)
	require.NoError(t, err)
	sc.EveryBirth = func() (*scenarios.Scenario, error) { return &every, nil }
	r, err := checker.Check(t.Context(), &sc, every.Claims[0].Property, checker.Options{})
	require.NoError(t, err)
	require.Equal(t, scenarios.InodesReused, r.Scenario.Setting.Assume.Inodes)
}
