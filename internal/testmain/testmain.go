// Package testmain runs the tests of packages that decide much: with fewer collections of
// garbage, most of which is short-lived there. It changes how much memory tests use, and nothing
// else. It is for tests only.
package testmain

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"lockpick/internal/race"
)

// Memory that is reserved and never touched takes none of the computer's, but counts as living: the heap
// may grow to collectAt per cent of it, and of what lives, before garbage is collected. From so many bytes
// on, enough, memory is worth more than time. The tests of package checker take a seventh less time than with
// collectAt alone, and less memory: without the reserve the heap shrinks after each of them, is given back
// to the system a little at a time, and is asked for again.
const (
	reserved  = 128 << 20
	collectAt = 400
	enough    = 1536 << 20
)

// Run runs the tests and ends the process; it is for TestMain. GOGC is left as it is where the
// environment sets it, and under the race detector, which takes several times the memory.
func Run(m *testing.M) {
	var untouched []byte
	if os.Getenv("GOGC") == "" && !race.Detector {
		untouched = make([]byte, reserved)
		debug.SetGCPercent(collectAt)
		debug.SetMemoryLimit(enough)
	}
	code := m.Run()
	runtime.KeepAlive(untouched)
	os.Exit(code)
}
