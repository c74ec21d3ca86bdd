// Package testmain runs the tests of packages that decide much: with fewer collections of
// garbage, most of which is short-lived there. It changes how much memory tests use, and nothing
// else. It is for tests only.
package testmain

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
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
		t.Skipf("SKIPPED under the race detector: one worker does everything, so that there is nothing to find; go "+
			"test -run '^%s$' without -race runs it", t.Name())
	}
}

// OnlyLong skips a test unless tests are long, and says so as [Slow] does: other tests notice the same, or its kind.
func OnlyLong(t *testing.T, why, pkg string) {
	t.Helper()
	if !Long() {
		t.Skipf("SKIPPED: %s; LOCKPICK_LONG=1 go test %s runs it", why, pkg)
	}
}

// LongBut skips a row of a table unless tests are long or it is one of those kept, and says so as [Slow] does: what is
// kept notices the kind of the others, too.
func LongBut(t *testing.T, row, pkg string, kept ...string) {
	t.Helper()
	if !slices.Contains(kept, row) {
		OnlyLong(t, "rows of its kind are kept: "+strings.Join(kept, "; "), pkg)
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

// Needs skips a test for which a program is not installed, and returns where it is. pkg is where go test runs the
// test, as for [Slow].
func Needs(t testing.TB, program, pkg string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Skipf("SKIPPED: it needs %s, and there is none here; where it is installed go test %s runs it", program, pkg)
	}
	return path
}

// Python skips a test where there is no python3, and returns the interpreter itself: python3 may be a script that looks
// for one, as pyenv has it, and makes calls by the thousand. With -SE it reads half as many files at its start.
func Python(t testing.TB, pkg string) string {
	t.Helper()
	Needs(t, "python3", pkg)
	path, err := interpreter()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

var interpreter = sync.OnceValues(func() (string, error) {
	out, err := exec.Command("python3", "-c", "import sys; print(sys.executable)").Output()
	return strings.TrimSpace(string(out)), err
})

// Viewed skips a test when what was said, an error or the line native, says that views of the machine cannot be made
// here, or that something is mounted below a directory that the test has changed in one.
func Viewed(t testing.TB, said any, pkg string) {
	t.Helper()
	text := fmt.Sprint(said)
	if strings.Contains(text, "refused here") || strings.Contains(text, "something is mounted below it") {
		t.Skipf("SKIPPED: it makes namespaces and overlays, which is not possible here: %s; where it is, go test %s "+
			"runs it", text, pkg)
	}
}

// Traced skips a test when an error says that programs cannot be traced here.
func Traced(t testing.TB, err error, pkg string) {
	t.Helper()
	if untraceable(err) {
		t.Skipf("SKIPPED: it runs programs under ptrace(2), which is not possible here: %v; on linux/amd64, where "+
			"that is allowed, go test %s runs it", err, pkg)
	}
}

// untraceable reports whether an error says that programs cannot be traced here.
func untraceable(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "cannot be traced "+
		"here") || strings.Contains(err.Error(), "linux/amd64 only"))
}
