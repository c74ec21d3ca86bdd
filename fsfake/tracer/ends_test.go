//go:build linux && amd64

package tracer_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake/tracer"
	"lockpick/internal/testmain"
)

// A first process is apart while it only waits for children and has nothing in common with them. What it did before
// does not count, and what it does afterwards does.
func TestApart(t *testing.T) {
	testmain.Needs(t, "perl", "./fsfake/tracer")
	for script, apart := range map[string]map[string]bool{
		`if (!fork) { stat "x"; exit } wait`:                                     {"x": true},
		`stat "z"; if (!fork) { stat "x"; exit } wait; stat "y"`:                 {"z": false, "x": true, "y": false},
		`alarm 9; if (!fork) { stat "x"; exit } wait`:                            {"x": false},
		`if (!fork) { stat "x"; exit } sleep 9`:                                  {"x": false},
		`use POSIX; if (!fork) { stat "x"; kill 9, getppid; exit } pause`:        {"x": false},
		`pipe R, W; if (!fork) { stat "x"; exit } wait`:                          {"x": false},
		`if (!fork) { exit } if (!fork) { stat "x"; exit } wait; stat "y"; wait`: {"x": true, "y": false},
		`if (!fork) { getppid; stat "x"; exit } wait`:                            {"x": true},
		`if (!fork) { if (!fork) { stat "x"; exit } wait; stat "z"; exit } wait`: {"x": true, "z": true},
	} {
		run, err := tracer.Start(config("perl", "-e", script))
		skipUntraceable(t, err)
		require.NoError(t, err)
		is := map[string]bool{}
		for m := newMachine(); ; {
			set, err := run.Next()
			require.NoError(t, err)
			if len(set) == 0 {
				break
			}
			p, ok := pickOrInterrupt(m, set)
			require.True(t, ok)
			if apart := run.Apart(); p.Op.Path != "" {
				is[p.Op.Path[len(p.Op.Path)-1:]] = apart
			}
			require.NoError(t, run.Answer(p.Task, answer(m, p)))
		}
		run.Stop()
		require.Equal(t, apart, is, script)
	}
}
