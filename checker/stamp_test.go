package checker

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestStampsAndSteps(t *testing.T) {
	for step := 1; step < 100; step++ {
		for k := range int64(stampsStep) {
			require.Equal(t, step, StepOf(StampOf(step)+k))
		}
	}
	require.Zero(t, StepOf(math.MaxInt64))
}
