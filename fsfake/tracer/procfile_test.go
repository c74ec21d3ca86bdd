//go:build linux && amd64

package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
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
		{"test -d /proc/77 && test -e /proc/77/status && ! test -e /proc/78/status && echo yes", "yes\n"},
	} {
		m := newMachine()
		m.AddProc(fsfake.ProcSpec{Pid: 77, Parent: 1, Start: 5})
		is, calls := alone(t, m, config("sh", "-c", row.script))
		require.Equal(t, row.stdout, is.Stdout, "%s: %v %s", row.script, calls, is.Stderr)
	}
}
