package cli

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/search"
	"lockpick/internal/testmain"
	"lockpick/scenarios/command"
)

// What a search has taken is counted from one call to the next, and anew where another search begins.
func TestEffort(t *testing.T) {
	t.Parallel()
	var e effort
	for _, p := range []search.Progress{
		{Executions: 3, Learned: 20, States: 100}, {Executions: 5, Learned: 30, States: 90},
		{Executions: 2, Learned: 30, States: 95},
	} {
		e.follow(checker.Progress{Progress: p})
	}
	require.Equal(t, []int{7, 30, 195}, []int{e.executions, e.calls, e.states})

	q := &inquiry{
		took:  effort{executions: 10, calls: 10, states: 10},
		least: effort{executions: 100, calls: 50, states: 80},
	}
	for _, c := range []struct {
		took effort
		want string
	}{
		{effort{executions: 100, calls: 80, states: 80}, ""},
		{effort{executions: 101}, "101 runs of the programs"},
		{effort{calls: 81}, "81 learned calls"},
		{effort{states: 81}, "81 states"},
	} {
		require.Equal(t, c.want, q.beyond(&c.took))
	}
}

// Where another property is broken, a further one ends after some effort, in the same place each time. Without that
// it is asked to its end.
func TestFurtherPropertyEnds(t *testing.T) {
	raceFile(t)
	spec, err := command.Parse([]byte(counting))
	require.NoError(t, err)
	sc, strict, err := spec.Readings()
	testmain.Traced(t, err, "./checker/cli")
	require.NoError(t, err)
	var out bytes.Buffer
	a := &app{stdout: &out, stderr: &out, env: func(string) string { return "" }}
	f := &runFlags{draw: &drawFlags{resultFlags: &resultFlags{}}}
	ask := func(already *inquiry) checker.Result {
		p, err := sc.Property("deadlock")
		require.NoError(t, err)
		r, err := a.decideRun(t.Context(), &spec, &sc, &strict, p, already, f)
		require.NoError(t, err)
		return r
	}
	little := effort{executions: 1 << 20, calls: 20, states: 1 << 20}
	require.Equal(t, checker.Holds, ask(newInquiry()).Verdict)
	alone := &inquiry{tried: &checker.Tried{}, least: little}
	require.Equal(t, checker.Holds, ask(alone).Verdict, "nothing else is broken")
	var whys []string
	for range 2 {
		r := ask(&inquiry{tried: &checker.Tried{}, broken: true, least: little})
		require.Equal(t, checker.Unknown, r.Verdict)
		require.False(t, r.Complete)
		whys = append(whys, r.Why)
	}
	require.Regexp(t, `^another property is broken, so this one was left after \d+ learned calls; `+
		`ask it alone with --property deadlock$`, whys[0])
	require.Equal(t, whys[0], whys[1])
	much := newInquiry()
	much.broken = true
	require.Equal(t, checker.Holds, ask(much).Verdict)
}
