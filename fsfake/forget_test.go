package fsfake_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// number is the inode number that a process is shown for a name.
func number(t *testing.T, m *fsfake.Machine, pid int, name string) uint64 {
	t.Helper()
	r := m.Do(fsfake.Task{Pid: pid, N: 1}, fsfake.Op{Call: fsfake.CallStat, Path: name})
	require.True(t, r.OK())
	return r.Stat.Ino
}

// threeFiles is a machine with two processes, of which the first was shown three files.
func threeFiles(t *testing.T, o fsfake.Options) *fsfake.Machine {
	t.Helper()
	m := fsfake.New(o)
	m.AddProc(fsfake.ProcSpec{Pid: 101})
	m.AddProc(fsfake.ProcSpec{Pid: 102})
	for _, name := range []string{"/a", "/b", "/c", "/d"} {
		r := m.Do(fsfake.Task{Pid: 101, N: 1}, fsfake.Op{Call: fsfake.CallOpen, Path: name, Flags: fsfake.O_CREAT | fsfake.O_WRONLY, Mode: 0o644})
		require.True(t, r.OK())
		m.Do(fsfake.Task{Pid: 101, N: 1}, fsfake.Op{Call: fsfake.CallClose, FD: int(r.N)})
	}
	for _, name := range []string{"/a", "/b", "/c"} {
		number(t, m, 101, name)
	}
	return m
}

// What is forgotten is numbered anew, with the lowest number that is free, and what is kept keeps
// its number. Who is not asked to forget does not.
func TestForgottenNumbersAreFree(t *testing.T) {
	m := threeFiles(t, fsfake.Options{})
	require.EqualValues(t, 1, number(t, m, 102, "/c"))
	before := m.Clone()
	m.ForgetInodes(101, 0b010)
	require.EqualValues(t, 3, number(t, before, 101, "/c"), "a clone remembers")
	require.NotEqual(t, before.AppendKey(nil), m.AppendKey(nil))
	require.EqualValues(t, 1, number(t, m, 101, "/d"))
	require.EqualValues(t, 2, number(t, m, 101, "/b"))
	require.EqualValues(t, 3, number(t, m, 101, "/a"))
	require.EqualValues(t, 1, number(t, m, 102, "/c"))

	m.ForgetInodes(101, 0)
	m.ForgetInodes(102, 0)
	fresh := threeFiles(t, fsfake.Options{})
	fresh.ForgetInodes(101, 0)
	require.Equal(t, fresh.AppendKey(nil), m.AppendKey(nil), "as if nobody had looked")
}

// A number that is free is not one that a file has taken with it.
func TestForgottenIsNotGone(t *testing.T) {
	m := threeFiles(t, fsfake.Options{})
	gone := m.Clone()
	r := gone.Do(fsfake.Task{Pid: 101, N: 1}, fsfake.Op{Call: fsfake.CallUnlink, Path: "/a"})
	require.True(t, r.OK())
	free := gone.Clone()
	free.ForgetInodes(101, 0b110)
	require.NotEqual(t, gone.AppendKey(nil), free.AppendKey(nil))
	require.EqualValues(t, 4, number(t, gone, 101, "/d"))
	require.EqualValues(t, 1, number(t, free, 101, "/d"))
}

// Nothing is forgotten that is pinned, that nobody was shown, or that everybody shares.
func TestNothingIsForgotten(t *testing.T) {
	m := threeFiles(t, fsfake.Options{})
	same := m.Clone()
	same.ForgetInodes(101, 0b111)
	same.ForgetInodes(102, 0)
	same.ForgetInodes(103, 0)
	require.Equal(t, m.AppendKey(nil), same.AppendKey(nil))

	m.PinInodes(101)
	require.NotEqual(t, m.AppendKey(nil), same.AppendKey(nil), "what it may forget is a difference")
	m.ForgetInodes(101, 0)
	require.EqualValues(t, 4, number(t, m, 101, "/d"))

	for _, policy := range []fsfake.InodePolicy{fsfake.InodesReuse, fsfake.InodesUnique, fsfake.InodesFirstSeen} {
		m := threeFiles(t, fsfake.Options{InodeNumbers: policy})
		before := m.AppendKey(nil)
		m.PinInodes(101)
		m.ForgetInodes(101, 0)
		require.Equal(t, before, m.AppendKey(nil))
	}
}

// With ChildPids a file has one number for all processes, in which order they ask makes no difference to the files of
// different families, and a listing has the same numbers. Where numbers come back, it is that of a file that has gone.
func TestOneNumberForAll(t *testing.T) {
	for _, policy := range []fsfake.InodePolicy{fsfake.InodesCanonical, fsfake.InodesReuse} {
		m := fsfake.New(fsfake.Options{ChildPids: 1000, InodeNumbers: policy})
		m.AddProc(fsfake.ProcSpec{Pid: 101})
		m.AddProc(fsfake.ProcSpec{Pid: 102})
		do := func(pid int, op fsfake.Op) fsfake.Result { return m.Do(fsfake.Task{Pid: pid, N: 1}, op) }
		ino := func(pid int, name string) uint64 {
			return do(pid, fsfake.Op{Call: fsfake.CallStat, Path: "/tmp/" + name}).Stat.Ino
		}
		require.NoError(t, m.Proc(1).WriteFile("/tmp/start", nil, 0o644))
		require.True(t, do(101, fsfake.Op{Call: fsfake.CallForkAs, Pid: 101001}).OK())
		require.NoError(t, m.Proc(101001).WriteFile("/tmp/a", nil, 0o644))
		require.NoError(t, m.Proc(101).WriteFile("/tmp/b", nil, 0o644))
		require.NoError(t, m.Proc(102).WriteFile("/tmp/c", nil, 0o644))
		require.EqualValues(t, 4, ino(102, "start"))
		require.EqualValues(t, 102000001, ino(101, "c"))
		require.EqualValues(t, 101000001, ino(102, "b"), "the first of its family that is shown")
		require.EqualValues(t, 101000002, ino(101001, "a"))
		fd := do(102, fsfake.Op{Call: fsfake.CallOpen, Path: "/tmp", Flags: fsfake.O_DIRECTORY})
		r := do(102, fsfake.Op{Call: fsfake.CallReaddir, FD: int(fd.N), Flags: fsfake.LookIno})
		require.Equal(t, "a\x00b\x00c\x00start", r.Data)
		require.Equal(t, "3 2 101000002 101000001 102000001 4", r.Value)
		require.EqualValues(t, 101000002, ino(102, "a"))

		require.NoError(t, m.Proc(101).Remove("/tmp/b"))
		require.NoError(t, m.Proc(102).WriteFile("/tmp/d", nil, 0o644))
		if policy == fsfake.InodesReuse {
			require.EqualValues(t, 101000001, ino(102, "d"))
		} else {
			require.EqualValues(t, 102000002, ino(102, "d"))
		}
	}
}
