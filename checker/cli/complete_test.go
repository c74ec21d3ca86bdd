package cli

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
)

// A shell is told what a word may become: ids to the next slash, properties with their
// meaning, the values of flags.
func TestCompletion(t *testing.T) {
	for args, want := range map[string]string{
		"explain ":                   "toy/ :6",
		"explain toy/e":              "toy/excl/ :6",
		"explain toy/excl/c":         "toy/excl/contend toy/excl/crash :4",
		"explain toy/excl/crash ":    ":4",
		"check toy/look/":            "toy/look/contend toy/look/tasks :4",
		"list x":                     ":4",
		"replay ./f":                 ":0",
		"explain x --memory m":       "monitors :4",
		"sample x --strategy p":      "pct :4",
		"check --property w":         "wedge",
		"explain --property foreign": "foreign-release",
		"chec":                       "check",
	} {
		words := strings.Split(args, " ")
		got := run(t, append([]string{"__complete"}, words...)...)
		require.Zero(t, got.exit)
		require.True(t, strings.HasPrefix(strings.Join(strings.Fields(got.stdout), " "), want), "%s: %s", args, got.stdout)
	}
	script := run(t, "completion", "bash")
	require.Zero(t, script.exit)
	require.Contains(t, script.stdout, "__start_lockpick")
}

func TestNearest(t *testing.T) {
	known := []string{"check", "explain", "list", "merge", "replay", "sample"}
	for word, want := range map[string]string{
		"chekc": "check", "cehck": "check", "explian": "explain", "repaly": "replay", "lsit": "list", "ex": "explain", "xyzzy": "", "": "",
	} {
		require.Equal(t, want, strings.Join(nearest(word, known), " "), word)
	}
	require.Equal(t, []string{"aa", "ab", "ac"}, nearest("a", []string{"aa", "ab", "ac", "ad"}))
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ça", "ca", 1}} {
		require.Equal(t, c.want, distance(c.a, c.b), c.a+" "+c.b)
		require.Equal(t, c.want, distance(c.b, c.a), c.b+" "+c.a)
	}
}

// A flag that does nothing says so, and changes nothing else.
func TestIdleFlags(t *testing.T) {
	fixtures.OnlyAnswers(t)
	for args, want := range map[string]string{
		"check toy/excl/contend --symmetry":                "--symmetry has no effect: no selected scenario says that its processes are interchangeable",
		"check toy/excl/contend --stall-for 3h":            "--stall-for has no effect: it does not matter in any selected setting",
		"check toy/excl/contend --json --verbose":          "--verbose has no effect: it is about the table, which is not printed",
		"check toy/excl/contend --date today":              "--date has no effect: only the pages of --html have a date",
		"sample toy/look/contend --depth 2":                "--depth has no effect: it is about --strategy pct",
		"sample toy/look/contend --json --width 80":        "--width has no effect",
		"explain toy/look/contend --stall-for 3h":          "--stall-for has no effect",
		"replay toy/look/contend A1 --stall-for 3h":        "--stall-for has no effect",
		"check toy/excl/contend toy/lease --stall-for 3m":  "",
		"check toy/excl/contend --stalls 1 --stall-for 3m": "",
		"sample toy/look/contend --strategy pct --depth 2": "",
	} {
		got := run(t, strings.Fields(args)...)
		require.NotEqual(t, ExitUsage, got.exit, got.stderr)
		if want == "" {
			require.Empty(t, got.stderr, args)
			continue
		}
		require.True(t, strings.HasPrefix(got.stderr, "lockpick: "+want), "%s: %s", args, got.stderr)
	}
}
