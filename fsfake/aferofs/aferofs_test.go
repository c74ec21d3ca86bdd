package aferofs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/afero"
	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// say writes down what one call answered, without the directory it was made in.
func say(out *[]string, root, what string, err error, values ...any) {
	text := "ok"
	if err != nil {
		text = err.Error()
		var e syscall.Errno
		if errors.As(err, &e) {
			text = fsfake.ErrnoName(e)
		}
	}
	line := what + ": " + text
	for _, v := range values {
		line += fmt.Sprintf(" %v", v)
	}
	*out = append(*out, strings.ReplaceAll(line, root, ""))
}

// story is code written against afero, which makes every call at least once.
func story(sys afero.Fs, root string) (out []string) {
	s := func(what string, err error, values ...any) { say(&out, root, what, err, values...) }
	at := func(name string) string { return path.Join(root, name) }

	s("mkdirall", sys.MkdirAll(at("a/b"), 0o755))
	s("mkdir", sys.Mkdir(at("a"), 0o755))
	f, err := sys.OpenFile(at("lock"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	s("create", err, f.Name())
	_, err = sys.OpenFile(at("lock"), os.O_CREATE|os.O_EXCL, 0o600)
	s("create again", err, errors.Is(err, fs.ErrExist))
	n, err := f.WriteString("hello")
	s("write", err, n)
	n, err = f.WriteAt([]byte("J"), 0)
	s("write at", err, n)
	pos, err := f.Seek(1, 0)
	s("seek", err, pos)
	n, err = f.Write([]byte("u"))
	s("write", err, n)
	b := make([]byte, 16)
	n, err = f.ReadAt(b[:2], 0)
	s("read at", err, string(b[:n]))
	n, err = f.Read(b)
	s("read", err, string(b[:n]))
	s("truncate", f.Truncate(2))
	s("sync", f.Sync())
	fi, err := f.Stat()
	s("fstat", err, fi.Name(), fi.Size(), fi.Mode())
	s("close", f.Close())
	s("close again", f.Close())

	s("write file", afero.WriteFile(sys, at("x"), []byte("x"), 0o644))
	data, err := afero.ReadFile(sys, at("x"))
	s("read file", err, string(data))
	there, err := afero.Exists(sys, at("y"))
	s("exists", err, there)
	s("chmod", sys.Chmod(at("x"), 0o600))
	s("chtimes", sys.Chtimes(at("x"), time.Unix(1, 0), time.Unix(2, 0)))
	s("chown", sys.Chown(at("x"), -1, -1))
	s("chown nothing", sys.Chown(at("y"), -1, -1))
	s("symlink", sys.(afero.Linker).SymlinkIfPossible("x", at("z")))
	to, err := sys.(afero.LinkReader).ReadlinkIfPossible(at("z"))
	s("readlink", err, to)
	fi, possible, err := sys.(afero.Lstater).LstatIfPossible(at("z"))
	s("lstat", err, possible, fi.Mode().Type())
	fi, err = sys.Stat(at("z"))
	s("stat", err, fi.Mode(), fi.Size(), fi.ModTime().Unix())
	s("rename", sys.Rename(at("x"), at("a/b/c")))
	_, err = sys.Create(at("no/such"))
	s("create in nothing", err)
	_, err = sys.Open(at("no/such"))
	s("open nothing", err)

	d, err := sys.Open(at("a"))
	s("open directory", err)
	infos, err := d.Readdir(-1)
	s("readdir", err, len(infos), infos[0].Name(), infos[0].IsDir())
	s("close", d.Close())
	d, _ = sys.Open(at("a/b"))
	for range 2 {
		infos, err := d.Readdir(1)
		s("readdir", err, len(infos))
	}
	s("close", d.Close())
	d, _ = sys.Open(root)
	names, err := d.Readdirnames(0)
	slices.Sort(names)
	s("names", err, names)
	s("close", d.Close())

	s("remove", sys.Remove(at("lock")))
	s("remove again", sys.Remove(at("lock")))
	s("remove full", sys.Remove(at("a")))
	s("remove all", sys.RemoveAll(at("a")))
	s("remove all of nothing", sys.RemoveAll(at("a")))
	there, err = afero.DirExists(sys, at("a"))
	s("exists", err, there)
	return out
}

// One story on both systems: the answers are the same.
func TestAnswersAsOsFsDoes(t *testing.T) {
	root := t.TempDir()
	want := story(afero.NewOsFs(), root)

	m := fsfake.New(fsfake.Options{})
	m.AddProc(fsfake.ProcSpec{Pid: 101})
	require.NoError(t, m.Proc(101).Mkdir("/w", 0o755))
	got := story(New(m.Proc(101)), "/w")

	require.Equal(t, strings.Join(want, "\n"), strings.Join(got, "\n"))
	require.Greater(t, len(got), 40)
}

// No descriptor leaves the machine.
func TestNoDescriptorEscapes(t *testing.T) {
	f, err := New(fsfake.New(fsfake.Options{}).Proc(1)).Create("/tmp/lock")
	require.NoError(t, err)
	_, has := f.(interface{ Fd() uintptr })
	require.False(t, has)
	_, err = New(fsfake.New(fsfake.Options{}).Proc(1)).Open("/nothing")
	require.Error(t, err)
}

// port records calls, and carries them out on a machine.
type port struct {
	m     *fsfake.Machine
	calls []string
}

func (p *port) Do(op fsfake.Op) fsfake.Result {
	p.calls = append(p.calls, op.Call.String())
	return p.m.Do(fsfake.Task{Pid: 1, N: 1}, op)
}

func (p *port) Note(any) {}

// Each method makes the system calls that package os makes.
func TestSystemCalls(t *testing.T) {
	p := &port{m: fsfake.New(fsfake.Options{})}
	sys := New(fsfake.NewProc(p, 1, 1))
	var f afero.File
	for _, c := range []struct {
		do   func() error
		want string
	}{
		{func() (err error) { f, err = sys.Create("/tmp/f"); return }, "open"},
		{func() error { _, err := f.WriteString("x"); return err }, "write"},
		{func() error { _, err := f.Seek(0, 0); return err }, "lseek"},
		{func() error { _, err := f.Stat(); return err }, "fstat"},
		{func() error { return f.Close() }, "close"},
		{func() error { _, err := sys.Stat("/tmp/f"); return err }, "stat"},
		{func() error { return sys.Rename("/tmp/f", "/tmp/g") }, "lstat rename"},
		{func() (err error) { f, err = sys.Open("/tmp"); return }, "open"},
		{func() error { _, err := f.Readdir(0); return err }, "readdir lstat"},
		{func() error { return sys.Remove("/tmp/g") }, "unlink"},
		{func() error { return sys.MkdirAll("/a/b", 0o755) }, "stat stat mkdir mkdir"},
		{func() error { return sys.RemoveAll("/a/b") }, "unlink rmdir"},
		{func() error { return afero.WriteFile(sys, "/a/f", []byte("x"), 0o600) }, "open write close"},
		{func() error { return sys.RemoveAll("/a") }, "unlink rmdir open unlink open readdir unlink close rmdir close"},
	} {
		p.calls = nil
		require.NoError(t, c.do(), c.want)
		require.Equal(t, c.want, strings.Join(p.calls, " "))
	}
}
