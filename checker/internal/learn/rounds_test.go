package learn_test

import (
	"io/fs"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A writer writes the same piece again and again, and never sleeps.
type writer struct{}

func (writer) Next() (fsfake.Op, bool, []any, error) {
	return fsfake.Op{Call: fsfake.CallWrite, FD: 3, Data: "piece"}, true, nil, nil
}
func (writer) Answer(fsfake.Result) error { return nil }
func (writer) Stop()                      {}

// A long text that is written in equal pieces is learned piece by piece: no piece is the top of a round. It is
// learned in less than a second, and would not be within the time limit of tests if all lengths of rounds were
// compared at each piece.
func TestLongTexts(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	sc := fixtures.New("toy/writes/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 1})
	sc.External = true
	a, err := learn.New(sc, func(int, int) (learn.Code, error) { return writer{}, nil }, 0, 1)
	require.NoError(t, err)
	const pieces = 16_000
	at, written := a.First(), &fsfake.Result{N: 5}
	for range pieces {
		e, err := a.Learn(at, written)
		require.NoError(t, err)
		require.NotEqual(t, at, e.To)
		require.False(t, e.Back)
		at = e.To
	}
}

// A looper makes the same call so many times; 0 is for ever.
type looper struct {
	op         fsfake.Op
	most, made int
}

func (l *looper) Next() (fsfake.Op, bool, []any, error) {
	return l.op, l.most == 0 || l.made < l.most, nil, nil
}

func (l *looper) Answer(fsfake.Result) error {
	l.made++
	return nil
}
func (l *looper) Stop() {}

// A loop that does not sleep is endless where it waits for another. One that gives up is tried once, and one that
// looks at a directory again and again, as an interpreter does for each module, is none.
func TestBusyLoops(t *testing.T) {
	fixtures.OneWorker(t)
	t.Parallel()
	for _, c := range []struct {
		name   string
		op     fsfake.Op
		most   int
		result fsfake.Result
		back   bool
		starts int
	}{
		{"a name that is taken", fsfake.Op{Call: fsfake.CallMkdir, Path: "l"}, 0,
			fsfake.Result{Errno: syscall.EEXIST}, true, 1},
		{"a name that is taken, for a while", fsfake.Op{Call: fsfake.CallMkdir, Path: "l"}, 90,
			fsfake.Result{Errno: syscall.EEXIST}, false, 2},
		{"a directory", fsfake.Op{Call: fsfake.CallStat, Path: "."}, 0,
			fsfake.Result{Stat: fsfake.Stat{Nlink: 2, Mode: fs.ModeDir}}, false, 1},
		{"a text in pieces", fsfake.Op{Call: fsfake.CallRead, FD: 3}, 0, fsfake.Result{N: 4096}, false, 1},
	} {
		sc := fixtures.New("toy/loops/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 1})
		sc.External = true
		starts := 0
		a, err := learn.New(sc, func(int, int) (learn.Code, error) {
			starts++
			return &looper{op: c.op, most: c.most}, nil
		}, 0, 1)
		require.NoError(t, err, c.name)
		at, back := a.First(), false
		for n := 0; n < 80 && !back; n++ {
			e, err := a.Learn(at, &c.result)
			require.NoError(t, err, c.name)
			at, back = e.To, e.Back
		}
		require.Equal(t, c.back, back, c.name)
		require.Equal(t, c.starts, starts, c.name)
	}
}
