package testmain

import (
	"os"
	"testing"

	"lockpick/internal/race"
)

// Slow skips a test under go test -short, and says so: why it is slow, and in which package, as in
// "./checker", go test runs it.
func Slow(t *testing.T, why, pkg string) {
	t.Helper()
	if testing.Short() {
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

// OneWorker skips a test under the race detector in which nothing happens side by side: there is nothing for it to
// find, and what the test looks at takes ten times the time. Every such test runs whole without it.
func OneWorker(t testing.TB) {
	t.Helper()
	if race.Detector {
		t.Skipf("SKIPPED under the race detector: one worker does everything, so that there is nothing to find; go test "+
			"-run '^%s$' without -race runs it", t.Name())
	}
}

// OnlyLong skips a test unless tests are long, and says so as [Slow] does: other tests notice the same, or its kind.
func OnlyLong(t *testing.T, why, pkg string) {
	t.Helper()
	if !Long() {
		t.Skipf("SKIPPED: %s; LOCKPICK_LONG=1 go test %s runs it", why, pkg)
	}
}

// Many is how many cases a test looks at of those that are drawn or alike: few with -short and under the race
// detector, all where tests are long, and some otherwise.
func Many(few, some, all int) int {
	switch {
	case testing.Short() || race.Detector:
		return few
	case Long():
		return all
	}
	return some
}
