package testmain

import (
	"testing"

	"lockpick/internal/race"
)

// Slow leaves a test out where only quick ones are wanted (go test -short), and says so: what makes it
// slow, and in which package, as in "./checker", go test runs it. It leaves nothing out under the race
// detector, where tests run with -short because each takes ten times as long, and not to be done soon.
func Slow(t *testing.T, why, pkg string) {
	t.Helper()
	if testing.Short() && !race.Detector {
		t.Skipf("SKIPPED with -short: %s; go test %s runs it", why, pkg)
	}
}
