package cli

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/internal/testmain"
)

// The shortest stall that breaks is found to the second, and nothing is said of what was not decided.
func TestNarrow(t *testing.T) {
	from := func(first, unknown time.Duration) func(time.Duration) checker.Verdict {
		return func(d time.Duration) checker.Verdict {
			switch {
			case d == unknown:
				return checker.Unknown
			case d >= first:
				return checker.Broken
			}
			return checker.Holds
		}
	}
	for _, c := range []struct {
		broken, first, unknown time.Duration
		want                   string
	}{
		{31, 31, 0, "survives a stall of 30s, and is broken by one of 31s"},
		{40, 31, 0, "survives a stall of 30s, and is broken by one of 31s; also survives 6s, 15s, 24s"},
		{31, 31, 30, "broken by a stall of 31s; that a shorter one is survived was not found"},
		{40, 31, 34, "survives a stall of 30s, and is broken by one of 39s; those between were not decided; " +
			"also survives 6s, 15s, 24s"},
		{9, 1, 0, "broken by a stall of 1s; that a shorter one is survived was not found"},
		{2, 2, 0, "survives a stall of 1s, and is broken by one of 2s"},
		{3600, 4, 2, "broken by a stall of 7s; that a shorter one is survived was not found"},
		{1, 1, 0, "broken by a stall of 1s; that a shorter one is survived was not found"},
	} {
		s := narrow(c.broken*time.Second, from(c.first*time.Second, c.unknown*time.Second))
		require.Equal(t, c.want, s.String())
	}
}

// A lease that is stale after three seconds says which delay it survives.
func TestRunTellsWhichStallIsSurvived(t *testing.T) {
	testmain.OnlyLong(t, "it decides commands that sleep; which stalls it asks is tested, too", "./checker/cli")
	testmain.Slow(t, "it decides where the clock may jump, some times", "./checker/cli")
	dir := t.TempDir()
	t.Chdir(dir)
	require.NoError(t, os.WriteFile("n", []byte("0\n"), 0o644))
	const lease = `until mkdir l 2>/dev/null; do ` +
		`[ $(($(date +%s) - $(stat -c %Y l 2>/dev/null || date +%s))) -gt 3 ] && rmdir l; sleep 2; done; ` +
		`read x < n; echo $((x+1)) > n; rmdir l`
	got := run(t, "run", "--native", "off", "--refused", "none", "--timeout", "30m", "--property", "serializable",
		"--stalls", "1", "--stall-for", "4s", "-n", "2", "--markdown", "m.md", "--", "sh", "-c", lease)
	const told = "survives a stall of 3s, and is broken by one of 4s"
	require.Contains(t, got.stdout, "  stalls  "+told+"\n", got.stderr)
	text, err := os.ReadFile("m.md")
	require.NoError(t, err)
	require.Contains(t, string(text), "**Stalls:** "+told+".")
}

// An owner touches its lease every second, and the lease is stale after three: it says which delay it survives.
func TestRunTellsWhichStallHeartbeatsSurvive(t *testing.T) {
	if !testmain.Long() {
		t.Skip("SKIPPED: 700 runs of the programs take most of a minute; LOCKPICK_LONG=1 go test ./checker/cli runs it")
	}
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("n", []byte("0\n"), 0o644))
	const lease = `until mkdir l 2>/dev/null; do ` +
		`[ $(($(date +%s) - $(stat -c %Y l 2>/dev/null || date +%s))) -gt 3 ] && rmdir l; sleep 1; done; ` +
		`read x < n; for i in 1 2; do sleep 1; touch -c l; done; echo $((x+1)) > n; rmdir l`
	got := run(t, "run", "--native", "off", "--refused", "none", "--timeout", "30m", "--property", "serializable",
		"--stalls", "1", "--stall-for", "3s", "-n", "2", "--", "sh", "-c", lease)
	require.Contains(t, got.stdout, "  BROKEN  serializable\n", got.stderr)
	require.Contains(t, got.stdout, "  stalls  survives a stall of 2s, and is broken by one of 3s\n", got.stderr)
}

// Of commands that sleep for long, clocks that move come first: a lock that is stale by age is broken by time.
// What breaks without it is shown without it.
func TestSleepersFirst(t *testing.T) {
	testmain.Slow(t, "it runs real programs for seconds", "./checker/cli")
	t.Chdir(t.TempDir())
	require.NoError(t, os.WriteFile("n", []byte("0\n"), 0o644))
	for text, lasting := range map[string]bool{
		slowLease + " 2>/dev/null || :":                                true,
		"date +%s > /dev/null; read x < n; sleep 1; echo $((x+1)) > n": false,
	} {
		got := run(t, "run", "--native", "off", "--property", "serializable", "-n", "2", "--", "sh", "-c", text)
		require.Contains(t, got.stdout, "  BROKEN  serializable\n", got.stderr)
		require.Equal(t, lasting, strings.Contains(got.stdout, "assuming sleeps-last"), got.stdout)
		require.NotContains(t, got.stderr, "natively")
	}
}

// slowLease takes a lock that is older than a second for one of the dead, and holds it for longer.
const slowLease = `until mkdir l 2>/dev/null; do ` +
	`[ $(($(date +%s) - $(stat -c %Y l 2>/dev/null || date +%s))) -gt 1 ] && rmdir l; sleep 0.3; done; ` +
	`read x < n; sleep 3; echo $((x+1)) > n; rmdir l`
