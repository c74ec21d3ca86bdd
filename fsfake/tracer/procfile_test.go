//go:build linux && amd64

package tracer_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
)

// A program sees in /proc whom the machine has, under their virtual pids, and what identifies them;
// a process of the real machine it does not see.
func TestProcessesInProc(t *testing.T) {
	for _, row := range []struct{ script, stdout string }{
		{"cd /proc; echo [0-9]*" /* which the shell sorts */, "1 100 77\n"},
		{"while read -r a b; do case $a in Pid:|PPid:|NSpid:) echo $a $b;; esac; done < /proc/77/status", "Pid: 77\nPPid: 1\nNSpid: 77\n"},
		{"while read -r a b; do case $a in Pid:|PPid:) echo $a $b;; esac; done < /proc/self/status", "Pid: 100\nPPid: 1\n"},
		{"read -r a b c d e f g h i j k l m n o p q r s t u v w < /proc/77/stat; echo $a $v", "77 5\n"},
		{"read -r a < /proc/78/status || echo none", "none\n"},
		{"test -r /proc/77/comm && read -r a < /proc/77/comm && echo $a; tr '\\0' , < /proc/77/cmdline; " +
			"cat /proc/77/environ",
			"job\nsh,job,A=1"},
		{"read -r a < /proc/78/fdinfo/1 || echo none", "none\n"},
		{"read -r a < /proc/78/cmdline || echo none; test -e /proc/77/ctty || echo none", "none\nnone\n"},
		{"read -r a b c < /proc/77/stat; echo $b; ps -p 77 -o comm= -o args=", "(job)\njob             sh job\n"},
		{"ps -p 78 -o comm=; echo $?", "1\n"},
		{"test -d /proc/77 && test -e /proc/77/status && ! test -e /proc/78/status && echo yes", "yes\n"},
	} {
		m := newMachine()
		m.AddProc(fsfake.ProcSpec{Pid: 77, Parent: 1, Start: 5})
		c := config("sh", "-c", row.script)
		c.Program = func(int) tracer.Program {
			return tracer.Program{Name: "job", CommandLine: "sh\x00job\x00", Environment: "A=1"}
		}
		is, calls := alone(t, m, c)
		require.Equal(t, row.stdout, is.Stdout, "%s: %v %s", row.script, calls, is.Stderr)
	}
}

// /proc/self/fdinfo tells of a descriptor what the kernel tells, but for the mount, and the inode number of stat(2).
func TestDescriptorsInProc(t *testing.T) {
	const script = `import os
def show(n, by="self"):
    told = open("/proc/%s/fdinfo/%d" % (by, n)).read().split()
    print(told[1], told[3], int(told[7]) == os.fstat(n).st_ino, told[:8:2])
open("f", "w").write("text")
f = os.open("f", os.O_RDWR | os.O_APPEND); os.read(f, 3); show(f)
os.set_inheritable(f, True); show(f)
show(os.open("f", os.O_PATH)); show(os.open(".", os.O_RDONLY)); show(f, "thread-self")
if os.fork() == 0: show(f); show(f, os.getppid()); os.read(f, 1)
else: os.wait(); show(f)`
	kernel := exec.Command(python(t, "")[0], "-SIuc", script)
	kernel.Dir = t.TempDir()
	want, err := kernel.CombinedOutput()
	require.NoError(t, err, "%s", want)
	is, calls := alone(t, newMachine(), config(python(t, "")[0], "-SIuc", script))
	require.Equal(t, string(want), is.Stdout, "%v %s", calls, is.Stderr)

	// What tells of locks is refused, for it would show none of the fake.
	is, _ = alone(t, newMachine(), config("sh", "-c",
		"exec 9>f; flock 9; cat /proc/self/fdinfo/9 /proc/locks && echo told"))
	require.Empty(t, is.Stdout)
	require.Equal(t, 2, strings.Count(is.Stderr, "Permission denied"), is.Stderr)
}
