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

// Where there are as many instances as may be kept, the newest makes room for the one that comes.
func TestInstancesAreBounded(t *testing.T) {
	var s instances
	all := make([]stopped, 7)
	for i := range all[:5] {
		s.keep(uint32(i), &all[i], 4)
	}
	_, ok := s.take(0)
	require.True(t, ok)
	s.keep(5, &all[5], 4)
	s.keep(6, &all[6], 2) // fewer may be kept now
	for i, want := range []bool{false, false, true, true, true, true, false} {
		require.Equal(t, want, all[i].is, i)
	}
	require.Len(t, s.at, 2)
}
