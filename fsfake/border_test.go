package fsfake

import (
	"os"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// Out of its directory a machine with a border knows nothing, and says so.
func TestBorder(t *testing.T) {
	m := New(Options{})
	p := m.Proc(1)
	require.NoError(t, p.MkdirAll("/srv/data/sub", 0o755))
	require.NoError(t, p.WriteFile("/srv/secret", nil, 0o644))
	for name, target := range map[string]string{ // order does not matter: independent names
		"out": "/etc/passwd", "up": "../secret", "in": "/srv/data/sub", "here": "sub", "deep": "sub/../sub", "dead": "/srv/data/none",
	} {
		require.NoError(t, p.Symlink(target, "/srv/data/"+name))
	}
	m.AddProc(ProcSpec{Pid: 100, Cwd: "/srv/data"})
	m.SetBorder("/srv/data")
	const leaves = "a path that leads out of /srv/data is not modelled"
	for _, c := range []struct {
		op    Op
		errno syscall.Errno
		leads bool
	}{
		{op: Op{Call: CallStat, Path: "out"}, leads: true},
		{op: Op{Call: CallLstat, Path: "out"}},
		{op: Op{Call: CallReadlink, Path: "out"}},
		{op: Op{Call: CallStat, Path: "/srv/data/out"}, leads: true},
		{op: Op{Call: CallOpen, Path: "out", Flags: os.O_CREATE | os.O_WRONLY}, leads: true},
		{op: Op{Call: CallOpen, Path: "out", Flags: os.O_CREATE | os.O_WRONLY | os.O_EXCL}, errno: EEXIST},
		{op: Op{Call: CallMkdir, Path: "out/x"}, leads: true},
		{op: Op{Call: CallStat, Path: "up"}, leads: true},
		{op: Op{Call: CallStat, Path: ".."}, leads: true},
		{op: Op{Call: CallStat, Path: "sub/../../secret"}, leads: true},
		{op: Op{Call: CallRename, Path: "sub", Path2: "../gone"}, leads: true},
		{op: Op{Call: CallStat, Path: "in/.."}},
		{op: Op{Call: CallStat, Path: "here"}},
		{op: Op{Call: CallStat, Path: "deep"}},
		{op: Op{Call: CallStat, Path: "dead"}, errno: ENOENT},
		{op: Op{Call: CallStat, Path: "/srv/secret"}},
	} {
		r := m.Do(Task{Pid: 100, N: 1}, c.op)
		require.Equal(t, c.errno, r.Errno, "%v", c.op)
		want := ""
		if c.leads {
			want = leaves
		}
		require.Equal(t, want, r.Unmodelled, "%v", c.op)
	}
	require.Panics(t, func() { m.SetBorder("/none") })
	require.Panics(t, func() { m.SetBorder("/srv/data/") })
}
