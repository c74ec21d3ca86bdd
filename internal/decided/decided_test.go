package decided

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is read is what is written.
func TestRowsReadAsTheyAreWritten(t *testing.T) {
	var b strings.Builder
	for _, r := range Rows() {
		require.Equal(t, r.Verdict == "broken", r.Schedule != "", r.Scenario)
		require.Equal(t, r.Verdict == "broken", r.Mistake != "" && r.Cause != "", r.Scenario)
		b.WriteString(r.String())
	}
	require.Equal(t, rows, b.String())
	_, ok := Of("ctx/stat-then-write/contend", "mutual-exclusion")
	require.True(t, ok)
	_, ok = Of("ctx/stat-then-write/contend", "no-such-property")
	require.False(t, ok)
}
