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

// play takes the steps of a schedule, after change has made the real machine another than the fake.
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
	return r.report
}

// A difference anywhere is a mismatch.
func TestDifferences(t *testing.T) {
	const schedule = "A4 B2"
	at := func(f func(name string) error, name string) func(*run) {
		return func(r *run) { require.NoError(t, f(r.real.Root()+name)) }
	}
	make := func(name string) error { return os.WriteFile(name, nil, 0o644) }
	require.Empty(t, play(t, schedule, func(*run) {}).Mismatches)
	for name, c := range map[string]struct {
		change func(*run)
		what   string
	}{
		"a name more":    {at(make, "/tmp/x"), "the disk"},
		"a name less":    {at(os.Remove, "/tmp"), "the disk: /tmp"},
		"another mode":   {at(func(name string) error { return os.Chmod(name, 0o755) }, "/tmp"), "the disk: /tmp"},
		"another answer": {at(os.RemoveAll, "/project"), "stat "},
	} {
		t.Run(name, func(t *testing.T) {
			r := play(t, schedule, c.change)
			require.NotEmpty(t, r.Mismatches)
			require.Contains(t, r.Mismatches[0].What, c.what)
			require.NotEmpty(t, r.Mismatches[0].String())
		})
	}
}

func TestErrors(t *testing.T) {
	sc := find(t, "ctx/excl/contend")
	s, err := sched.ParseSchedule("A400")
	require.NoError(t, err)
	_, err = Replay(context.Background(), sc, scenarios.MutualExclusion, s)
	require.Error(t, err)

	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err = Replay(ctx, sc, scenarios.MutualExclusion, s[:3])
	require.ErrorIs(t, err, context.Canceled)
}
