package trace

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTimestampsAndSteps(t *testing.T) {
	for step := 1; step < 100; step++ {
		for k := range int64(TimestampsPerStep) {
			require.Equal(t, step, StepOf(TimestampOf(step)+k))
		}
	}
	require.Zero(t, StepOf(math.MaxInt64))
}
