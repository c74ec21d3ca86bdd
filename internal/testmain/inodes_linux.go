package testmain

import (
	"os"
	"syscall"
	"testing"
)

// ReusesInodes skips a test where the file system of temporary files does not give the inode number of a removed file
// to the next one. pkg is where go test runs the test, as for [Slow].
func ReusesInodes(t *testing.T, pkg string) {
	t.Helper()
	name := t.TempDir() + "/f"
	var numbers []uint64
	for range 2 {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		i, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		numbers = append(numbers, i.Sys().(*syscall.Stat_t).Ino)
		if err := os.Remove(name); err != nil {
			t.Fatal(err)
		}
	}
	if numbers[0] != numbers[1] {
		t.Skipf("SKIPPED: the file system of temporary files gives no inode number twice; on ext4 go test %s runs it", pkg)
	}
}
