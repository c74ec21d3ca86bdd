//go:build linux && amd64

package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/fsfake/tracer"
)

// The thread by which the Go runtime looks after the others is no step beside a call, and it
// has given every goroutine its turn before a set is taken: both that make a directory ask, and
// the sleep of the main one may end beside them.
func TestGoRuntime(t *testing.T) {
	run, err := tracer.Start(config(compiled("go", "build", "-o")(t, "testdata/goroutines/main.go")...))
	skipUntraceable(t, err)
	require.NoError(t, err)
	defer run.Stop()
	m := newMachine()
	together := false
	for {
		set, err := run.Next()
		require.NoError(t, err)
		if len(set) == 0 {
			break
		}
		var dirs int
		for i, p := range set {
			require.False(t, i > 0 && p.Timer && p.Task.N == 2, "%v", set)
			if p.Op.Call == fsfake.CallMkdir {
				dirs++
			}
		}
		together = together || dirs == 2
		p, _ := pick(m, set)
		require.NoError(t, run.Answer(p.Task, m.Do(p.Task, p.Op)))
	}
	require.True(t, together, "both ask at once")
	require.Equal(t, []string{`left drwxr-xr-x ""`, `right drwxr-xr-x ""`}, machineTree(m, dir, ""))
}
