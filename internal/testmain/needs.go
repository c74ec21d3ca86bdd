package testmain

import (
	"fmt"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

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
		t.Skipf("SKIPPED: it runs programs under ptrace(2), which is not possible here: %v; on linux/amd64, where that is allowed, go test %s runs it", err, pkg)
	}
}

// untraceable reports whether an error says that programs cannot be traced here.
func untraceable(err error) bool {
	return err != nil && (strings.Contains(err.Error(), "cannot be traced here") || strings.Contains(err.Error(), "linux/amd64 only"))
}
