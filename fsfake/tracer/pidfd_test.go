//go:build linux && amd64

package tracer_test

import (
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// A program sees by a descriptor whether a process of another run lives, as it does on the kernel.
func TestDescriptorsOfProcesses(t *testing.T) {
	script, err := filepath.Abs("testdata/pidfd.py")
	require.NoError(t, err)
	argv := python(t, script)
	other := exec.Command("sleep", "60")
	require.NoError(t, other.Start())
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	native, err := exec.Command(argv[0], argv[1], strconv.Itoa(other.Process.Pid), "4194304").Output()
	require.NoError(t, err)

	m := newMachine()
	m.AddProc(fsfake.ProcSpec{Pid: 77, Parent: 1})
	is, calls := alone(t, m, config(append(argv, "77", "78")...))
	require.Equal(t, string(native), is.Stdout, "%v %s", calls, is.Stderr)
	require.Equal(t, "('ok', 'ECHILD') ESRCH EINVAL EINVAL\nok 0 ESRCH\n", is.Stdout)
}
