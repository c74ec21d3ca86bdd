// Package testmain runs the tests of packages that decide much: with fewer collections of
// garbage, most of which is short-lived there. It changes how much memory tests use, and nothing
// else. It is for tests only.
package testmain

import (
	"os"
	"runtime/debug"
	"testing"

	"lockpick/internal/race"
)

// collectAt is how far the heap may grow between two collections, in per cent of what lives, and
// enough the bytes from which on memory is worth more than time. With them the tests take a tenth
// less time than as it is by default.
const (
	collectAt = 400
	enough    = 2 << 30
)

// Run runs the tests and ends the process; it is for TestMain. GOGC is left as it is where the
// environment sets it, and under the race detector, which takes several times the memory.
func Run(m *testing.M) {
	if os.Getenv("GOGC") == "" && !race.Detector {
		debug.SetGCPercent(collectAt)
		debug.SetMemoryLimit(enough)
	}
	os.Exit(m.Run())
}
