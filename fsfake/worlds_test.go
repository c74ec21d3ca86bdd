package fsfake

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What differs between file systems in what stat(2) shows: whether the number of a file that
// has gone comes back, and whether a change shows in a file's times.

func world(o Options) (*Machine, *Proc, *Proc) {
	m := New(o)
	m.AddProc(ProcSpec{Pid: 101})
	m.AddProc(ProcSpec{Pid: 102})
	return m, m.Proc(101), m.Proc(102)
}

func number(t *testing.T, p *Proc, name string) uint64 {
	fi, err := p.Stat(name)
	require.NoError(t, err)
	return fi.Sys().(*Stat).Ino
}

func TestNumbersComeBack(t *testing.T) {
	for policy, back := range map[InodePolicy]bool{InodesCanonical: false, InodesReuse: true, InodesUnique: false, InodesFirstSeen: false} {
		_, a, b := world(Options{InodeNumbers: policy})
		require.NoError(t, a.WriteFile("/lock", nil, 0o644))
		was := number(t, a, "/lock")
		require.NoError(t, a.Unlink("/lock"))
		require.NoError(t, b.WriteFile("/lock", nil, 0o644))
		require.Equal(t, back, number(t, a, "/lock") == was, "policy %d", policy)

		// An open file keeps its number to itself.
		f, err := a.Open("/lock")
		require.NoError(t, err)
		was = number(t, a, "/lock")
		require.NoError(t, a.Unlink("/lock"))
		require.NoError(t, b.WriteFile("/lock", nil, 0o644))
		require.NotEqual(t, was, number(t, a, "/lock"), "policy %d", policy)
		require.NoError(t, f.Close())
	}
}

// A number that one process tells another means the same file to it.
func TestNumbersMeanTheSameToAll(t *testing.T) {
	for policy, same := range map[InodePolicy]bool{InodesCanonical: false, InodesReuse: true, InodesUnique: true, InodesFirstSeen: true} {
		_, a, b := world(Options{InodeNumbers: policy})
		require.NoError(t, a.WriteFile("/x", nil, 0o644))
		require.NoError(t, a.WriteFile("/y", nil, 0o644))
		number(t, a, "/x")
		require.Equal(t, same, number(t, a, "/y") == number(t, b, "/y"), "policy %d", policy)
	}
}

// Files that nobody asks about make no difference to a machine with InodesFirstSeen.
func TestUnseenFilesHaveNoNumber(t *testing.T) {
	m, a, _ := world(Options{InodeNumbers: InodesFirstSeen})
	o, b, _ := world(Options{InodeNumbers: InodesFirstSeen})
	require.NoError(t, b.WriteFile("/gone", nil, 0o644))
	require.NoError(t, b.Unlink("/gone"))
	for _, p := range []*Proc{a, b} {
		require.NoError(t, p.WriteFile("/f", nil, 0o644))
		require.Equal(t, uint64(1), number(t, p, "/f"))
	}
	require.Equal(t, string(m.AppendKey(nil)), string(o.AppendKey(nil)))
	number(t, a, "/")
	require.NotEqual(t, string(m.AppendKey(nil)), string(o.AppendKey(nil)))
}

// Who looked at a file sees in its times that it has been changed since, on kernels with
// multigrain timestamps; who did not, and whoever compares two files, may see nothing.
func TestChangesShowInTimes(t *testing.T) {
	mtime := func(p *Proc, name string) time.Time {
		fi, err := p.Stat(name)
		require.NoError(t, err)
		return fi.ModTime()
	}
	for policy, shows := range map[TimePolicy]bool{TimesCoarse: false, TimesMultigrain: true} {
		m, a, b := world(Options{FileTimes: policy})
		require.NoError(t, a.WriteFile("/f", []byte("1"), 0o644))
		require.NoError(t, a.WriteFile("/g", []byte("1"), 0o644))
		was := mtime(a, "/f")
		require.NoError(t, b.WriteFile("/f", []byte("2"), 0o644))
		now := mtime(a, "/f")
		require.Equal(t, shows, now.After(was))
		require.Equal(t, now, mtime(a, "/f"), "nobody changed it")
		require.False(t, now.After(m.Now()), "not in the future")

		// Nobody looked at g: its change has the time of the last.
		require.NoError(t, b.WriteFile("/g", []byte("2"), 0o644))
		require.Equal(t, now, mtime(b, "/g"))

		// To ask for the size alone is a look, too.
		before := m.Now()
		_, err := a.ReadFile("/f")
		require.NoError(t, err)
		require.NoError(t, a.Chmod("/f", 0o600))
		require.Equal(t, shows, m.Now().After(before))
	}
}

// What is shown is told with the answer, and what a Go program looks at of it by a note.
func TestWhatIsShown(t *testing.T) {
	m, a, _ := world(Options{})
	require.NoError(t, a.WriteFile("/f", nil, 0o644))
	task := Task{101, 1}
	for _, c := range []struct {
		op   Op
		want bool
	}{
		{Op{Call: CallStat, Path: "/f"}, true}, {Op{Call: CallLstat, Path: "/f"}, true}, {Op{Call: CallStat, Path: "/none"}, false},
		{Op{Call: CallLstat, Path: "/f", Flags: LookType}, false}, {Op{Call: CallUnlink, Path: "/f"}, false},
	} {
		r := m.Do(task, c.op)
		inode, times := r.Shows(c.op)
		require.Equal(t, c.want, inode, c.op)
		require.Equal(t, c.want, times, c.op)
	}

	p := &notingPort{directPort: directPort{m, task}}
	b := NewProc(p, 101, 1)
	f, err := b.OpenFile("/g", os.O_CREATE|os.O_RDWR, 0o644)
	require.NoError(t, err)
	fi, err := b.Stat("/g")
	require.NoError(t, err)
	_, _ = fi.Mode(), fi.Name()
	require.Empty(t, p.notes)
	fi.Size()
	require.Equal(t, []any{SizeSeen}, p.notes)
	p.notes = nil
	other, err := f.Stat()
	require.NoError(t, err)
	require.True(t, SameFile(fi, other))
	require.Equal(t, []any{InodeSeen}, p.notes)
	fi.ModTime()
	require.Equal(t, []any{InodeSeen, TimeSeen}, p.notes)
}

type notingPort struct {
	directPort
	notes []any
}

func (p *notingPort) Note(v any) { p.notes = append(p.notes, v) }
