package outcome

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Texts that begin to differ late are shown from there on.
func TestFromDifference(t *testing.T) {
	const many = 40
	zeros, xs := strings.Repeat("\x00", many), strings.Repeat("x", many)
	q := strconv.Quote
	for name, c := range map[string]struct{ texts, want []string }{
		"short":        {[]string{q("1\n"), q("2\n")}, []string{q("1\n"), q("2\n")}},
		"nothing here": {[]string{Absent, q(zeros)}, []string{Absent, q(zeros)}},
		"all differ late": {
			[]string{q(xs + "1"), q(xs + "2")}, []string{"…" + xs[:12] + `1"`, "…" + xs[:12] + `2"`},
		},
		"one differs late, one at once": { // as an archive to which each adds a file
			[]string{q("é" + zeros), q("é" + zeros + "b"), q("b" + zeros), q("é" + zeros)},
			[]string{q("é" + zeros), `"é\x00…, from byte 42 on b"`, q("b" + zeros), q("é" + zeros)},
		},
	} {
		require.Equal(t, c.want, fromDifference(c.texts), name)
	}
}
