//go:build linux

package real

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"lockpick/checker"
	"lockpick/scenarios"
	"lockpick/sched"
)

// play takes the steps of a schedule, after change has made the fake another than the
// real machine.
func play(t *testing.T, schedule string, change func(*run)) Report {
	sc := find(t, "ctx/excl/contend")
	s, err := sched.ParseSchedule(schedule)
	require.NoError(t, err)
	fake, err := checker.Replay(sc, scenarios.MutualExclusion, s)
	require.NoError(t, err)
	r, err := newRun(sc, sc.Claims[0].Property)
	require.NoError(t, err)
	defer r.real.Close()
	require.NoError(t, r.start())
	change(r)
	for _, step := range fake.Counterexample.Trace {
		require.NoError(t, r.step(step))
		if r.lost {
			break
		}
	}
	r.compareNotes(fake.Counterexample.Trace)
	return r.report
}

// A difference anywhere is a mismatch.
func TestDifferences(t *testing.T) {
	const schedule = "A4 B2"
	write := func(path, text string) func(*run) {
		return func(r *run) {
			if err := r.fake.Proc(1).WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	require.Empty(t, play(t, schedule, func(*run) {}).Mismatches)
	for name, c := range map[string]struct {
		change func(*run)
		what   string
	}{
		"a name more":     {write("/tmp/x", ""), "the disk: /tmp/x"},
		"another answer":  {func(r *run) { _ = os.RemoveAll(r.real.Root() + "/project") }, "stat "},
		"another mode":    {func(r *run) { _ = r.fake.Proc(1).Chmod("/tmp", 0o755) }, "the disk: /tmp"},
		"another program": {func(r *run) { r.tasks[0], r.tasks[1] = swap(r.tasks[0], r.tasks[1]) }, ""},
		"another note":    {func(r *run) { r.tasks[0].notes = append([]string{"scenarios.Invoked{Input:no}"}, r.tasks[0].notes...) }, "what the program noted"},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, schedule, c.change)
			require.NotEmpty(t, r.Mismatches)
			require.Contains(t, r.Mismatches[0].What, c.what)
			require.NotEmpty(t, r.Mismatches[0].String())
		})
	}
}

// swap has each task do what the other asks for.
func swap(a, b *task) (*task, *task) {
	a.ask, b.ask = b.ask, a.ask
	a.ask.Op.Path += "x"
	return a, b
}

func TestErrors(t *testing.T) {
	sc := find(t, "ctx/excl/contend")
	s, err := sched.ParseSchedule("A400")
	require.NoError(t, err)
	_, err = Replay(context.Background(), sc, scenarios.MutualExclusion, s)
	require.Error(t, err)

	unknown := *sc
	unknown.ID = "no/such/scenario"
	_, err = Replay(context.Background(), &unknown, scenarios.MutualExclusion, s[:3])
	require.ErrorContains(t, err, "does not answer")

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Replay(ctx, sc, scenarios.MutualExclusion, s[:3])
	require.ErrorIs(t, err, context.Canceled)
}
