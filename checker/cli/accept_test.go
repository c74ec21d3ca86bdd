package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/internal/testmain"
)

// What is accepted is still broken and said to be; only its own kind of cause is accepted, and --strict takes none.
func TestAccept(t *testing.T) {
	for args, exit := range map[string]int{"--accept LP1001": ExitAsClaimed, "--accept LP1002": ExitDiffers,
		"--accept LP1002,LP1001": ExitAsClaimed, "--accept LP1001 --strict": ExitUnknown} {
		got := run(t, append([]string{"check", "toy/wrong"}, strings.Fields(args)...)...)
		require.Equal(t, exit, got.exit, args+got.stdout)
		if exit == ExitDiffers {
			require.NotContains(t, got.stdout, "accepted")
			continue
		}
		require.Contains(t, got.stdout, "✗ accepted")
		require.Contains(t, strings.Join(strings.Fields(got.stdout), " "), "LP1001 (look, then create) is accepted. "+
			"Whether mutual-exclusion is broken by another cause, too, was not looked for.")
		require.Contains(t, got.stdout, "1 accepted")
		require.NotContains(t, got.stdout, "all as claimed")
	}
	require.Contains(t, run(t, "check", "toy/wrong", "--accept", "LP1001", "--json").stdout, `"accepted": "LP1001"`)
	require.Contains(t, run(t, "check", "toy/wrong", "--accept", "LP1001", "--junit", "-").stdout, `failures="0"`)
	pages := filepath.Join(t.TempDir(), "pages")
	run(t, "check", "toy/wrong", "--accept", "LP1001", "--html", pages)
	found, err := filepath.Glob(filepath.Join(pages, "*", "*.html"))
	require.NoError(t, err)
	require.NotEmpty(t, found)
	page, err := os.ReadFile(found[0])
	require.NoError(t, err)
	require.Contains(t, string(page), "LP1001 (look, then create) is accepted. Whether mutual-exclusion is broken")
	for _, code := range []string{"LP1099", "LP1", "race"} {
		got := run(t, "check", "toy/wrong", "--accept", code)
		require.Equal(t, ExitUsage, got.exit)
		require.Contains(t, got.stderr, "is no kind of cause that can be accepted: choose LP1001, ")
	}
	// What is claimed to be broken needs nobody's leave.
	require.NotContains(t, run(t, "check", "toy/look/contend", "--accept", "LP1001").stdout, "accepted")
}

func TestAcceptInSurveys(t *testing.T) {
	fixtures.OnlyAnswers(t)
	require.Equal(t, ExitDiffers, runAll("survey ctx/stat-then-write --hazard contention").exit)
	got := runAll("survey ctx/stat-then-write --hazard contention --accept LP1001")
	require.Equal(t, ExitAsClaimed, got.exit, got.stderr)
	require.Contains(t, got.stdout, "✗ broken, accepted: LP1001  mutual-exclusion")
	require.Contains(t, strings.Join(strings.Fields(got.stdout), " "), "other causes were not looked for there")
	require.Contains(t, got.stdout, "✓ holds   deadlock, wedge", "the others are asked")
	// The survey goes on behind an accepted cause, and finds another one.
	got = runAll("survey ctx/stat-then-write --hazard crash --accept LP1001")
	require.Equal(t, ExitDiffers, got.exit)
	require.Contains(t, got.stdout, "✗ broken  wedge")
}

func TestAcceptOfCommands(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/cli")
	file := raceFile(t)
	got := run(t, "run", "--native", "off", "--accept", "LP1002", file)
	require.Equal(t, ExitAsClaimed, got.exit, got.stderr)
	require.Contains(t, got.stdout, "BROKEN (accepted: LP1002)")
	require.Contains(t, got.stdout, "was not looked for.")
	require.Equal(t, ExitDiffers, run(t, "run", "--native", "off", "--accept", "LP1001", file).exit)
	asks := filepath.Join(t.TempDir(), "asks.txtar")
	line := "mkdir l || exit 1; read x <n; echo $((x+1)) >n; rmdir l\n"
	require.NoError(t, os.WriteFile(asks, []byte("A lock that gives up.\n-- commands --\n"+line+line+
		"-- setting --\ndir /srv/asks\n-- n --\n0\n"), 0o600))
	got = run(t, "run", "--native", "off", "--accept", "LP1002", asks)
	require.Equal(t, ExitUnknown, got.exit, got.stdout)
	require.Contains(t, got.stderr, "--accept waits for an answer: say --refused 1, or --refused none")
}
