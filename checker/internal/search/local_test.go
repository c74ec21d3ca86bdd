package search

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/table"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
	"lockpick/sched"
)

// leases are programs with local steps: children, descriptors that are shared, looks at a clock that nobody moves.
var leases = map[string]struct {
	script string
	stalls int
}{
	"sleep":       {"mkdir l; sleep 1; rmdir l", 0},
	"stall":       {"mkdir l; date +%s >/dev/null; sleep 1", 1},
	"descriptors": {"exec 3<n 4<&3; exec 3<&-; (date +%s >f); exec 4<&-; rm f", 0},
	"flock":       {"exec 9<n; flock 9; touch n; sleep 1; (exec 9<&-; date +%s >f); exec 9<&-; rm f", 0},
	"file":        {"f=$(date +%s); sleep 1; [ -e $f ] || : >$f", 1},
}

func leaseSpace(t *testing.T, name string) *Explorer {
	t.Helper()
	testmain.Needs(t, "flock", "./checker/internal/search")
	of := leases[name]
	job := command.Line{Argv: []string{"sh", "-c", of.script}}
	sc, err := command.Spec{
		Commands: []command.Line{job, job}, Files: []command.File{{Name: "n", Content: "0\n"}},
		Setting: scenarios.Setting{
			Stalls: of.stalls, StallFor: 2 * time.Second, Assume: scenarios.Assumptions{Sleeps: scenarios.SleepsLast},
		},
	}.Scenario()
	testmain.Traced(t, err, "./checker/internal/search")
	require.NoError(t, err)
	if of.stalls == 0 {
		sc, err = sc.InTime()
		require.NoError(t, err)
	}
	p, err := sc.Property("serializable")
	require.NoError(t, err)
	x, err := NewExplorer(&sc, p)
	require.NoError(t, err)
	t.Cleanup(x.Close)
	return x
}

// after is what a state leads to by one choice, nil for nothing.
func after(t *testing.T, w *engine.Expander, s []uint32, c sched.Choice) []uint32 {
	t.Helper()
	require.NoError(t, w.Expand(s))
	for i := range w.Out {
		if w.Out[i].Choice == c {
			return slices.Clone(w.State(&w.Out[i]))
		}
	}
	return nil
}

// A local step commutes with each step that others can make instead, and stays local after it. So it commutes with all
// steps that others can make before it.
func TestLocalStepsCommute(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/internal/search")
	for name := range leases {
		t.Run(name, func(t *testing.T) {
			x := leaseSpace(t, name)
			c, err := x.Explore(t.Context(), Limits{Workers: 1}, x.Initial)
			require.NoError(t, err)
			w, local, compared := engine.NewExpander(x.Space), 0, 0
			for id := range c.States.Len() {
				s := c.States.Row(id, nil)
				slot, err := w.ExpandLocal(s, func([]uint32) bool { return true })
				require.NoError(t, err)
				if slot < 0 {
					continue
				}
				local++
				step, alone := w.Out[0].Choice, slices.Clone(w.State(&w.Out[0]))
				call := x.Op(s, slot).String()
				require.NoError(t, w.Expand(s))
				var others []sched.Choice
				for i := range w.Out {
					if w.Out[i].Slot != slot && !w.Out[i].Bad {
						others = append(others, w.Out[i].Choice)
					}
				}
				for _, other := range others {
					late := after(t, w, s, other)
					first := after(t, w, late, step)
					still, err := w.ExpandLocal(late, func(to []uint32) bool { return table.EqualWords(to, first) })
					require.NoError(t, err)
					require.Equal(t, slot, still, "%s after %s in state %d", call, other, id)
					if other.Action == sched.Stall && strings.HasPrefix(call, "fork") {
						continue // a child's start time is when it was made, which nobody looks at
					}
					compared++
					last := after(t, w, alone, other)
					if last == nil { // it waits, and has lost its place in the queue, as by the step
						last = alone
					}
					require.Equal(t, first, last, "%s and %s in state %d", call, other, id)
				}
			}
			t.Logf("%d states, %d with a local step, %d pairs", c.States.Len(), local, compared)
			require.Greater(t, local, 10)
			require.Greater(t, compared, 10)
		})
	}
}

// With local steps alone the programs end as they do with all steps, in fewer states, and each state has the step that
// was followed once more.
func TestLocalStepsEndAlike(t *testing.T) {
	testmain.Slow(t, "it runs real programs", "./checker/internal/search")
	for name := range leases {
		t.Run(name, func(t *testing.T) {
			x := leaseSpace(t, name)
			ends := func(local bool) (states int, ends [][]uint32) {
				c, err := x.Explore(t.Context(), Limits{Workers: 1, Local: local}, x.Initial)
				require.NoError(t, err)
				require.Equal(t, local, c.Reduced())
				w := engine.NewExpander(x.Space)
				for id := range c.States.Len() {
					s := c.States.Row(id, nil)
					if require.NoError(t, w.Expand(s)); !w.Unfinished() {
						ends = append(ends, s)
					}
				}
				slices.SortFunc(ends, slices.Compare)
				g, err := x.BuildGraph(t.Context(), c, Limits{})
				require.NoError(t, err)
				require.Equal(t, c.States.Len(), g.Len())
				return c.States.Len(), ends
			}
			all, want := ends(false)
			fewer, got := ends(true)
			t.Logf("%d states, %d with local steps alone, %d ends", all, fewer, len(want))
			require.NotEmpty(t, want)
			require.Equal(t, want, got)
			require.Less(t, 5*fewer, 4*all)
		})
	}
}
