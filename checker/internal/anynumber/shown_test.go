package anynumber

import (
	"io/fs"
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// create makes the lock. Where it is there, steals says of two looks at it whether it is taken all the same.
func create(steals func(t *scenarios.Task, a, b fs.FileInfo) bool) func(*scenarios.Task) bool {
	return func(t *scenarios.Task) bool {
		f, err := t.OpenFile(lockAt, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
		if err == nil {
			_, _ = f.Write([]byte("x"))
			return f.Close() == nil
		}
		a, err := t.Stat(lockAt)
		if err != nil {
			return false
		}
		b, err := t.Stat(lockAt)
		return err == nil && steals(t, a, b)
	}
}

func stat(i fs.FileInfo) *fsfake.Stat { return i.Sys().(*fsfake.Stat) }

// Programs may look how old a file is, and compare numbers and link counts. What goes by nanoseconds, or by which
// number is larger, is refused: in the configurations of a search all times are equal and all numbers small.
func TestWhatFilesShow(t *testing.T) {
	for _, c := range []struct {
		name, why string
		steals    func(t *scenarios.Task, a, b fs.FileInfo) bool
	}{
		{"age", "", func(t *scenarios.Task, a, _ fs.FileInfo) bool { return t.Now().Sub(a.ModTime()) > time.Hour }},
		{"age of nanoseconds", "times differ", func(t *scenarios.Task, a, _ fs.FileInfo) bool {
			return t.Now().After(a.ModTime())
		}},
		{"changed since", "times differ", func(_ *scenarios.Task, a, b fs.FileInfo) bool {
			return !a.ModTime().Equal(b.ModTime())
		}},
		{"older than before", "times differ", func(_ *scenarios.Task, a, b fs.FileInfo) bool {
			return b.ModTime().Before(a.ModTime())
		}},
		{"time passes", "time passes", func(t *scenarios.Task, a, _ fs.FileInfo) bool {
			t.Sleep(time.Second)
			return t.Now().Sub(a.ModTime()) > time.Hour
		}},
		{"one of the numbers", "", func(_ *scenarios.Task, a, b fs.FileInfo) bool {
			return stat(a).Ino != stat(b).Ino && stat(a).Nlink > 1
		}},
		{"a large number", "inode numbers", func(_ *scenarios.Task, a, _ fs.FileInfo) bool { return stat(a).Ino > 1000 }},
		{"order of numbers", "inode numbers", func(_ *scenarios.Task, a, b fs.FileInfo) bool {
			return stat(a).Ino > stat(b).Ino
		}},
		{"an empty file", "spurious", func(_ *scenarios.Task, a, _ fs.FileInfo) bool { return stat(a).Size == 0 }},
		{"no links", "", func(_ *scenarios.Task, a, _ fs.FileInfo) bool { return stat(a).Nlink == 0 }},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := protocolCase{name: c.name, once: true, lock: named(create(c.steals))}
			why := notProved(t, p.scenario())
			if c.why == "" {
				require.Empty(t, why)
				return
			}
			require.Contains(t, why, c.why)
		})
	}
}

// Where the setting has changes differ in their times, the clock moves.
func TestTimesThatDiffer(t *testing.T) {
	p := protocolCase{name: "age", lock: named(create(func(t *scenarios.Task, a, _ fs.FileInfo) bool {
		return t.Now().Sub(a.ModTime()) > time.Hour
	}))}
	sc := p.scenario()
	sc.Setting.Assume.Times = scenarios.TimesDiffer
	require.Contains(t, notProved(t, sc), "changes differ")
}

// notProved is why mutual exclusion is not proved; empty where it is.
func notProved(t *testing.T, sc *scenarios.Scenario) string {
	for _, how := range Hows()[:3] {
		s, err := New(sc)
		require.NoError(t, err)
		_, out, err := s.Prove(t.Context(), scenarios.MutualExclusion, how, budget)
		if err != nil {
			require.ErrorAs(t, err, new(Refused))
			return err.Error()
		}
		if out == Proved {
			return ""
		}
	}
	return "spurious"
}
