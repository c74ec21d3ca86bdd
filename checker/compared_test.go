package checker

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/internal/testmain"
	"lockpick/scenarios"
)

// inOneCase decides an assertion where numbers never come back.
func inOneCase(t *testing.T, sc *scenarios.Scenario, o Options) Result {
	t.Helper()
	sc.Setting.Assume.Inodes = scenarios.InodesNotReused
	r, err := Check(t.Context(), sc, scenarios.Assertion, o)
	require.NoError(t, err)
	return r
}

// A loop that makes a file in each round and compares it with another has an end where numbers never
// come back: what is only compared is forgotten. Before, each round had a number of its own.
func TestComparedNumbersAreForgotten(t *testing.T) {
	polls := func(t *scenarios.Task) {
		for retry := t.Retry(); retry.Next(); {
			_ = t.WriteFile("/mine."+t.Process, nil, 0o644)
			mine, err1 := t.Stat("/mine." + t.Process)
			lock, err2 := t.Stat("/lock")
			_ = t.Unlink("/mine." + t.Process)
			if errors.Join(err1, err2) == nil {
				t.Assert(!fsfake.SameFile(mine, lock), "a new file is another one than the lock")
			}
			if errors.Is(err2, fs.ErrNotExist) {
				return
			}
		}
	}
	sc := looking("polls", scenarios.Assertion, Holds, scenarios.Assumptions{}, polls, func(t *scenarios.Task) { _ = t.Unlink("/lock") })
	r := inOneCase(t, sc, Options{States: 5000})
	require.Equal(t, Holds, r.Verdict, r.Why)
	require.Equal(t, fsfake.InodesCanonical, r.Scenario.Setting.Machine.InodeNumbers)
}

// A number that is written down is compared with another process's: there each file has its own for good,
// and two files that two processes see first are not one.
func TestNumbersThatAreWrittenDown(t *testing.T) {
	testmain.Slow(t, "it asks every engine about numbers", "./checker")
	t.Parallel()
	tells := func(t *scenarios.Task) {
		_ = t.WriteFile("/mine."+t.Process, nil, 0o644)
		if mine, err := t.Stat("/mine." + t.Process); err == nil {
			_ = t.WriteFile("/number", fmt.Append(nil, mine.Sys().(*fsfake.Stat).Ino), 0o644)
		}
	}
	reads := func(t *scenarios.Task) {
		_ = t.WriteFile("/mine."+t.Process, nil, 0o644)
		text, err1 := t.ReadFile("/number")
		mine, err2 := t.Stat("/mine." + t.Process)
		if errors.Join(err1, err2) == nil {
			t.Assert(string(text) != fmt.Sprint(mine.Sys().(*fsfake.Stat).Ino), "two files have two numbers")
		}
	}
	for _, engine := range engines(t) {
		o := Options{oracle: engine}
		r := inOneCase(t, looking("told", scenarios.Assertion, Holds, scenarios.Assumptions{}, tells, reads), o)
		require.Equal(t, Holds, r.Verdict, r.Why)
	}
}

// Whoever makes a call as data looks at all that it answers. Before, neither numbers nor times were
// known to be looked at, and the verdict was that of one case.
func TestCallsAsDataLook(t *testing.T) {
	ino := func(t *scenarios.Task) uint64 {
		return t.Do(fsfake.Op{Call: fsfake.CallStat, Path: "/lock"}).Stat.Ino
	}
	again := func(t *scenarios.Task) {
		was := ino(t)
		err1 := t.Unlink("/lock")
		f, err2 := t.OpenFile("/lock", os.O_CREATE|os.O_WRONLY, 0o600)
		is := ino(t)
		t.Assert(errors.Join(err1, err2) == nil && f != nil && was != is, "a new file has a new number")
	}
	r, err := Check(t.Context(), looking("data", scenarios.Assertion, Broken, reused, again), scenarios.Assertion, Options{})
	require.NoError(t, err)
	require.Equal(t, Broken, r.Verdict)
	require.NotEmpty(t, r.Cases)
}
