package checker

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/search"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// Where a command looks at a process of another one, it matters when that begins and ends: what is broken only while a
// child is there is broken, although the child makes no call but local ones.
func TestChildrenAreLookedAt(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker")
	for name, c := range map[string]struct {
		looks string
		local bool
	}{
		"one looks":   {"sleep 1; if kill -0 101001 2>/dev/null; then : >seen; fi; : >b", false},
		"nobody does": {"sleep 1; : >seen", true},
	} {
		t.Run(name, func(t *testing.T) {
			shell := func(script string) command.Line { return command.Line{Argv: []string{"sh", "-c", script}} }
			sc, err := command.Spec{
				Commands: []command.Line{shell("date +%s >/dev/null; (exit 0); sleep 1; : >done"), shell(c.looks)},
				Setting: scenarios.Setting{
					Stalls: 1, StallFor: 2 * time.Second, Assume: scenarios.Assumptions{Sleeps: scenarios.SleepsLast},
				},
			}.Scenario()
			testmain.Traced(t, err, "./checker")
			require.NoError(t, err)
			p, err := sc.Property("serializable")
			require.NoError(t, err)
			test, err := search.NewTester(&sc, p)
			require.NoError(t, err)
			g := &decision{t: test, o: Options{Workers: 1, Tried: &Tried{}}, space: &space{}}
			defer g.keep(nil, nil)
			limits := search.Limits{Workers: 1, Local: true}
			_, err = g.make(t.Context(), &attempt{memory: RememberHistories, limits: limits})
			require.NoError(t, err)
			require.Equal(t, c.local, g.c.Violations == 0)
			require.True(t, g.c.Reduced())
			require.Equal(t, c.local, g.c.Complete) // of what breaks it, the odds are not known
			require.Equal(t, !c.local, g.c.Enough)
		})
	}
}
