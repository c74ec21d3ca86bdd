package cli

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
)

// Whatever a result was decided under is told, and of which result it is where others were not.
func TestAssumedIsThatOfTheResults(t *testing.T) {
	still := &scenarios.Scenario{Assumes: premises("the rest is as it is", "the clock stands still")}
	moving := &scenarios.Scenario{Assumes: premises("the rest is as it is", "sleeps last")}
	require.Equal(t,
		[]string{"the rest is as it is", "sleeps last (serializable)", "the clock stands still (deadlock)"},
		assumedBy([]checker.Result{
			{Scenario: moving, Property: scenarios.Serializable}, {Scenario: still, Property: scenarios.Deadlock},
		}))
}

func premises(texts ...string) (all []scenarios.Premise) {
	for _, text := range texts {
		all = append(all, scenarios.Premise{Code: "x", Text: text})
	}
	return all
}
