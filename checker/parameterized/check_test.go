package parameterized

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/all"
)

func TestAnswers(t *testing.T) {
	t.Parallel()
	rows := all.All()
	ask := func(id string, p *scenarios.Property) Answer {
		at := slices.IndexFunc(rows, func(sc scenarios.Scenario) bool { return sc.ID == id })
		require.NotEqual(t, -1, at, id)
		a, err := Check(context.Background(), &rows[at], p, checker.Options{})
		require.NoError(t, err)
		return a
	}
	proved := ask("ctx/excl/crash", scenarios.MutualExclusion)
	require.True(t, proved.Proved)
	require.Equal(t, []int{1, 85, 233}, []int{proved.K, proved.Views, proved.Configurations})

	broken := ask("gofrs-flock/unlink-after-unlock/contend", scenarios.MutualExclusion)
	require.False(t, broken.Proved)
	require.Equal(t, 3, broken.Broken.Scenario.Setting.Processes, "two processes hold")

	refused := ask("npm-cli-with-lock/release-once/contend", scenarios.MutualExclusion)
	require.False(t, refused.Proved)
	require.GreaterOrEqual(t, refused.UpTo, 3)
	require.Contains(t, refused.Why, "looks at the clock or a file time")
	require.Equal(t, "sleep 50ms", refused.Call)
	require.Equal(t, "aged.go", filepath.Base(refused.Source.File))
	require.Contains(t, refused.Source.Func, "pidfile.npmCLI")
	require.Positive(t, refused.Source.Line)

	grows := ask("ctx/flock/crash", scenarios.MutualExclusion)
	require.Contains(t, grows.Why, "a file grows without a bound")
	require.Equal(t, `write fd 4 "entry 1\n"`, grows.Call)

	fails := ask("nix/wait-checked/interrupt", scenarios.MutualExclusion)
	require.Contains(t, fails.Why, "calls may fail")
	require.Empty(t, fails.Call, "no call is at fault")

	require.False(t, ask("ctx/excl/crash", scenarios.Wedge).Asked)
	require.False(t, ask("jib/keep-file/tasks", scenarios.MutualExclusion).Asked, "one has two tasks, the other is a peer")
	threads := ask("openclaw-release/option-a/tasks", scenarios.ForeignRelease)
	require.True(t, threads.Asked)
	require.Equal(t, "a process has several tasks", threads.Why)
	require.Zero(t, threads.UpTo, "the setting allows for no other number")
}

// What holds is extended to any number, or three processes break it; and nothing is said of what is broken, not proved,
// or not asked.
func TestExtend(t *testing.T) {
	t.Parallel()
	rows := all.All()
	for _, c := range []struct {
		id   string
		p    *scenarios.Property
		v    checker.Verdict
		want string
		with int
	}{
		{"ctx/excl/crash", scenarios.MutualExclusion, checker.Holds, "any number of processes and kills", 0},
		{"ctx/excl/contend", scenarios.MutualExclusion, checker.Holds, "any number of processes; nobody is killed", 0},
		{"ctx/excl/crash", scenarios.MutualExclusion, checker.Unknown, "", 0},
		{"ctx/excl/crash", scenarios.Wedge, checker.Broken, "", 0},
		{"gofrs-flock/unlink-after-unlock/contend", scenarios.MutualExclusion, checker.Holds, "", 0}, // with two
		{"proper-lockfile2/claim-by-rename/pair", scenarios.MutualExclusion, checker.Holds, "", 3},
	} {
		at := slices.IndexFunc(rows, func(sc scenarios.Scenario) bool { return sc.ID == c.id })
		require.NotEqual(t, -1, at, c.id)
		r := checker.Result{Scenario: &rows[at], Property: c.p, Verdict: c.v}
		Extend(t.Context(), &rows[at], &r)
		require.Equal(t, c.want, r.AnyNumber, c.id)
		require.Equal(t, c.with, r.BrokenWith, c.id)
	}
}

// The plainest scenario of a subject says nothing of a number: what three processes break is broken. Where somebody has
// said two, two are asked.
func TestContendAsksThree(t *testing.T) {
	t.Parallel()
	const lock = "/run/lock"
	sc := scenarios.Subject{ID: "toy/removed", Lock: scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o644)
			if err != nil {
				return scenarios.Hold{}, err
			}
			return scenarios.Hold{File: f}, f.Flock(fsfake.LOCK_EX)
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			return errors.Join(h.File.Flock(fsfake.LOCK_UN), t.Remove(lock), h.File.Close())
		},
	}}.Contend()
	r, err := checker.Check(t.Context(), &sc, scenarios.MutualExclusion, checker.Options{})
	require.NoError(t, err)
	require.Equal(t, checker.Broken, r.Verdict)
	require.Equal(t, 3, r.Scenario.Setting.Processes)
	sc.More = false
	r, err = checker.Check(t.Context(), &sc, scenarios.MutualExclusion, checker.Options{})
	require.NoError(t, err)
	require.Equal(t, checker.Holds, r.Verdict)
	Extend(t.Context(), &sc, &r)
	require.Equal(t, 3, r.BrokenWith)
}
