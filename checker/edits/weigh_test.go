package edits

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker"
	"lockpick/checker/internal/edit"
	"lockpick/checker/internal/search"
	"lockpick/fsfake"
	"lockpick/internal/race"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

const lock = "/tmp/lock"

// verified is a lock that compares the file that it has locked with the one at the name, written as if by somebody
// who has left out some calls, or swapped the last two.
func verified(left string) scenarios.Protocol {
	without := func(t *scenarios.Task, call string, f func()) {
		if call == left {
			t.Work()
			return
		}
		f()
	}
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := t.OpenFile(lock, os.O_CREATE|os.O_RDWR, 0o644)
				if err != nil {
					return scenarios.Hold{}, err
				}
				without(t, "flock", func() { err = f.Flock(fsfake.LOCK_EX) })
				mine, err := f.Stat()
				if err != nil {
					return scenarios.Hold{}, err
				}
				same := false
				if left == "stat" {
					t.Work()
					same = true
				} else if there, err := t.Stat(lock); err == nil {
					same = fsfake.SameFile(there, mine)
				}
				if same {
					return scenarios.Hold{File: f}, nil
				}
				without(t, "close", func() { _ = f.Close() })
			}
			return scenarios.Hold{}, errors.New("never")
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			if left == "swapped" {
				t.Work()
				err := h.File.Close()
				_ = t.Unlink(lock)
				return err
			}
			without(t, "unlink", func() { _ = t.Unlink(lock) })
			return h.File.Close()
		},
	}
}

func scenario(p scenarios.Protocol, processes int) *scenarios.Scenario {
	sc := scenarios.Subject{ID: "toy/verified", Lock: p}.Contend()
	sc.Setting.Processes, sc.More = processes, false
	return &sc
}

// weigh returns what each change comes to, by its text.
func weigh(t *testing.T, sc *scenarios.Scenario) map[string]Weight {
	t.Helper()
	all := map[string]Weight{}
	_, err := Weigh(t.Context(), sc, checker.Options{}, func(w Weight) {
		require.NotContains(t, all, w.Text+" "+w.Place)
		all[w.Text+" "+w.Place] = w
	})
	require.NoError(t, err)
	return all
}

// one is the change with a text at any place.
func one(t *testing.T, all map[string]Weight, text string) (w Weight) {
	t.Helper()
	for name, each := range all {
		if strings.HasPrefix(name, text+" step") {
			require.Empty(t, w.Text, "two changes are called %q", text)
			w = each
		}
	}
	require.NotEmpty(t, w.Text, "%q is none of %v", text, all)
	return w
}

// seldom skips what takes long under the race detector.
func seldom(t *testing.T) {
	t.Helper()
	if race.Detector {
		t.Skip("SKIPPED under the race detector: TestLooks shares as much; go test ./checker/edits runs it")
	}
}

// What is said of a call left out is what is so of the source without that line, by the same schedule.
func TestLeavingOutIsEditing(t *testing.T) {
	seldom(t)
	for _, processes := range []int{2, 3} {
		if processes == 3 && !testmain.Long() {
			continue
		}
		all := weigh(t, scenario(verified(""), processes))
		broken := 0
		for text, left := range map[string]string{
			"without flock fd 3 LOCK_EX": "flock", "without unlink lock": "unlink", "without stat lock": "stat",
			"close fd 3 before unlink lock": "swapped",
		} {
			want, err := checker.Check(t.Context(), scenario(verified(left), processes), scenarios.MutualExclusion,
				checker.Options{SkipOdds: true})
			require.NoError(t, err)
			got := one(t, all, text)
			if got.Verdict == checker.Unknown {
				require.Contains(t, got.Why, "unlink lock fails then (ENOENT)")
				require.Equal(t, 2, processes, "with three it is broken without that")
				continue
			}
			require.Equal(t, want.Verdict, got.Verdict, "%s, %d processes", text, processes)
			if want.Verdict == checker.Broken {
				broken++
				require.Equal(t, want.Counterexample.Schedule, got.Broken.Counterexample.Schedule, text)
			}
		}
		require.Equal(t, map[int]int{2: 1, 3: 3}[processes], broken)
		require.Contains(t, one(t, all, "without fstat fd 3").With, "stat lock (step 4, weigh_test.go:")
	}
}

// All schedules of each changed protocol, one after the other and with nothing learned, say the same.
func TestBruteForceAgrees(t *testing.T) {
	seldom(t)
	sc := scenario(owned, 2)
	sites, held, err := sitesOf(t.Context(), sc, checker.Options{})
	require.NoError(t, err)
	verdicts := map[checker.Verdict]int{}
	agree := func(e *edit.Edit) {
		w := decide(t.Context(), sc, held, e, checker.Options{})
		changed := edit.Through(*sc, e.Change)
		tester, err := search.NewTester(&changed, scenarios.MutualExclusion)
		require.NoError(t, err)
		runs, first, err := tester.SearchAll(t.Context(), 100_000, false)
		require.NoError(t, err)
		require.Equal(t, w.Broken != nil, first != nil, e.Text)
		require.True(t, runs.Complete || first != nil, e.Text)
		verdicts[w.Verdict]++
	}
	for _, s := range sites {
		for _, e := range s.Without() {
			agree(e)
		}
		for _, next := range s.Next() {
			if e := s.Swapped(next); e != nil {
				agree(e)
			}
		}
	}
	require.Equal(t, map[checker.Verdict]int{checker.Broken: 2, checker.Holds: 9}, verdicts)
}

// owned looks for its file, creates it with its pid, and removes it if the pid is its own.
var owned = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		if _, err := t.Stat(lock); err == nil {
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		f, err := t.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return scenarios.Hold{}, scenarios.ErrLocked
		}
		_, err = fmt.Fprint(f, t.Getpid())
		return scenarios.Hold{}, errors.Join(err, f.Close())
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error {
		text, err := t.ReadFile(lock)
		if err == nil && string(text) == fmt.Sprint(t.Getpid()) {
			return t.Unlink(lock)
		}
		return err
	},
}

// A look that is taken for granted is asked with each answer that it ever had; the whole text of a file is one.
func TestLooks(t *testing.T) {
	all := weigh(t, scenario(owned, 2))
	look := one(t, all, "without stat lock")
	require.Equal(t, checker.Holds, look.Verdict, "nobody acquires when it always succeeds, which says nothing")
	require.Equal(t, "fail with ENOENT", look.Answer)
	read := one(t, all, "without read fd 3")
	require.Equal(t, checker.Holds, read.Verdict, "the text is one's own, and then the file has been read: %v", read)
	excl := one(t, all, "without O_EXCL of open lock O_WRONLY|O_CREAT|O_EXCL")
	require.Equal(t, "A1 B4 A3", excl.Broken.Counterexample.Schedule.String())
}

// What does not hold has nothing that carries it, and commands have no calls that could be changed.
func TestNothingToWeigh(t *testing.T) {
	see := func(Weight) {}
	_, err := Weigh(t.Context(), scenario(verified("stat"), 3), checker.Options{}, see)
	require.ErrorIs(t, err, ErrBroken)
	sc := scenario(verified(""), 2)
	sc.Claims[0].Verdict = scenarios.Broken
	_, err = Weigh(t.Context(), sc, checker.Options{}, see)
	require.ErrorIs(t, err, ErrBroken)
	_, err = Weigh(t.Context(), scenario(verified(""), 2), checker.Options{States: 5}, see)
	require.ErrorIs(t, err, ErrUnknown)
	sc.External = true
	_, err = Weigh(t.Context(), sc, checker.Options{}, see)
	require.ErrorContains(t, err, "only the calls of protocols in Go")
}
