package learn_test

import (
	"io/fs"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// shows learns a program that looks at three files, of which judge then makes up its mind, and
// which goes on accordingly.
func shows(t *testing.T, judge func(a, b, c fs.FileInfo) bool) (*learn.Automaton, func(fsfake.Result) *fsfake.Result) {
	sc := fixtures.New("toy/shows/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 1})
	sc.Program = func(int, int) scenarios.Program {
		return func(t *scenarios.Task) {
			var seen [3]fs.FileInfo
			for i := range seen {
				seen[i], _ = t.Stat("/x")
			}
			if judge(seen[0], seen[1], seen[2]) {
				_ = t.Unlink("/x")
			}
			_ = t.Mkdir("/y", 0o755)
		}
	}
	results := map[fsfake.Result]*fsfake.Result{}
	a, err := learn.New(sc, learn.Functions(sc), 0, 1)
	require.NoError(t, err)
	a.Intern = func(r fsfake.Result) *fsfake.Result {
		if results[r] == nil {
			results[r] = &r
		}
		return results[r]
	}
	return a, a.Intern
}

// run lets the program look at files, under the numbers that a machine gives them which forgets what it
// is told to.
func run(a *learn.Automaton, intern func(fsfake.Result) *fsfake.Result, files ...int) error {
	numbers := map[uint64]int{}
	for at := a.First(); at != learn.Ended; {
		var r fsfake.Result
		if len(files) > 0 {
			free := uint64(0)
			for n := uint64(4); n > 0; n-- {
				if f, taken := numbers[n]; taken && f == files[0] {
					r.Stat.Ino = n
				} else if !taken {
					free = n
				}
			}
			if r.Stat.Ino == 0 {
				r.Stat.Ino = free
			}
			numbers[r.Stat.Ino], files = files[0], files[1:]
		}
		e, err := a.Learn(at, intern(r))
		if err != nil {
			return err
		}
		if keep, fewer := a.Forgets(at, intern(r), &e); fewer {
			for n := range uint64(4) {
				if keep>>n&1 == 0 {
					delete(numbers, n+1)
				}
			}
		}
		at = e.To &^ learn.Begun
	}
	return nil
}

// Which numbers are dead is guessed from what was met; a number that is needed all the same is
// noticed, in each way of looking at it again.
func TestDeadNumbers(t *testing.T) {
	first := func(a, b, c fs.FileInfo) bool { return !fsfake.SameFile(b, c) && fsfake.SameFile(a, c) }
	for _, c := range []struct {
		name    string
		judge   func(a, b, c fs.FileInfo) bool
		met     [][]int // the files that are looked at
		forgets bool
		unseen  []int // what the guess is wrong about, nil where it is right
	}{
		{"none is compared", func(_, _, _ fs.FileInfo) bool { return true }, [][]int{{1, 2, 3}, {1, 1, 2}}, true, nil},
		{"the last two", func(_, b, c fs.FileInfo) bool { return fsfake.SameFile(b, c) }, [][]int{{1, 2, 3}, {1, 2, 2}, {1, 1, 2}, {1, 2, 1}, {1, 1, 1}}, true, nil},
		{"the first and the last", first, [][]int{{1, 2, 3}, {1, 2, 2}, {1, 2, 1}}, true, nil},
		{"an old file that has not come", first, [][]int{{1, 2, 3}, {1, 2, 2}}, true, []int{1, 2, 1}},
		{"a new file that has not come", first, [][]int{{1, 2, 1}, {1, 2, 2}}, true, []int{1, 2, 3}},
		{"a number is told", func(a, _, _ fs.FileInfo) bool { return a.Sys().(*fsfake.Stat).Ino == 7 }, [][]int{{1, 2, 3}, {1, 2, 2}, {1, 2, 1}, {1, 1, 2}, {1, 1, 1}}, false, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			a, intern := shows(t, c.judge)
			defer a.Close()
			for _, files := range c.met {
				require.NoError(t, run(a, intern, files...))
			}
			var is learn.Merging
			for edges := -1; ; { // until the guess leads to nothing new
				is = a.Merge(true)
				for _, files := range c.met {
					require.NoError(t, run(a, intern, files...))
				}
				if _, now := a.Counts(); now == edges {
					break
				} else {
					edges = now
				}
			}
			require.Equal(t, c.forgets, is.Forgets)
			a.Unfold(true)
			for _, files := range c.met {
				require.NoError(t, run(a, intern, files...), "what was met is as it was")
			}
			if c.unseen != nil {
				require.ErrorIs(t, run(a, intern, c.unseen...), learn.ErrMerged)
			}
			a.Unfold(false)
			closed, err := a.CloseTable(t.Context(), 1000)
			if c.unseen != nil {
				require.ErrorIs(t, err, learn.ErrMerged)
				return
			}
			require.NoError(t, err)
			require.True(t, closed)
		})
	}
}
