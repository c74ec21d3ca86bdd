package learn

import (
	"testing"

	"github.com/stretchr/testify/require"
)

type stopped struct {
	Code
	is bool
}

func (s *stopped) Stop() { s.is = true }

// The instance that was kept longest goes first, beyond as many as may be kept at the moment.
func TestInstancesAreBounded(t *testing.T) {
	var s instances
	all := make([]stopped, 6)
	for i := range all[:5] {
		s.keep(uint32(i), &all[i], 4)
	}
	_, ok := s.take(3)
	require.True(t, ok)
	s.keep(5, &all[5], 2) // fewer may be kept now
	for i, want := range []bool{true, true, true, false, false, false} {
		require.Equal(t, want, all[i].is, i)
	}
}
