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
	"os"
	"path/filepath"
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
	require.Equal(t, string(want), got, "%s; if this is what you want, run the test with -update", file)
}
