package fsfake_test

import (
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
		{op: fsfake.Op{Call: fsfake.CallRename, Path: "/x", Path2: "/101"}},
		{op: fsfake.Op{Call: fsfake.CallStat, Path: "/101"}},
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
	require.NoError(t, p.WriteFile("/tmp/101", nil, 0o644))
	require.False(t, r.Machine(m), "a file is named after a pid")
}
