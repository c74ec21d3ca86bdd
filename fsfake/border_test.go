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
	for _, c := range []struct {
		op    Op
		errno syscall.Errno
		leads string
	}{
		{op: Op{Call: CallStat, Path: "out"}, leads: "/etc/passwd"},
		{op: Op{Call: CallLstat, Path: "out"}},
		{op: Op{Call: CallReadlink, Path: "out"}},
		{op: Op{Call: CallStat, Path: "/srv/data/out"}, leads: "/etc/passwd"},
		{op: Op{Call: CallOpen, Path: "out", Flags: os.O_CREATE | os.O_WRONLY}, leads: "/etc/passwd"},
		{op: Op{Call: CallOpen, Path: "out", Flags: os.O_CREATE | os.O_WRONLY | os.O_EXCL}, errno: EEXIST},
		{op: Op{Call: CallMkdir, Path: "out/x"}, leads: "/etc/passwd/x"},
		{op: Op{Call: CallStat, Path: "up"}, leads: "/srv/secret"},
		{op: Op{Call: CallStat, Path: ".."}, leads: "/srv"},
		{op: Op{Call: CallStat, Path: "sub/../../secret"}, leads: "/srv/secret"},
		{op: Op{Call: CallRename, Path: "sub", Path2: "../gone"}, leads: "/srv/gone"},
		{op: Op{Call: CallStat, Path: "in/.."}},
		{op: Op{Call: CallStat, Path: "here"}},
		{op: Op{Call: CallStat, Path: "deep"}},
		{op: Op{Call: CallStat, Path: "dead"}, errno: ENOENT},
		{op: Op{Call: CallStat, Path: "/srv/secret"}},
	} {
		r := m.Do(Task{Pid: 100, N: 1}, c.op)
		require.Equal(t, c.errno, r.Errno, "%v", c.op)
		to, _ := LeadsTo(r.Unmodelled)
		require.Equal(t, c.leads, to, "%v: %s", c.op, r.Unmodelled)
	}
	require.Panics(t, func() { m.SetBorder("/none") })
	require.Panics(t, func() { m.SetBorder("/srv/data/") })
}

// What is in a region is the machine's, too, and a path may lead there; beside it nothing is known.
func TestBorderWithRegions(t *testing.T) {
	m := New(Options{})
	p := m.Proc(1)
	require.NoError(t, p.MkdirAll("/srv/data", 0o755))
	require.NoError(t, p.MkdirAll("/srv/var/lock", 0o755))
	require.NoError(t, p.WriteFile("/srv/state", []byte("s"), 0o644))
	require.NoError(t, p.WriteFile("/tmp/here", nil, 0o644))
	for name, target := range map[string]string{ // order does not matter: independent names
		"state": "../state", "lock": "/srv/var/lock/l", "real": "/tmp/real", "tmp": "/tmp", "var": "/srv/var", "gone": "/gone/x/../y",
	} {
		require.NoError(t, p.Symlink(target, "/srv/data/"+name))
	}
	m.AddProc(ProcSpec{Pid: 100, Cwd: "/srv/data"})
	m.SetBorder("/srv/data", Region{Path: "/srv/state"}, Region{Path: "/srv/var/lock/l"}, Region{Path: "/tmp",
		Partly: true, Real: []string{"real"}})
	for _, c := range []struct {
		name  string
		errno syscall.Errno
		leads string
	}{
		{name: "state"}, {name: "lock", errno: ENOENT}, {name: "tmp"}, {name: "tmp/here"}, {name: "tmp/none", errno: ENOENT},
		{name: "real", leads: "/tmp/real"}, {name: "tmp/real", leads: "/tmp/real"}, {name: "tmp/real/x", leads: "/tmp/real/x"},
		{name: "var", leads: "/srv/var"}, {name: "var/lock/l", errno: ENOENT}, {name: "var/lock/m", leads: "/srv/var/lock/m"},
		{name: "gone", leads: "/gone/x/../y"}, {name: "tmp/../srv/state"},
	} {
		r := m.Do(Task{Pid: 100, N: 1}, Op{Call: CallStat, Path: c.name})
		to, _ := LeadsTo(r.Unmodelled)
		require.Equal(t, c.leads, to, "%s: %s", c.name, r.Unmodelled)
		require.Equal(t, c.errno, r.Errno, c.name)
	}
}
