package learn_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/internal/fixtures"
	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// A foreign is a Code of which learn does not know that it is a Go function.
type foreign struct{ learn.Code }

// followed starts a lock that polls, or makes a program of a body.
func followed(t *testing.T, body func(t *scenarios.Task)) learn.Code {
	sc := fixtures.New("toy/polls/contend", fixtures.ExclWait(), scenarios.Setting{Processes: 1})
	if body != nil {
		sc.Program = func(int, int) scenarios.Program { return body }
	}
	code, err := learn.Functions(sc)(0, 1)
	require.NoError(t, err)
	t.Cleanup(code.Stop)
	return code
}

// A guide is asked the same, with the same notes, on the program's goroutine and on that of
// whoever follows; so it is of the program's end, and it goes on where it has stopped.
func TestFollow(t *testing.T) {
	exists, done := fsfake.Result{Errno: fsfake.EEXIST}, fsfake.Result{}
	var all [2][]string
	for i := range all {
		code := followed(t, nil)
		if i == 1 {
			code = foreign{code}
		}
		said := &all[i]
		guide := func(r *fsfake.Result, calls int) func(*fsfake.Op, bool, []any) (*fsfake.Result, error) {
			return func(op *fsfake.Op, more bool, notes []any) (*fsfake.Result, error) {
				*said = append(*said, fmt.Sprintf("%s %+v", learn.Told(*op, more), notes))
				if calls--; calls < 0 || !more {
					return nil, nil
				}
				return r, nil
			}
		}
		require.NoError(t, learn.Follow(code, nil, guide(&exists, 7)))
		*said = append(*said, "more")
		require.NoError(t, learn.Follow(code, &exists, guide(&exists, 7)))
		require.NoError(t, learn.Follow(code, &done, guide(&done, 100)))
		require.Contains(t, (*said)[len(*said)-1], "the end of the program")
	}
	require.Equal(t, all[1], all[0])
	require.Greater(t, len(all[0]), 18)
}

// What a guide finds goes to whoever follows, and so does what it panics with, even where the
// program recovers from everything.
func TestFollowFails(t *testing.T) {
	var recovered any
	body := func(t *scenarios.Task) {
		defer func() { recovered = recover() }()
		_ = t.Mkdir("/a", 0o755)
		_ = t.Mkdir("/b", 0o755)
	}
	code, found := followed(t, body), errors.New("found")
	require.ErrorIs(t, learn.Follow(code, nil, func(*fsfake.Op, bool, []any) (*fsfake.Result, error) { return nil, found }), found)
	code = followed(t, body)
	require.PanicsWithValue(t, "broken", func() {
		_ = learn.Follow(code, nil, func(*fsfake.Op, bool, []any) (*fsfake.Result, error) { panic("broken") })
	})
	require.Nil(t, recovered)

	code = followed(t, func(t *scenarios.Task) { _ = t.Mkdir("/a", 0o755); panic("of the program") })
	require.ErrorContains(t, learn.Follow(code, nil, func(*fsfake.Op, bool, []any) (*fsfake.Result, error) { return &fsfake.Result{}, nil }), "of the program")
}
