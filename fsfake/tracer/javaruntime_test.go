//go:build linux && amd64

package tracer_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
)

// What wakes the threads of a JVM is no step beside a call of its program. So is the sleep of each other thread, also
// of one that the program has called so, and of a program that is no JVM. Nor does a JVM make a directory for its
// counters. Of two threads of one name both are the JVM's where one has started the other.
func TestJavaRuntime(t *testing.T) {
	idlers := compiled("gcc", "-O1", "-pthread", "-o")(t, file(t, "idlers.c"))[0]
	java := filepath.Join(t.TempDir(), "java")
	text, err := os.ReadFile(idlers)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(java, text, 0o700))
	for _, c := range []struct {
		argv    []string
		options string
		offered bool
	}{
		{[]string{java, "VM Periodic Task Thread", "C2 CompilerThread0"}, "", false},
		{[]string{java, "VM Periodic Task Thread", "mine"}, "", true},
		{[]string{java, "Common-Cleaner", "Common-Cleaner"}, "", true},
		{[]string{java, "C1 CompilerThread0", "-", "C1 CompilerThread1"}, "", false},
		{[]string{java, "C1 CompilerThread0", "-", "mine"}, "", true},
		{[]string{java, "VM Periodic Task Thread"}, "-XX:G1PeriodicGCInterval=5", true},
		{[]string{idlers, "VM Periodic Task Thread"}, "", true},
	} {
		with := config(c.argv...)
		with.Env = append(slices.Clone(env), "JAVA_TOOL_OPTIONS="+c.options)
		run, err := tracer.Start(with)
		skipUntraceable(t, err)
		require.NoError(t, err)
		defer run.Stop()
		m := newMachine()
		asked := false
		for {
			set, err := run.Next()
			require.NoError(t, err)
			if len(set) == 0 {
				break
			}
			if set[0].Op.Call == fsfake.CallMkdir {
				asked = true
				require.Equal(t, c.offered, len(set) > 1, "%v: %v", c.argv, set)
			}
			require.NoError(t, run.Answer(set[0].Task, m.Do(set[0].Task, set[0].Op)))
		}
		require.True(t, asked)
		exit, _ := run.Exit(100)
		answer := unix.ENOENT
		if c.argv[0] == java && c.options == "" {
			answer = unix.EACCES
		}
		require.Equal(t, int(answer), exit.Status)
	}
}
