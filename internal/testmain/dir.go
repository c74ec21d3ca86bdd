package testmain

import (
	"os"
	"testing"
)

// inMemory is where Linux keeps files in memory.
const inMemory = "/dev/shm"

// QuickDir is t.TempDir for what is written to the disk again and again: in memory, where there is
// such a place, so that nobody waits for the disk.
func QuickDir(t *testing.T) string {
	if _, err := os.Stat(inMemory); err != nil {
		return t.TempDir()
	}
	dir, err := os.MkdirTemp(inMemory, "lockpick")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Error(err)
		}
	})
	return dir
}
