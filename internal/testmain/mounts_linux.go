package testmain

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// ownMounts names the test that runs in a mount namespace of its own.
const ownMounts = "LOCKPICK_OWN_MOUNTS"

// OwnMounts is for a test that mounts file systems, which the tests of other packages would meet where they are at
// that moment. It runs the test again in a process with a mount namespace of its own, and reports whether this is
// that process; the other one has nothing left to do, as that one passed. pkg is where go test runs the test, as for
// [Slow].
func OwnMounts(t *testing.T, pkg string) bool {
	t.Helper()
	if os.Getenv(ownMounts) == t.Name() {
		return true
	}
	args := []string{"-test.run=^" + t.Name() + "$", "-test.v"}
	flag.Visit(func(f *flag.Flag) {
		switch name, ofTest := strings.CutPrefix(f.Name, "test."); {
		case !ofTest, name == "short", name == "timeout":
			args = append(args, "-"+f.Name+"="+f.Value.String())
		}
	})
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), ownMounts+"="+t.Name())
	cmd.SysProcAttr = &syscall.SysProcAttr{Unshareflags: syscall.CLONE_NEWNS}
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Start(); err != nil {
		t.Skipf("SKIPPED: it mounts file systems in a mount namespace of its own, which is refused here: %v; as root "+
			"go test %s runs it", err, pkg)
	}
	err := cmd.Wait()
	switch {
	case err == nil && strings.Contains(said.String(), "--- SKIP: "+t.Name()+" ("):
		t.Skip(said.String())
	case err != nil, !strings.Contains(said.String(), "--- PASS: "+t.Name()+" ("):
		t.Fatalf("in a mount namespace of its own: %v\n%s", err, &said)
	}
	t.Log(said.String())
	return false
}

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
		t.Skipf("SKIPPED: the file system of temporary files gives no inode number twice; on ext4 go test %s runs "+
			"it", pkg)
	}
}
