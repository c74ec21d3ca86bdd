// Package golden compares what tests print with files under testdata. Run the tests
// with -update to write the files anew, and read the difference before committing it.
//
// It knows files and the testing package, and must not know what is printed.
package golden

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "write the golden files anew")

// Check compares got with the file testdata/name of the package under test.
func Check(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		require.NoError(t, os.MkdirAll(filepath.Dir(file), 0o755))
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update to write it")
	require.Equal(t, string(want), got, "%s; if this is what you want, run the test with -update", file)
}
