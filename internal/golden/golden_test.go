package golden

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDifference(t *testing.T) {
	for want, got := range map[[2]string]string{
		{"a\nb\nc\n", "a\nx\ny\nc\n"}: "line 2\n-b\n+x\n+y\n",
		{"a\n", "a\nb\n"}:             "line 2\n+b\n",
		{"a\na\n", "a\n"}:             "line 2\n-a\n",
		{"a", ""}:                     "line 1\n-a\n+\n",
		{"", strings.Repeat("x\n", shown+2) + "x"}: "line 1\n-\n" + strings.Repeat("+x\n", shown) + "+ … 3 more\n",
	} {
		require.Equal(t, got, Difference(want[0], want[1]), want)
	}
}
