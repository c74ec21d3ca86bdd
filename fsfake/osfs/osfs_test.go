package osfs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"lockpick/fsfake"
)

// A script keeps what each call of a story answered, without what may differ between
// two systems: the directory, times, sizes of directories.
type script struct {
	sys  FS
	root string
	out  []string
}

func (s *script) at(name string) string { return s.root + "/" + name }

func (s *script) say(what string, err error, values ...any) {
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
	s.out = append(s.out, strings.ReplaceAll(line, s.root, ""))
}

// story makes every call at least once.
func (s *script) story() {
	sys := s.sys
	s.say("mkdirall", sys.MkdirAll(s.at("a/b"), 0o755))
	s.say("mkdirall again", sys.MkdirAll(s.at("a/b"), 0o755))
	s.say("mkdir", sys.Mkdir(s.at("a/b"), 0o755))
	f, err := sys.OpenFile(s.at("lock"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	s.say("create", err, f.Name())
	_, err = sys.OpenFile(s.at("lock"), os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	s.say("create again", err, errors.Is(err, fs.ErrExist))
	n, err := f.WriteString("hello")
	s.say("write", err, n)
	n, err = f.WriteAt([]byte("J"), 0)
	s.say("write at", err, n)
	at, err := f.Seek(0, io.SeekStart)
	s.say("seek", err, at)
	b := make([]byte, 16)
	n, err = f.Read(b)
	s.say("read", err, string(b[:n]))
	n, err = f.Read(b)
	s.say("read the end", err, n)
	n, err = f.ReadAt(b[:2], 1)
	s.say("read at", err, string(b[:n]))
	s.say("truncate", f.Truncate(2))
	s.say("sync", f.Sync())
	fi, err := f.Stat()
	s.say("fstat", err, fi.Name(), fi.Size(), fi.Mode(), fi.IsDir())
	s.locks(f)
	s.say("close", f.Close())
	s.names()
	s.say("kill", sys.Kill(sys.Getpid()))
	s.say("kill nobody", sys.Kill(1<<22+1))
	sys.Sleep(time.Nanosecond)
	s.say("now", nil, sys.Now().IsZero())
	s.say("retry", nil, Retry(sys).Next())
}

func (s *script) locks(f File) {
	g, err := s.sys.Open(s.at("lock"))
	s.say("open", err)
	s.say("flock", f.Flock(LOCK_EX|LOCK_NB))
	s.say("flock again", g.Flock(LOCK_SH|LOCK_NB))
	s.say("unlock", f.Flock(LOCK_UN))
	s.say("flock after", g.Flock(LOCK_SH|LOCK_NB))
	s.say("close", g.Close())
}

func (s *script) names() {
	sys := s.sys
	s.say("write file", sys.WriteFile(s.at("x"), []byte("x"), 0o644))
	data, err := sys.ReadFile(s.at("x"))
	s.say("read file", err, string(data))
	_, err = sys.ReadFile(s.at("y"))
	s.say("read none", err, errors.Is(err, fs.ErrNotExist))
	s.say("link", sys.Link(s.at("x"), s.at("y")))
	s.say("link again", sys.Link(s.at("x"), s.at("y")))
	x, err := sys.Stat(s.at("x"))
	s.say("stat", err, x.Name())
	y, err := sys.Lstat(s.at("y"))
	s.say("lstat", err, sys.SameFile(x, y))
	s.say("symlink", sys.Symlink("x", s.at("z")))
	z, err := sys.Lstat(s.at("z"))
	s.say("lstat", err, z.Mode().Type(), sys.SameFile(x, z))
	to, err := sys.Readlink(s.at("z"))
	s.say("readlink", err, to)
	s.say("chmod", sys.Chmod(s.at("x"), 0o600))
	when := time.Unix(1700000000, 0)
	s.say("chtimes", sys.Chtimes(s.at("x"), when, when))
	s.say("truncate", sys.Truncate(s.at("x"), 0))
	x, err = sys.Stat(s.at("z"))
	s.say("stat through a link", err, x.Mode(), x.Size())
	s.say("rename", sys.Rename(s.at("x"), s.at("a/b/c")))
	s.say("remove", sys.Remove(s.at("y")))
	s.say("remove again", sys.Remove(s.at("y")))
	s.say("remove full", sys.Remove(s.at("a")))
	d, err := sys.Open(s.at("a/b"))
	s.say("open directory", err)
	for range 3 {
		some, err := d.Readdirnames(1)
		s.say("names", err, some)
	}
	s.say("close", d.Close())
	d, _ = sys.Open(s.at("a/b"))
	for range 2 {
		all, err := d.Readdirnames(-1)
		s.say("all names", err, all)
	}
	s.say("close", d.Close())
	s.say("close again", d.Close())
	_, err = sys.Create(s.at("no/such"))
	s.say("create in nothing", err)
	tmp, err := sys.CreateTemp(s.at("a"), "t-*.tmp")
	s.say("temp", err, strings.HasPrefix(filepath.Base(tmp.Name()), "t-"), strings.HasSuffix(tmp.Name(), ".tmp"))
	s.say("close", tmp.Close())
}

// One story on both systems: the answers are the same.
func TestBothSystemsAnswerAlike(t *testing.T) {
	real := script{sys: OS(), root: t.TempDir()}
	real.story()

	m := fsfake.New(fsfake.Options{})
	m.AddProc(fsfake.ProcSpec{Pid: 101})
	require.NoError(t, m.Proc(101).Mkdir("/w", 0o755))
	fake := script{sys: On(m.Proc(101)), root: "/w"}
	fake.story()

	require.Equal(t, strings.Join(real.out, "\n"), strings.Join(fake.out, "\n"))
	require.Greater(t, len(fake.out), 50)
}

// A closed file makes no more calls: its descriptor may be another file's by then.
func TestClosedFileIsDead(t *testing.T) {
	p := &port{m: fsfake.New(fsfake.Options{})}
	sys := On(fsfake.NewProc(p, 1, 1))
	f, err := sys.Create("/tmp/f")
	require.NoError(t, err)
	require.NoError(t, f.Close())
	g, err := sys.Create("/tmp/g")
	require.NoError(t, err)
	p.calls = nil
	b := make([]byte, 1)
	for _, do := range []func() error{
		f.Close, f.Sync,
		func() error { _, err := f.Read(b); return err },
		func() error { _, err := f.ReadAt(b, 0); return err },
		func() error { _, err := f.Write(b); return err },
		func() error { _, err := f.WriteAt(b, 0); return err },
		func() error { _, err := f.WriteString("x"); return err },
		func() error { _, err := f.Seek(0, 0); return err },
		func() error { _, err := f.Stat(); return err },
		func() error { return f.Truncate(0) },
		func() error { return f.Flock(LOCK_EX) },
	} {
		require.ErrorIs(t, do(), fs.ErrClosed)
	}
	_, err = f.Readdirnames(1)
	require.EqualError(t, err, "readdirent /tmp/f: use of closed file") // as package os words it
	require.Empty(t, p.calls)
	require.NoError(t, g.Close())
}

// A failed open is a nil File, not a File that holds nothing.
func TestFailedOpenIsNil(t *testing.T) {
	for _, sys := range []FS{OS(), On(fsfake.New(fsfake.Options{}).Proc(1))} {
		f, err := sys.Open("/no/such/file")
		require.Error(t, err)
		require.True(t, f == nil)
	}
}

// port records calls, and carries them out on a machine.
type port struct {
	m     *fsfake.Machine
	calls []string
	notes []any
}

func (p *port) Do(op fsfake.Op) fsfake.Result {
	p.calls = append(p.calls, op.Call.String())
	return p.m.Do(fsfake.Task{Pid: 1, N: 1}, op)
}

func (p *port) Note(v any) { p.notes = append(p.notes, v) }

// Each method makes the system calls that package os makes.
func TestSystemCalls(t *testing.T) {
	p := &port{m: fsfake.New(fsfake.Options{})}
	sys := On(fsfake.NewProc(p, 1, 1))
	var f File
	for _, c := range []struct {
		do   func() error
		want string
	}{
		{func() (err error) { f, err = sys.Create("/f"); return }, "open"},
		{func() error { _, err := f.WriteString("x"); return err }, "write"},
		{func() error { return f.Flock(LOCK_EX) }, "flock"},
		{func() error { return f.Close() }, "close"},
		{func() error { _, err := sys.ReadFile("/f"); return err }, "open fstat read read close"},
		{func() error { return sys.WriteFile("/f", nil, 0o600) }, "open write close"},
		{func() error { _, err := sys.Stat("/f"); return err }, "stat"},
		{func() error { return sys.Remove("/f") }, "unlink"},
		{func() error { return sys.MkdirAll("/a/b", 0o755) }, "stat stat mkdir mkdir"},
		{func() error { return sys.Remove("/a/b") }, "unlink rmdir"},
		{func() error { sys.Getpid(); return nil }, ""},
		{func() error { Retry(sys).Next(); return nil }, ""},
		{func() error { return sys.Kill(1) }, "kill"},
		{func() error { sys.Now(); return nil }, "now"},
	} {
		p.calls = nil
		require.NoError(t, c.do(), c.want)
		require.Equal(t, c.want, strings.Join(p.calls, " "))
	}
	require.Equal(t, []any{fsfake.PidSeen, fsfake.RoundTop{Loop: 1, First: true}}, p.notes)
}
