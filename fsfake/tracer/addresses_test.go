//go:build linux && amd64

package tracer_test

import (
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
