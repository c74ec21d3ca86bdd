package command_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/scenarios"
)

// Of programs whose executions take long, directed schedules are made first. They say early that something is lost, and
// change neither the verdict nor the counterexample. Where there is no time for others, they are what is known.
func TestDirectedSchedulesFirst(t *testing.T) {
	t.Parallel()
	lines := []string{"sh a.sh", "sh b.sh"}
	files := map[string]string{
		"n": "0\n", "old": "x\n",
		"a.sh": "cat old; read x < n\necho $x > old\necho $((x+1)) > n\n",
		"b.sh": "cat old; read x < n\necho $x > old\necho $((x+10)) > n\n",
	}
	check := func(dear bool, o checker.Options) (r checker.Result, atFirst int) {
		sc := scenario(t, "sh", lines, files, "")
		sc.Dear = func() bool { return dear }
		p, err := scenarios.FindProperty("serializable", sc)
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		executions, ends := 0, o.Found != nil
		o.Workers, o.SkipOdds = 1, true
		o.Progress = func(g checker.Progress) { executions = g.Executions }
		o.Found = func(*checker.Result) {
			if atFirst = executions; ends {
				cancel()
			}
		}
		r, err = checker.Check(ctx, &sc, p, o)
		require.NoError(t, err)
		require.Equal(t, checker.Broken, r.Verdict, r.Why)
		return r, atFirst
	}
	usual, late := check(false, checker.Options{})
	first, early := check(true, checker.Options{})
	require.Less(t, early, late)
	require.Equal(t, usual.Counterexample.Schedule, first.Counterexample.Schedule)
	require.True(t, first.Counterexample.Smallest)
	require.Equal(t, "directed schedules", first.Attempts[0].Name)
	require.NotEqual(t, "directed schedules", usual.Attempts[0].Name)

	stopped, _ := check(true, checker.Options{Found: func(*checker.Result) {}})
	require.False(t, stopped.Counterexample.Smallest)
	require.Contains(t, stopped.Why, "a smaller counterexample may exist")
}
