//go:build linux && amd64

package tracer_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// A directory that becomes a symlink, outside of the virtual directory, leads there from then on, though
// the program has passed through it before, and has asked for the same name.
func TestDirectoryBecomesASymlink(t *testing.T) {
	need(t, "sh")
	need(t, "ln")
	d := filepath.Join(t.TempDir(), "d")
	script := "mkdir $0 $0/x; : < $0/x/../x; test -e $0/n; rm -r $0; ln -s $1 $0; test -e $0/n; " +
		"echo 1 > $0/n; cat $1/n; test -e $0/n || echo no"
	got, calls := alone(t, newMachine(), config("sh", "-c", script, d, dir))
	require.Equal(t, "1\n", got.Stdout, "%v %s", calls, got.Stderr)
}

// A path through a real directory that /proc has a link to leads into the virtual directory, too.
func TestPathThroughProc(t *testing.T) {
	need(t, "sh")
	for _, script := range []string{
		"echo 1 > /proc/self/root$0/n",
		"exec 5< /; echo 1 > /proc/self/fd/5/$0/n",
		"cd /; echo 1 > /proc/self/cwd$0/n",
		"cd /; echo 1 > /proc/$$/root/proc/self/cwd/..$0/n",
		// one name, two files
		"echo 1 > n; exec 5< /; test -e /proc/self/fd/5/n; exec 5< $0; test -e /proc/self/fd/5/n || rm n",
	} {
		m := newMachine()
		got, calls := alone(t, m, config("sh", "-c", script+"; cat "+dir+"/n", dir))
		require.Equal(t, "1\n", got.Stdout, "%s: %v %s", script, calls, got.Stderr)
	}
}

// Runs that are told their CPUs go side by side, and the next after the last is the first again.
func TestCPU(t *testing.T) {
	need(t, "python3")
	var may unix.CPUSet
	require.NoError(t, unix.SchedGetaffinity(0, &may))
	of := func(n int) string {
		c := config(python(t, "")[0], "-I", "-S", "-c", "import os; print(sorted(os.sched_getaffinity(0)))")
		c.CPU = n
		got, _ := alone(t, newMachine(), c)
		return got.Stdout
	}
	first := of(1)
	require.Equal(t, first, of(1+may.Count()))
	if may.Count() > 1 {
		require.NotEqual(t, first, of(2))
	}
}
