package cli

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/parallel"
	"lockpick/checker/internal/toys"
	"lockpick/scenarios"
)

// What is decided ahead of its turn is what is decided in turn: the same bytes, whoever was faster,
// also of programs that are at fault, and in the order in which it was asked.
func TestAheadChangesNothing(t *testing.T) {
	list := toys.All()[:6]
	wrong := toys.All()[1]
	wrong.ID = "wrong/excl/contend"
	wrong.Program = func(int, int) scenarios.Program {
		return func(*scenarios.Task) { panic(scenarios.Fault{Err: errors.New("it cannot go on")}) }
	}
	list = slices.Insert(list, 2, wrong)
	for _, args := range []string{"check", "check --json", "check --verbose", "check --memory auto --quiet"} {
		said := func(more ...string) string {
			var out, errs strings.Builder
			exit := Run(t.Context(), list, append(strings.Fields(args), more...), &out, &errs, nil)
			return out.String() + errs.String() + string(rune('0'+exit))
		}
		inTurn := said("--workers", "1")
		require.Equal(t, inTurn, said("--workers", "2"), args)
		require.Contains(t, inTurn, "it cannot go on")
	}
}

// A small space is decided ahead, a larger one is left to its turn, and what has its turn is begun
// by nobody else.
func TestWhatIsDecidedAhead(t *testing.T) {
	var questions []question
	for _, sc := range toys.All()[:4] {
		for _, c := range sc.Claims {
			questions = append(questions, question{&sc, c.Property})
		}
	}
	f := &checkFlags{engine: &engineFlags{}}
	e := newAhead(questions)
	nobody := func() bool { return false }
	require.Nil(t, e.take(0, nobody), "nobody has begun it")
	parallel.Together(2, func(int) {
		for e.work(t.Context(), f, checker.Options{}) {
		}
	})
	require.Nil(t, e.take(0, nobody), "it had its turn")
	decided := 0
	for i, q := range questions {
		if r := e.take(i, nobody); r != nil {
			decided++
			require.True(t, r.Complete) // these spaces are small
			require.LessOrEqual(t, r.Stats.States, aheadStates)
			require.Equal(t, q.property, r.Property)
			require.Same(t, q.sc, r.Scenario)
		}
	}
	require.Equal(t, len(questions)-1, decided)

	e = newAhead(questions)
	last := questions[len(questions)-1]
	from, to := e.begin()
	require.Equal(t, len(questions), to, "it begins at the end")
	for i, q := range questions {
		require.Equal(t, q.sc == last.sc, i >= from, "with one scenario")
	}
	require.Nil(t, e.take(from-1, nobody))
	from, to = e.begin()
	require.Equal(t, from, to, "what is before the one that has its turn has had it")

	e = newAhead(questions)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for e.work(ctx, f, checker.Options{}) {
	}
	require.Nil(t, e.take(1, nobody), "it was stopped")
}
