//go:build linux && amd64

package tracer_test

import (
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
