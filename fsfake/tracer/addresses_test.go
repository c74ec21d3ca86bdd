//go:build linux && amd64

package tracer_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// Processes have other addresses than each other, and the same in each run.
func TestAddressesDifferBetweenProcesses(t *testing.T) {
	sh, grep := need(t, "sh"), need(t, "grep")
	maps := func(pid int, argv ...string) string {
		m := newMachine()
		m.AddProc(fsfake.ProcSpec{Pid: pid, Parent: 1, Cwd: dir})
		c := config(argv...)
		c.Pid = pid
		got, _ := aloneAs(t, m, c, pid)
		require.NotEmpty(t, got.Stdout, "%v %+v", argv, got)
		return got.Stdout
	}
	for _, what := range []string{"heap", "r-xp.*/libc"} {
		for _, argv := range [][]string{{grep, what, "/proc/self/maps"}, {sh, "-c", "grep '" + what +
			"' /proc/self/maps; true"}} {
			first := maps(101, argv...)
			require.Equal(t, first, maps(101, argv...))
			require.NotEqual(t, first, maps(102, argv...), argv)
		}
	}
}

// A temporary file that mkstemp(3) names after an address has one name in environments of any length.
func TestAddressesAreTheSameInEveryEnvironment(t *testing.T) {
	need(t, "sed")
	sh := need(t, "sh")
	calls := func(length int) []string {
		m := newMachine()
		c := config(sh, "-c", "echo a >f; sed -i s/a/b/ f")
		c.Env = append([]string{"A=" + strings.Repeat("x", length)}, c.Env...)
		got, calls := alone(t, m, c)
		require.Equal(t, "exit 0", got.Exit, "%+v", got)
		return calls
	}
	first := calls(1)
	for length := 8; length < 80; length += 8 {
		require.Equal(t, first, calls(length))
	}
}
