package testmain

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// What a test mounts is not there for the rest of the machine.
func TestOwnMounts(t *testing.T) {
	const others = "LOCKPICK_OTHERS_MOUNTS"
	here, err := os.Readlink("/proc/self/ns/mnt")
	require.NoError(t, err)
	if os.Getenv(others) == "" {
		t.Setenv(others, here)
	}
	if OwnMounts(t, "./internal/testmain") {
		require.NotEqual(t, os.Getenv(others), here)
	}
}

// Every test that mounts does so where no other test meets it.
func TestMountsAreOwn(t *testing.T) {
	found := 0
	require.NoError(t, filepath.WalkDir("../..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(name, "_test.go") {
			return err
		}
		text, err := os.ReadFile(name)
		if strings.Contains(string(text), ".Mount"+"(") {
			found++
			require.Contains(t, string(text), "testmain.OwnMounts"+"(", name)
		}
		return err
	}))
	require.Greater(t, found, 3)
}
