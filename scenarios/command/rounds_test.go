package command_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// A shell that polls is proved to poll for ever: it remembers what it did a round before. A program that counts is not
// taken for it, however long it counts.
func TestLoopsThatCount(t *testing.T) {
	attempts := filepath.Join(t.TempDir(), "attempts")
	require.NoError(t, os.WriteFile(attempts, bytes.Repeat([]byte("x\n"), 151), 0o600))
	for _, c := range []struct {
		line, verdict, why string
		assumes            bool
	}{
		{"sh polls.sh", "holds", "", false},
		{"perl counts.pl", "unknown", "A counts its attempts: after 150 rounds", true},
		// Its memory is the same in each round, and the position in the file is not.
		{"sh bytewise.sh " + attempts, "unknown", "A counts its attempts: after 150 rounds", true},
	} {
		t.Run(strings.Fields(c.line)[1], func(t *testing.T) {
			t.Parallel()
			if strings.Contains(c.line, "bytewise") {
				testmain.OnlyLong(t, "counts.pl counts, too", "./scenarios/command")
			}
			if c.assumes {
				testmain.Slow(t, "it makes hundreds of rounds", "./scenarios/command")
			}
			lines := []string{c.line, "mkdir lk && rmdir lk; :"}
			sc := scenario(t, c.line[:strings.IndexByte(c.line, ' ')], lines, map[string]string{"n": "0\n"}, "")
			p, err := scenarios.FindProperty("serializable", sc)
			require.NoError(t, err)
			r, err := checker.Check(t.Context(), &sc, p, checker.Options{Workers: 1, SkipOdds: true})
			require.NoError(t, err)
			require.Equal(t, c.verdict, r.Verdict.String(), r.Why)
			require.Contains(t, r.Why, c.why)
			const assumed = "assumes that a loop that has done the same 100 times goes on for ever"
			if c.assumes {
				require.Contains(t, r.Conditions(), assumed)
			} else {
				require.NotContains(t, strings.Join(r.Conditions(), "\n"), "loop")
			}
		})
	}
}
