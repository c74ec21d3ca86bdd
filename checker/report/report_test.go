package report

import (
	"bytes"
	"context"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/toys"
	"lockpick/internal/golden"
	"lockpick/scenarios"
)

// decided holds the verdicts on the toys, which many tests look at.
var decided = sync.OnceValues(decideToys)

// results are the verdicts on every claim of the toys.
func results(t *testing.T) []checker.Result {
	t.Helper()
	rs, err := decided()
	require.NoError(t, err)
	return slices.Clone(rs)
}

func decideToys() ([]checker.Result, error) {
	var out []checker.Result
	for _, sc := range toys.All() {
		for _, c := range sc.Claims {
			r, err := checker.Check(context.Background(), &sc, c.Property, checker.Options{Workers: 1})
			if err != nil {
				return nil, err
			}
			out = append(out, withoutSource(r))
		}
	}
	return out, nil
}

// withoutSource forgets where in the toys' source the calls stand: golden files would change
// with every line that moves. TestSource is about it.
func withoutSource(r checker.Result) checker.Result {
	if r.Counterexample != nil {
		for i := range r.Counterexample.Trace {
			for k := range r.Counterexample.Trace[i].Calls {
				r.Counterexample.Trace[i].Calls[k].Source = scenarios.Source{}
			}
		}
	}
	return r
}

func result(t *testing.T, id string, p *scenarios.Property) *checker.Result {
	t.Helper()
	for _, r := range results(t) {
		if r.Scenario.ID == id && r.Property == p {
			return &r
		}
	}
	require.FailNow(t, "no such toy", "%s %s", id, p)
	return nil
}

func text(t *testing.T, write func(b *bytes.Buffer) error) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, write(&b))
	return b.String()
}

func TestTimeline(t *testing.T) {
	for _, c := range []struct {
		golden, id string
		property   *scenarios.Property
		style      Style
	}{
		{"look", "toy/look/contend", scenarios.MutualExclusion, Style{}},
		{"look-80", "toy/look/contend", scenarios.MutualExclusion, Style{Width: 80}},
		{"look-60", "toy/look/contend", scenarios.MutualExclusion, Style{Width: 60}},
		{"look-color", "toy/look/contend", scenarios.MutualExclusion, Style{Color: true}},
		{"wedge", "toy/excl/crash", scenarios.Wedge, Style{}},
		{"deadlock", "toy/abba/contend", scenarios.Deadlock, Style{}},
		{"stall", "toy/lease/stall", scenarios.MutualExclusion, Style{}},
		{"tasks", "toy/look/tasks", scenarios.MutualExclusion, Style{}},
		{"tasks-130", "toy/look/tasks", scenarios.MutualExclusion, Style{Width: 130}},
		{"holds", "toy/excl/contend", scenarios.MutualExclusion, Style{}},
		{"differs", "toy/wrong/contend", scenarios.MutualExclusion, Style{}},
	} {
		t.Run(c.golden, func(t *testing.T) {
			r := result(t, c.id, c.property)
			got := text(t, func(b *bytes.Buffer) error { return Timeline(b, r, Options{Style: c.style}) })
			golden.Check(t, "timeline/"+c.golden+".txt", got)
			if c.style.Color {
				return
			}
			for _, l := range strings.Split(got, "\n") {
				if !strings.HasPrefix(l, "  replay") {
					require.LessOrEqual(t, columns(l), c.style.width(), l)
				}
			}
		})
	}
}

// Every row of a timeline fits, in every width.
func TestTimelineFits(t *testing.T) {
	for _, r := range results(t) {
		for width := 60; width <= 140; width += 7 {
			got := text(t, func(b *bytes.Buffer) error { return Timeline(b, &r, Options{Style: Style{Width: width}}) })
			for _, l := range strings.Split(got, "\n") {
				if !strings.HasPrefix(l, "  replay") {
					require.LessOrEqual(t, columns(l), width, "%s\n%s", r.Scenario.ID, l)
				}
			}
		}
	}
}

// Colours change nothing but colours.
func TestColorIsOnlyColor(t *testing.T) {
	for _, r := range results(t) {
		plain := text(t, func(b *bytes.Buffer) error { return Timeline(b, &r, Options{}) })
		colored := text(t, func(b *bytes.Buffer) error { return Timeline(b, &r, Options{Style: Style{Color: true}}) })
		require.Equal(t, plain, withoutSGR(colored))
		require.NotContains(t, plain, "\x1b")
	}
}

func withoutSGR(s string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(s, "\x1b[")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, s, _ = strings.Cut(after, "m")
	}
}

func TestMatrix(t *testing.T) {
	rs := results(t)
	rs = append(rs, checker.Result{
		Scenario: rs[0].Scenario, Property: scenarios.Wedge, Why: "the budget of 5 states ended first", Odds: -1,
	})
	for name, o := range map[string]Options{
		"plain": {}, "quiet": {Quiet: true}, "verbose": {Verbose: true}, "color": {Style: Style{Color: true}},
		"flags": {Flags: "--procs 3"},
	} {
		t.Run(name, func(t *testing.T) {
			golden.Check(t, "matrix/"+name+".txt", text(t, func(b *bytes.Buffer) error { return Matrix(b, rs, o) }))
		})
	}
}

func TestList(t *testing.T) {
	golden.Check(t, "list.txt", text(t, func(b *bytes.Buffer) error { return List(b, toys.All(), Style{}) }))
	golden.Check(t, "list.json", text(t, func(b *bytes.Buffer) error { return ListJSON(b, toys.All()) }))
}

func TestReplayCommand(t *testing.T) {
	r := result(t, "toy/look/contend", scenarios.MutualExclusion)
	require.Equal(t, "lockpick replay toy/look/contend '"+r.Counterexample.Schedule.String()+"'", ReplayCommand(r, Options{}))
	changed := *r
	more, err := r.Scenario.WithProcesses(3)
	require.NoError(t, err)
	changed.Scenario = &more
	require.Contains(t, ReplayCommand(&changed, Options{Program: "./mylocks"}), "./mylocks replay toy/look/contend '")
	require.Contains(t, ReplayCommand(&changed, Options{}), "' --procs 3")
	require.Equal(t, "./mylocks repair toy/look/contend --procs 3", RepairCommand(&changed, Options{Program: "./mylocks"}))
	changed.Property = scenarios.Wedge
	require.Empty(t, RepairCommand(&changed, Options{}), "repair asks only what is claimed")
	held := *r
	held.Verdict = checker.Holds
	require.Empty(t, RepairCommand(&held, Options{}))
	commands := *r.Scenario
	commands.External = true
	held = *r
	held.Scenario = &commands
	require.Empty(t, RepairCommand(&held, Options{}), "repair changes protocols in Go")
	wrong := result(t, "toy/wrong/contend", scenarios.MutualExclusion)
	require.Contains(t, ReplayCommand(wrong, Options{}), "--property mutual-exclusion")
}

// Where a scenario has several locks, timelines name them.
func TestTimelineOfTwoLocks(t *testing.T) {
	for _, sc := range toys.Locks() {
		if sc.ID != "toy/rw-two-shared/contend" {
			continue
		}
		r, err := checker.Check(t.Context(), &sc, scenarios.RWExclusion, checker.Options{Workers: 1})
		require.NoError(t, err)
		r = withoutSource(r)
		golden.Check(t, "timeline/two-locks.txt", text(t, func(b *bytes.Buffer) error { return Timeline(b, &r, Options{}) }))
		return
	}
	t.Fatal("no such toy")
}

// Matrix writes the tables of results that are all there.
func Matrix(w io.Writer, results []checker.Result, o Options) error {
	t := NewTables(w, o)
	if err := t.Add(results); err != nil {
		return err
	}
	return t.End(results)
}
