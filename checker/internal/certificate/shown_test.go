package certificate_test

import (
	"io/fs"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

const dated = "/tmp/lock"

// looksTwice makes a lock, or looks at it twice and takes it where steals says so.
func looksTwice(steals func(a, b fs.FileInfo) bool) *scenarios.Scenario {
	l := scenarios.Protocol{Path: dated, Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			f, err := t.OpenFile(dated, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
			if err == nil {
				return scenarios.Hold{}, f.Close()
			}
			a, err := t.Stat(dated)
			if err != nil {
				continue
			}
			if b, err := t.Stat(dated); err == nil && steals(a, b) {
				return scenarios.Hold{}, nil
			}
		}
		return scenarios.Hold{}, nil
	}, Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(dated) }}
	return &scenarios.Scenario{ID: "toy/dated/contend", Setting: scenarios.Setting{Processes: 2},
		Program: func(int, int) scenarios.Program { return scenarios.Once(l) },
		Claims:  []scenarios.Claim{{Property: scenarios.MutualExclusion, Verdict: scenarios.Holds}}}
}

// A certificate is of what a program does, also where file times differ by nanoseconds and numbers are large. Those
// here do the same as the one that is proved as long as all times are equal and numbers count from 1.
func TestWhatFilesShow(t *testing.T) {
	t.Parallel()
	never := func(a, b fs.FileInfo) bool {
		return a.Sys().(*fsfake.Stat).Ino == b.Sys().(*fsfake.Stat).Ino && a.ModTime().IsZero()
	}
	text, _ := proof(t, looksTwice(never))
	require.Empty(t, why(looksTwice(never), lines(text)))
	for _, steals := range []func(a, b fs.FileInfo) bool{
		func(a, b fs.FileInfo) bool { return b.ModTime().After(a.ModTime()) },
		func(a, b fs.FileInfo) bool { return b.ModTime().Before(a.ModTime()) },
		func(a, _ fs.FileInfo) bool { return a.Sys().(*fsfake.Stat).Ino > 1000 },
	} {
		require.Contains(t, why(looksTwice(steals), lines(text)), "other times and numbers")
	}
	is := looksTwice(never)
	is.Setting.Assume.Times = scenarios.TimesDiffer
	require.Contains(t, why(is, lines(text)), "time passes")
	sizes := strings.Replace(string(text), `"Sizes":true,`, "", 1)
	require.NotEmpty(t, why(looksTwice(never), lines([]byte(sizes))), "whoever gets all of a file is told its size")
}
