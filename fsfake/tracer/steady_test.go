//go:build linux && amd64

package tracer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
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

// What the C library of a program draws for its heap is not drawn by the program.
func TestDraws(t *testing.T) {
	for script, draws := range map[string]bool{
		"mkdir d; (: >d/f) & wait; cat d/f": false, "true </dev/urandom": true, "mktemp -u": true,
		"cat /proc/sys/kernel/random/uuid": true,
	} {
		run, err := tracer.Start(config("sh", "-c", script))
		skipUntraceable(t, err)
		require.NoError(t, err)
		toItsEnd(t, newMachine(), run, func(tracer.Pending, fsfake.Result) {})
		require.Equal(t, draws, run.Draws(), script)
		run.Stop()
	}
	script := filepath.Join(t.TempDir(), "script")
	require.NoError(t, os.WriteFile(script, []byte("#! "+need(t, "sh")+" -u\n"), 0o755))
	for file, draws := range map[string]bool{
		need(t, "sh"): false, need(t, "true"): false, script: false, need(t, "perl"): true, python(t, "")[0]: true,
		compiled("go", "build", "-o")(t, "testdata/lockgo/main.go")[0]: true, script + "missing": true,
	} {
		require.Equal(t, draws, tracer.MayDraw(file), file)
	}
}

// A number that a program draws itself counts, also where the C library would draw one for the heap by the same call.
func TestDrawsBeforeTheHeap(t *testing.T) {
	cc, bin := need(t, "gcc"), filepath.Join(t.TempDir(), "draws")
	c := exec.Command(cc, "-x", "c", "-w", "-o", bin, "-")
	c.Stdin = strings.NewReader("#include <sys/random.h>\n" +
		"int main() { long x; return getrandom(&x, 8, GRND_NONBLOCK) != 8; }")
	require.NoError(t, c.Run())
	run, err := tracer.Start(config(bin))
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	toItsEnd(t, newMachine(), run, func(tracer.Pending, fsfake.Result) {})
	require.True(t, run.Draws())
}
