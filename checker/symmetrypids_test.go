package checker

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/search"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// pidLock is a lock drawn from a seed, whose owner leaves its pid in a file or in the target of a symlink. Those who
// find one look whether its owner is alive, or is themselves, and may take it away.
func pidLock(seed uint64) scenarios.Protocol {
	const aside = fixtures.Lock + ".2"
	rng := rand.New(rand.NewPCG(seed, 0))
	var steps []int
	for range 3 + rng.IntN(3) {
		steps = append(steps, []int{0, 1, 2, 3, 4, 4, 4, 5, 6, 7, 8}[rng.IntN(11)])
	}
	steps = append(steps, rng.IntN(2))
	number := func(text string) int {
		n, _ := strconv.Atoi(text)
		return n
	}
	return scenarios.Protocol{
		Path: fixtures.Lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			me, seen := strconv.Itoa(t.Getpid()), ""
			err := io.EOF
			for _, step := range steps {
				switch step {
				case 0:
					var f *fsfake.File
					if f, err = t.OpenFile(fixtures.Lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644); err == nil {
						_, _ = f.WriteString("pid " + me + "\n")
						_ = f.Close()
					}
				case 1:
					err = t.Symlink(me, fixtures.Lock)
				case 2:
					seen, _ = t.Readlink(fixtures.Lock)
				case 3:
					text, _ := t.ReadFile(fixtures.Lock)
					_, _ = fmt.Sscanf(string(text), "pid %s\n", &seen)
				case 4:
					if seen == "" || t.Kill(number(seen)) != nil {
						_ = t.Unlink(fixtures.Lock)
					}
				case 5:
					if seen == me {
						err = nil
					}
				case 6:
					_ = t.Symlink(me, aside)
				case 7:
					seen, _ = t.Readlink(aside)
				case 8:
					if seen != "" && seen != me {
						_ = t.Unlink(aside)
					}
				}
			}
			return scenarios.Hold{}, err
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(fixtures.Lock) },
	}
}

// Processes that know pids are taken for each other with the pids renamed: the reduced space is exactly the unreduced
// one with its renamings put together, and says the same.
func TestSymmetryWithPids(t *testing.T) {
	testmain.Slow(t, "it explores the spaces of drawn locks whole and reduced", "./checker")
	fixtures.OneWorker(t)
	t.Parallel()
	verdicts := map[Verdict]int{}
	orbits := 0
	for seed := range uint64(14) {
		setting := scenarios.Setting{Processes: 2 + int(seed%2), Crashes: int(seed / 2 % 2), Interchangeable: true}
		sc := fixtures.New(fmt.Sprint("toy/pids-", seed, "/symmetry"), pidLock(seed), setting, scenarios.Claim{Property: scenarios.MutualExclusion})
		for _, p := range []*scenarios.Property{scenarios.MutualExclusion, scenarios.Deadlock} {
			x, err := search.NewExplorer(sc, p)
			require.NoError(t, err)
			require.NoError(t, x.SymmetricWithPids())
			x.Believes = true
			if seed%3 == 0 {
				x.RememberMonitors()
			}
			x.Reduce = false
			full, err := x.Explore(t.Context(), search.Limits{Workers: 1, States: 1500}, x.Initial)
			require.NoError(t, err, "%d", seed)
			if !full.Complete {
				continue
			}
			x.Reduce = true
			less, err := x.Explore(t.Context(), search.Limits{Workers: 1}, x.Initial)
			require.NoError(t, err)
			areOrbits(t, x, full, less)
			require.Less(t, less.States.Len(), full.States.Len())
			orbits++
			if _, err := Check(t.Context(), sc, p, Options{Workers: 1}); errors.Is(err, ErrNothingToJudge) {
				continue
			}
			verdicts[saysTheSame(t, sc, p)]++
		}
	}
	t.Log(orbits, verdicts)
	require.Greater(t, verdicts[Holds], 3)
	require.Greater(t, verdicts[Broken], 1)
}

// What makes more of pids than names that are as good as others is refused.
func TestSymmetryWithPidsIsVerified(t *testing.T) {
	fixtures.OnlyAnswers(t)
	read := func(t *scenarios.Task, from int64, n int) string {
		f, err := t.Open("/tmp/x")
		if err != nil {
			return ""
		}
		_, _ = f.Seek(from, io.SeekStart)
		text := make([]byte, n)
		n, _ = f.Read(text)
		return string(text[:max(n, 0)])
	}
	leave := func(t *scenarios.Task) string {
		me := strconv.Itoa(t.Getpid())
		_ = t.WriteFile("/tmp/x", []byte(me), 0o644)
		return me
	}
	for name, c := range map[string]struct {
		why     string
		program func(t *scenarios.Task)
	}{
		"parity": {"process B calls", func(t *scenarios.Task) { _ = t.Getpid()%2 == 0 && t.Unlink("/x") == nil }},
		"order":  {"on results that are the same but for the names", func(t *scenarios.Task) { me := leave(t); _ = read(t, 0, 8) < me && t.Unlink("/x") == nil }},
		"constant": {"process B calls", func(t *scenarios.Task) {
			leave(t)
			_ = read(t, 0, 8) == strconv.Itoa(scenarios.Pid(0)) && t.Unlink("/x") == nil
		}},
		"part": {"read fd 3 of process A tells pids apart", func(t *scenarios.Task) { leave(t); read(t, 2, 1) }},
		"behind": {"write fd 3 \"101\" of process A tells pids apart", func(t *scenarios.Task) {
			leave(t)
			f, _ := t.OpenFile("/tmp/x", os.O_WRONLY|os.O_APPEND, 0)
			_, _ = f.WriteString(strconv.Itoa(t.Getpid()))
		}},
		"name": {"shows a pid to others", func(t *scenarios.Task) { _ = t.WriteFile("/tmp/x"+strconv.Itoa(t.Getpid()), nil, 0o644) }},
		"followed": {"a file is named after a pid", func(t *scenarios.Task) {
			_ = t.Symlink(strconv.Itoa(t.Getpid()), "/tmp/x")
			_ = t.WriteFile("/tmp/x", nil, 0o644)
		}},
		"kill":  {"process B calls", func(t *scenarios.Task) { _ = t.Kill(scenarios.Pid(0)) }},
		"start": {"shows a pid to others", func(t *scenarios.Task) { _, _ = t.StartTime(t.Getpid()) }},
		"cell":  {"shows a pid to others", func(t *scenarios.Task) { fsfake.Cell[int]{Name: "x"}.Store(t.Proc, t.Getpid()) }},
		"record lock": {"shows a pid to others", func(t *scenarios.Task) {
			leave(t)
			f, _ := t.OpenFile("/tmp/x", os.O_RDWR, 0)
			_ = f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, false)
		}},
	} {
		sc := &scenarios.Scenario{
			ID: "toy/unlike/contend", Setting: scenarios.Setting{Processes: 3, Interchangeable: true},
			Program: func(int, int) scenarios.Program { return c.program },
			Claims:  []scenarios.Claim{{Property: scenarios.Deadlock}},
		}
		_, err := Check(t.Context(), sc, scenarios.Deadlock, Options{Symmetry: true, Workers: 1})
		require.ErrorContains(t, err, "the processes are not interchangeable with their pids renamed", name)
		require.ErrorContains(t, err, c.why, name)
		r, err := Check(t.Context(), sc, scenarios.Deadlock, Options{Workers: 1, changes: changes{monitors: 1}})
		require.NoError(t, err, "who does not ask for symmetry is told nothing of it")
		require.Equal(t, Holds, r.Verdict, name)
		require.False(t, r.Stats.Symmetry, name)
	}
}
