// Package golden compares what tests print with files that are kept. Run the tests of a
// package with -update to write its files anew, and read the difference before committing
// it. It is the one such flag of the module.
//
// It knows files and the testing package, and must not know what is printed.
//
// Limits: only the packages whose tests use it have the flag, so -update is given to them
// by name.
package golden

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Updating reports whether files are to be written anew, for tests that keep some in a way
// of their own.
func Updating() bool { return *update }

// Check compares got with the file testdata/name of the package under test.
func Check(t testing.TB, name, got string) {
	t.Helper()
	CheckFile(t, filepath.Join("testdata", filepath.FromSlash(name)), got)
}

// CheckFile compares got with a file.
func CheckFile(t testing.TB, file, got string) {
	t.Helper()
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update to write it")
	if got != string(want) {
		require.FailNow(t, file+" differs; if this is what you want, run the test with -update", "%s", Difference(string(want), got))
	}
}

// shown is how many lines of each side a difference shows.
const shown = 20

// Difference shows where two texts differ: the lines between the first and the last that
// do, those of want with "-" and those of got with "+", at most 20 of each, after the number
// of the first.
func Difference(want, got string) string {
	a, b := strings.Split(want, "\n"), strings.Split(got, "\n")
	from := 0
	for from < min(len(a), len(b)) && a[from] == b[from] {
		from++
	}
	same := 0
	for same < min(len(a), len(b))-from && a[len(a)-1-same] == b[len(b)-1-same] {
		same++
	}
	var out strings.Builder
	fmt.Fprintf(&out, "line %d\n", from+1)
	side := func(sign string, lines []string) {
		for i, l := range lines {
			if i == shown {
				fmt.Fprintf(&out, "%s … %d more\n", sign, len(lines)-i)
				return
			}
			out.WriteString(sign + l + "\n")
		}
	}
	side("-", a[from:len(a)-same])
	side("+", b[from:len(b)-same])
	return out.String()
}
