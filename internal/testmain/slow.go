package testmain

import (
	"os"
	"testing"

	"lockpick/internal/race"
)

// Slow skips a test under go test -short, and says so: why it is slow, and in which package, as in
// "./checker", go test runs it. Under the race detector it skips nothing: there -short only has tests
// do less, for each takes ten times as long.
func Slow(t *testing.T, why, pkg string) {
	t.Helper()
	if testing.Short() && !race.Detector {
		t.Skipf("SKIPPED with -short: %s; go test %s runs it", why, pkg)
	}
}

// InRealTime skips a test of how real programs fare against the clock under the race detector, which makes this
// process some ten times slower and them not.
func InRealTime(t *testing.T, pkg string) {
	t.Helper()
	if race.Detector {
		t.Skipf("SKIPPED under the race detector: it runs against the clock; go test %s runs it", pkg)
	}
}

// Long reports whether tests are to look at large spaces, too, which takes minutes more: LOCKPICK_LONG is set. What
// is left out otherwise is more of what was looked at, and nothing of another kind.
func Long() bool { return os.Getenv("LOCKPICK_LONG") != "" && !testing.Short() }
