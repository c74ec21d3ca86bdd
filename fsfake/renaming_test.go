package fsfake_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// Pids are renamed where they stand as whole numbers, in contents and targets, and there and back is nowhere.
func TestRenamingPids(t *testing.T) {
	ids := []fsfake.ProcID{{Pid: 101, Start: 1}, {Pid: 102, Start: 2}, {Pid: 103, Start: 3}}
	r, ok := fsfake.NewRenaming(ids, []int{1, 2, 0})
	require.True(t, ok)
	back, _ := fsfake.NewRenaming(ids, []int{2, 0, 1})
	for text, want := range map[string]string{
		"": "", "101": "102", "pid 102\n": "pid 103\n", "101,102/103": "102,103/101", "1010 0101 99": "1010 0101 99", "x101y": "x102y", "102é101": "103é102",
	} {
		require.Equal(t, want, r.Text(text))
		require.Equal(t, text, back.Text(want))
	}
	for _, c := range []struct {
		op, want fsfake.Op
		ok       bool
	}{
		{fsfake.Op{Call: fsfake.CallKill, Pid: 102}, fsfake.Op{Call: fsfake.CallKill, Pid: 103}, true},
		{fsfake.Op{Call: fsfake.CallKill, Pid: 99}, fsfake.Op{Call: fsfake.CallKill, Pid: 99}, true},
		{fsfake.Op{Call: fsfake.CallSymlink, Path: "/x", Path2: "101"}, fsfake.Op{Call: fsfake.CallSymlink, Path: "/x", Path2: "102"}, true},
		{fsfake.Op{Call: fsfake.CallWrite, FD: 3, Data: "101"}, fsfake.Op{Call: fsfake.CallWrite, FD: 3, Data: "102"}, true},
		{fsfake.Op{Call: fsfake.CallRename, Path: "/x.103", Path2: "/101/1010"}, fsfake.Op{Call: fsfake.CallRename, Path: "/x.101", Path2: "/102/1010"}, true},
		{fsfake.Op{Call: fsfake.CallStat, Path: "/101"}, fsfake.Op{Call: fsfake.CallStat, Path: "/102"}, true},
		{op: fsfake.Op{Call: fsfake.CallStartTime, Pid: 101}},
		{op: fsfake.Op{Call: fsfake.CallCellLoad, Cell: "x"}},
	} {
		got, ok := r.Op(c.op)
		require.Equal(t, c.ok, ok, "%s", c.op)
		if ok {
			require.Equal(t, c.want, got)
		}
	}
	_, ok = fsfake.NewRenaming([]fsfake.ProcID{{Pid: 99}, {Pid: 100}}, []int{1, 0})
	require.False(t, ok, "texts would become longer")

	m := fsfake.New(fsfake.Options{})
	for _, id := range ids {
		m.AddProc(fsfake.ProcSpec{Pid: id.Pid, Parent: 1, Start: id.Start, Cwd: "/"})
	}
	p := m.Proc(1)
	require.NoError(t, p.WriteFile("/tmp/x", []byte("101 102"), 0o644))
	require.NoError(t, p.Symlink("103", "/tmp/y"))
	before := m.AppendKey(nil)
	c := m.Clone()
	require.True(t, r.Machine(c))
	text, err := c.Proc(1).ReadFile("/tmp/x")
	require.NoError(t, err)
	require.Equal(t, "102 103", string(text))
	target, err := c.Proc(1).Readlink("/tmp/y")
	require.NoError(t, err)
	require.Equal(t, "101", target)
	require.Equal(t, before, m.AppendKey(nil), "the machine that it was cloned from is as it was")
	require.True(t, back.Machine(c))
	require.Equal(t, before, c.AppendKey(nil))
}

// Files that are named after pids change their names, directories and listings stay sorted, and one renaming after another
// is a renaming.
func TestRenamingNames(t *testing.T) {
	ids := []fsfake.ProcID{{Pid: 101, Start: 1}, {Pid: 102, Start: 2}, {Pid: 103, Start: 3}}
	renaming := func(perm ...int) fsfake.Renaming {
		r, ok := fsfake.NewRenaming(ids, perm)
		require.True(t, ok)
		return r
	}
	names := func(m *fsfake.Machine, dir string) []string {
		names, err := m.Proc(1).ReadDir(dir)
		require.NoError(t, err)
		return names
	}
	for _, profile := range []fsfake.Profile{fsfake.Posix, fsfake.Btrfs} {
		m := fsfake.New(fsfake.Options{Profile: profile})
		for _, id := range ids {
			m.AddProc(fsfake.ProcSpec{Pid: id.Pid, Parent: 1, Start: id.Start, Cwd: "/"})
		}
		p := m.Proc(1)
		require.NoError(t, p.MkdirAll("/d/102", 0o755))
		d := m.Proc(102)
		f, err := d.Open("/d") // before names are made that a listing may not show
		require.NoError(t, err)
		for _, name := range []string{"a.101", "a.103", "a.1011", "b", "c101d102"} {
			require.NoError(t, p.WriteFile("/d/"+name, []byte(name), 0o644))
		}
		require.NoError(t, p.Symlink("/d/a.103", "/d/101"))
		before := m.AppendKey(nil)
		require.Equal(t, []string{"101", "102", "a.101", "a.1011", "a.103", "b", "c101d102"}, names(m.Clone(), "/d"))

		c, r := m.Clone(), renaming(2, 0, 1)
		require.True(t, r.Machine(c))
		listed := c.Clone()
		require.Equal(t, []string{"101", "103", "a.1011", "a.102", "a.103", "b", "c103d101"}, names(listed, "/d"))
		text, err := listed.Proc(1).ReadFile("/d/103")
		require.NoError(t, err)
		require.Equal(t, "a.102", string(text), "the symlink leads to where the file is now")
		require.Equal(t, before, m.AppendKey(nil), "the machine that it was cloned from is as it was")

		was, err := f.Readdirnames(-1)
		require.NoError(t, err)
		is := c.Do(fsfake.Task{Pid: 101, N: 1}, fsfake.Op{Call: fsfake.CallReaddir, FD: f.Fd()})
		renamed := r.Result(fsfake.CallReaddir, fsfake.Result{N: int64(len(was)), Data: strings.Join(was, "\x00")})
		require.Equal(t, renamed, is, "who was 102 and is 101 is shown the same names")

		for _, q := range [][]int{{1, 0, 2}, {0, 2, 1}, {1, 2, 0}, {2, 1, 0}} {
			twice, once := renaming(q...), []int{q[2], q[0], q[1]}
			a, b := m.Clone(), m.Clone()
			require.True(t, r.Machine(a) && twice.Machine(a))
			both := renaming(once...)
			require.True(t, both.Machine(b))
			require.Equal(t, b.AppendKey(nil), a.AppendKey(nil))
		}
	}
	empty := renaming(1, 0, 2)
	require.Equal(t, fsfake.Result{}, empty.Result(fsfake.CallReaddir, fsfake.Result{}), "a directory in which nothing is")
	require.Equal(t, "102\x00101", empty.Result(fsfake.CallRead, fsfake.Result{Data: "101\x00102"}).Data, "what is read is no listing")

	m := fsfake.New(fsfake.Options{})
	m.AddProc(fsfake.ProcSpec{Pid: 101})
	m.Mark(fsfake.Task{Pid: 1, N: 1}, "", "/lock.101", 1)
	require.False(t, empty.Machine(m), "a mark says a path")
	m = fsfake.New(fsfake.Options{PowerLoss: true})
	require.False(t, empty.Machine(m), "the disk remembers names")
}
