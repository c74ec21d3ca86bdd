package checker

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/search"
	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
	"lockpick/scenarios/openclawtakeover"
)

// pidLock is a lock drawn from a seed, whose owner leaves its pid in a file, in the target of a symlink, or in the name of a
// file that it prepares. Those who find one look whether its owner is alive, or is themselves, and may take it away.
func pidLock(seed uint64) scenarios.Protocol {
	const aside, prepared = fixtures.Lock + ".2", fixtures.Lock + ".new."
	rng := rand.New(rand.NewPCG(seed, 0))
	var steps []int
	for range 3 + rng.IntN(3) {
		steps = append(steps, []int{0, 1, 2, 3, 4, 4, 4, 5, 6, 7, 8}[rng.IntN(11)])
	}
	if seed >= namedPids {
		steps = append([]int{9}, steps[2:]...)
		for i := range 2 {
			steps = slices.Insert(steps, 1+i+rng.IntN(len(steps)-i), []int{10, 11, 12, 12, 13, 14, 15, 16}[rng.IntN(8)])
		}
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
				case 9:
					_ = t.WriteFile(prepared+me, []byte("pid "+me+"\n"), 0o644)
				case 10:
					err = t.Link(prepared+me, fixtures.Lock)
				case 11:
					err = t.Rename2(prepared+me, fixtures.Lock, fsfake.RENAME_NOREPLACE)
				case 12: // who waits beside it
					names, _ := t.ReadDir(path.Dir(prepared))
					others := slices.DeleteFunc(names, func(name string) bool {
						return !strings.HasPrefix(name, path.Base(prepared)) || strings.HasSuffix(name, me)
					})
					if seen = ""; len(others) == 1 {
						seen = others[0][len(path.Base(prepared)):]
					}
				case 13:
					_ = t.Unlink(prepared + seen)
				case 14:
					_ = t.Symlink(prepared+me, fixtures.Lock)
				case 15:
					if f, tempErr := t.CreateTemp(path.Dir(prepared), path.Base(prepared)); tempErr == nil {
						err = t.Link(f.Name(), fixtures.Lock)
						_ = f.Close()
					}
				case 16: // is the lock its own
					there, errA := t.Stat(fixtures.Lock)
					mine, errB := t.Stat(prepared + me)
					if errA == nil && errB == nil && fsfake.SameFile(there, mine) {
						err = nil
					}
				}
			}
			return scenarios.Hold{}, err
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(fixtures.Lock) },
	}
}

// namedPids is the first seed of a lock with files that are named after pids.
const namedPids = 100

// Processes that know pids are taken for each other with the pids renamed: the reduced space is exactly the unreduced
// one with its renamings put together, and says the same.
func TestSymmetryWithPids(t *testing.T) {
	testmain.Slow(t, "it explores the spaces of drawn locks whole and reduced", "./checker")
	fixtures.OneWorker(t)
	t.Parallel()
	verdicts, named, most := map[Verdict]int{}, map[Verdict]int{}, testmain.Many(1500, 1500, 4000)
	for i := range uint64(28) {
		seed := i/2 + i%2*namedPids
		setting := scenarios.Setting{Processes: 2 + int(seed%2), Crashes: int(seed / 2 % 2), Interchangeable: true}
		sc := fixtures.New(fmt.Sprint("toy/pids-", seed, "/symmetry"), pidLock(seed), setting, scenarios.Claim{Property: scenarios.MutualExclusion})
		for _, p := range []*scenarios.Property{scenarios.MutualExclusion, scenarios.Deadlock} {
			if !areOrbitsWithPids(t, sc, p, seed%3 == 0, most) {
				continue
			}
			if _, err := Check(t.Context(), sc, p, Options{Workers: 1}); errors.Is(err, ErrNothingToJudge) {
				continue
			}
			is := saysTheSame(t, sc, p)
			if verdicts[is]++; seed >= namedPids {
				named[is]++
			}
		}
	}
	t.Log(verdicts, named)
	require.Greater(t, verdicts[Holds], 3)
	require.Greater(t, verdicts[Broken], 1)
	require.Greater(t, named[Holds], 2)
	require.NotZero(t, named[Broken])
}

// The rows of a lock whose owner prepares a file named after its pid are so, too.
func TestSymmetryWithPidsOfRows(t *testing.T) {
	testmain.Slow(t, "it explores spaces whole and reduced", "./checker")
	fixtures.OneWorker(t)
	t.Parallel()
	compared := 0
	for _, sc := range openclawtakeover.Scenarios() {
		sc.Setting.Processes = 2
		if areOrbitsWithPids(t, &sc, scenarios.MutualExclusion, true, 4000) {
			compared++
		}
	}
	require.Equal(t, 6, compared)
}

// areOrbitsWithPids compares a space whole and up to symmetry, where it has at most so many states.
func areOrbitsWithPids(
	t *testing.T, sc *scenarios.Scenario, p *scenarios.Property, monitors bool, states int,
) (small bool) {
	x, err := search.NewExplorer(sc, p)
	require.NoError(t, err)
	require.NoError(t, x.SymmetricWithPids())
	x.Believes = true
	if monitors {
		x.RememberMonitors()
	}
	x.Reduce = false
	full, err := x.Explore(t.Context(), search.Limits{Workers: 1, States: states}, x.Initial)
	require.NoError(t, err, sc.ID)
	if !full.Complete {
		return false
	}
	x.Reduce = true
	less, err := x.Explore(t.Context(), search.Limits{Workers: 1}, x.Initial)
	require.NoError(t, err)
	areOrbits(t, x, full, less)
	require.Less(t, less.States.Len(), full.States.Len())
	return true
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
		"part of a number": {"process B calls", func(t *scenarios.Task) { _ = t.WriteFile("/tmp/1"+strconv.Itoa(t.Getpid()), nil, 0o644) }},
		"half a name":      {"process B calls", func(t *scenarios.Task) { _ = t.WriteFile("/tmp/x"+strconv.Itoa(t.Getpid())[2:], nil, 0o644) }},
		"first of a listing": {"process B calls", func(t *scenarios.Task) {
			_ = t.WriteFile("/tmp/"+strconv.Itoa(t.Getpid()), nil, 0o644)
			names, _ := t.ReadDir("/tmp")
			_ = t.Unlink("/tmp/" + names[0])
		}},
		"order of a listing": {"on results that are the same but for the names", func(t *scenarios.Task) {
			_ = t.WriteFile("/tmp/"+strconv.Itoa(t.Getpid()), nil, 0o644)
			names, _ := t.ReadDir("/tmp")
			_ = slices.Index(names, strconv.Itoa(t.Getpid())) > 0 && t.Unlink("/x") == nil
		}},
		"lock": {"process B calls", func(t *scenarios.Task) {
			_, _ = t.Acquire("/tmp/x"+strconv.Itoa(t.Getpid()), func() (scenarios.Hold, error) { t.Work(); return scenarios.Hold{}, nil })
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
