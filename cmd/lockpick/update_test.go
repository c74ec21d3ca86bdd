package main

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// With -update the files that tests compare with are written anew: read the difference
// before committing it. (Package checker/internal/golden cannot be imported here.)
var update = flag.Bool("update", false, "write the golden files anew")

// checkGolden compares got with the file testdata/name.
func checkGolden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", filepath.FromSlash(name))
	if *update {
		require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
	}
	want, err := os.ReadFile(file)
	require.NoError(t, err, "run the test with -update to write it")
	require.Equal(t, string(want), got, "%s; if this is what you want, run the test with -update", file)
}
