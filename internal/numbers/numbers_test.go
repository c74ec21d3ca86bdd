package numbers_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/internal/numbers"
)

func TestCount(t *testing.T) {
	for n, want := range map[int]string{
		0: "0 states", 1: "1 state", 2: "2 states", 9999: "9999 states",
		10_000: "10 000 states", 1_234_567: "1 234 567 states",
	} {
		require.Equal(t, want, numbers.Count(n, "state", "states"))
	}
}
