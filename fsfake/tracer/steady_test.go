//go:build linux && amd64

package tracer_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// The number and the times of a pipe are the same in each run; of other files they are the real ones.
func TestPipesAreTheSameInEachRun(t *testing.T) {
	const script = `import os
for fd in os.pipe() + (1,):
    s = os.fstat(fd)
    print(s.st_ino, s.st_mtime)
print(os.fstat(os.open("/", os.O_RDONLY)).st_ino == os.stat("/").st_ino)`
	got, _ := alone(t, newMachine(), config(python(t, "")[0], "-I", "-S", "-c", script))
	require.Equal(t, "3 0.0\n3 0.0\n1 0.0\nTrue\n", got.Stdout, got.Stderr)
}

// What /proc draws, or counts on the whole machine, is the same in each run, and differs where it does for real.
func TestProcTellsTheSameInEachRun(t *testing.T) {
	script := "cat /proc/loadavg /proc/sys/kernel/random/uuid; cat /proc/sys/kernel/random/uuid"
	first, _ := alone(t, newMachine(), config("sh", "-c", script))
	again, _ := alone(t, newMachine(), config("sh", "-c", script))
	require.Equal(t, first, again)
	uuid := `([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})\n`
	m := regexp.MustCompile(`^0\.00 0\.00 0\.00 1/2 \d+\n` + uuid + uuid + "$").FindStringSubmatch(first.Stdout)
	require.Len(t, m, 3, first.Stdout)
	require.NotEqual(t, m[1], m[2])
}
