//go:build linux

package osfs_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"lockpick/fsfake"
	"lockpick/fsfake/osfs"
)

// A step is one call of a function or a method of package os, as data. Fields that a call
// does not use are zero.
type step struct {
	call        string
	name, name2 string // below the root, but for the target of a symlink
	file        int    // what the file is called that the step opens or uses; -1 is a nil *File
	flag        int
	perm        fs.FileMode
	data        string
	off         int64
	n           int
	t, t2       time.Time
}

// String shows the step as a line of Go.
func (s step) String() string {
	text := fmt.Sprintf("{call: %q", s.call)
	for _, f := range []struct {
		name  string
		value any
		zero  bool
	}{
		{"name", short(s.name), s.name == ""}, {"name2", s.name2, s.name2 == ""}, {"file", s.file, s.file == 0}, {"flag", s.flag, s.flag == 0},
		{"perm", uint32(s.perm), s.perm == 0}, {"data", s.data, s.data == ""}, {"off", s.off, s.off == 0}, {"n", s.n, s.n == 0},
		{"t", s.t, s.t.IsZero()}, {"t2", s.t2, s.t2.IsZero()},
	} {
		if !f.zero {
			text += fmt.Sprintf(", %s: %#v", f.name, f.value)
		}
	}
	return text + "}"
}

// short keeps a line of Go readable.
func short(s string) string {
	if len(s) > 600 {
		return s[:20] + "…" + s[len(s)-20:]
	}
	return s
}

// A subject is somebody who answers as package os does.
type subject struct {
	what string
	sys  osfs.FS
	root string    // the directory that everything happens in
	none osfs.File // a nil *File

	files    map[int]*opened
	temps    []string // names made by CreateTemp and MkdirTemp
	changes  int      // steps that may have changed a directory
	answered int
}

// An opened is a file that a step has opened. It may be closed by now.
type opened struct {
	f       osfs.File
	dir     bool
	changes int      // the subject's, when the directory was opened or rewound
	names   []string // read since then
}

func (s *subject) path(name string) string {
	if name == "" {
		return ""
	}
	return s.root + "/" + name
}

// answer makes one step and says what it answered, without what must differ: the root,
// random names, the time.
func (s *subject) answer(st step) string {
	s.answered++
	words := s.make(st)
	return s.plain(strings.Join(words, " "))
}

// plain takes the root and random names out of a text.
func (s *subject) plain(text string) string {
	text = strings.ReplaceAll(text, s.root, "")
	for i, name := range slices.Backward(s.temps) { // 1-1 is in 1-11
		text = strings.ReplaceAll(text, name, fmt.Sprintf("TEMP%d", i+1))
	}
	return text
}

// said words an answer; values of a failed call count too.
func said(err error, values ...any) []string {
	words := []string{errorText(err)}
	for _, v := range values {
		words = append(words, fmt.Sprintf("%v", v))
	}
	return words
}

// errorText says everything that a program can find out about an error.
func errorText(err error) string {
	if err == nil {
		return "ok"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%q", err.Error())
	for e := err; e != nil; e = errors.Unwrap(e) {
		switch e.(type) {
		case *fs.PathError, *os.LinkError, *os.SyscallError, syscall.Errno:
			fmt.Fprintf(&b, " %T", e)
		default:
			b.WriteString(" error")
		}
	}
	for i, is := range []error{fs.ErrExist, fs.ErrNotExist, fs.ErrPermission, fs.ErrClosed, fs.ErrInvalid} {
		if errors.Is(err, is) {
			fmt.Fprintf(&b, " is%d", i)
		}
	}
	fmt.Fprintf(&b, " errno %d", fsfake.Errno(err))
	return b.String()
}

// longAgo is later than any time that a step sets, and earlier than any clock.
var longAgo = time.Date(2022, 1, 1, 0, 0, 0, 0, time.UTC)

func infoText(fi fs.FileInfo) string {
	if fi == nil {
		return "no info"
	}
	t := "now"
	if fi.ModTime().Before(longAgo) {
		t = fi.ModTime().UTC().Format(time.RFC3339Nano)
	}
	size := fi.Size()
	if !fi.Mode().IsRegular() { // of a directory the file system's; of a symlink that of the root in it, too
		size = 0
	}
	var owner string
	switch st := fi.Sys().(type) {
	case *syscall.Stat_t:
		owner = fmt.Sprint(st.Nlink, " ", st.Uid, ":", st.Gid)
	case *fsfake.Stat:
		owner = fmt.Sprint(st.Nlink, " ", st.UID, ":", st.GID)
	}
	return fmt.Sprintf("%s %v %d %s %s", fi.Name(), fi.Mode(), size, owner, t)
}

// temp remembers the name that CreateTemp or MkdirTemp has made or tried.
func (s *subject) temp(name, pattern string, err error) {
	if failed := (*fs.PathError)(nil); errors.As(err, &failed) {
		name = failed.Path
	}
	base := name[strings.LastIndexByte(name, '/')+1:]
	prefix, suffix := pattern, ""
	if i := strings.LastIndexByte(pattern, '*'); i >= 0 {
		prefix, suffix = pattern[:i], pattern[i+1:]
	}
	random, ok := strings.CutPrefix(base, prefix)
	if random, ok2 := strings.CutSuffix(random, suffix); ok && ok2 && strings.Trim(random, "0123456789-") == "" && random != "" {
		s.temps = append(s.temps, random)
	}
}

// enter enters a file that was opened, and says what it is.
func (s *subject) enter(as int, f osfs.File, err error) []string {
	if err != nil {
		return said(err, f == nil)
	}
	fi, ferr := f.Stat()
	s.files[as] = &opened{f: f, dir: ferr == nil && fi.IsDir(), changes: s.changes}
	return append(said(err, f.Name()), said(ferr, infoText(fi))...)
}

// readOnly are the steps that change no directory.
var readOnly = []string{"Stat", "Lstat", "SameFile", "Readlink", "ReadFile", "Open", "File.Read", "File.ReadAt", "File.Seek", "File.Stat",
	"File.Name", "File.Readdirnames", "File.Readdir", "File.Close", "File.Flock", "File.Sync"}

func (s *subject) make(st step) []string {
	if !slices.Contains(readOnly, st.call) {
		s.changes++
	}
	if method, ok := strings.CutPrefix(st.call, "File."); ok {
		return s.makeFile(method, st)
	}
	sys, name, name2 := s.sys, s.path(st.name), s.path(st.name2)
	switch st.call {
	case "OpenFile":
		f, err := sys.OpenFile(name, st.flag, st.perm)
		return s.enter(st.file, f, err)
	case "Open":
		f, err := sys.Open(name)
		return s.enter(st.file, f, err)
	case "Create":
		f, err := sys.Create(name)
		return s.enter(st.file, f, err)
	case "CreateTemp":
		f, err := sys.CreateTemp(name, st.data)
		if err != nil {
			s.temp("", st.data, err)
		} else {
			s.temp(f.Name(), st.data, nil)
		}
		return s.enter(st.file, f, err)
	case "MkdirTemp":
		made, err := sys.MkdirTemp(name, st.data)
		s.temp(made, st.data, err)
		return said(err, made)
	case "ReadFile":
		data, err := sys.ReadFile(name)
		return said(err, len(data), string(data), data == nil)
	case "WriteFile":
		return said(sys.WriteFile(name, []byte(st.data), st.perm))
	case "Stat":
		fi, err := sys.Stat(name)
		return said(err, infoText(fi))
	case "Lstat":
		fi, err := sys.Lstat(name)
		return said(err, infoText(fi))
	case "SameFile":
		a, err := sys.Stat(name)
		b, err2 := sys.Lstat(name2)
		return append(said(err), said(err2, sys.SameFile(a, b), sys.SameFile(a, a), sys.SameFile(b, nil))...)
	case "Remove":
		return said(sys.Remove(name))
	case "RemoveAll":
		if strings.HasSuffix(name, "/..") {
			return []string{"passed over: once the directory before the dots is gone, only descriptors lead on"}
		}
		return said(sys.RemoveAll(name))
	case "Rename":
		return said(sys.Rename(name, name2))
	case "Link":
		return said(sys.Link(name, name2))
	case "Symlink":
		if strings.HasPrefix(st.name, "/") {
			return said(sys.Symlink(s.root+st.name, name2))
		}
		return said(sys.Symlink(st.name, name2))
	case "Readlink":
		to, err := sys.Readlink(name)
		return said(err, to)
	case "Mkdir":
		return said(sys.Mkdir(name, st.perm))
	case "MkdirAll":
		return said(sys.MkdirAll(name, st.perm))
	case "Truncate":
		if fi, err := sys.Stat(name); err == nil && fi.Size() == st.off {
			return []string{"passed over: whether that changes the times is the file system's"}
		}
		return said(sys.Truncate(name, st.off))
	case "Chmod":
		return said(sys.Chmod(name, st.perm))
	case "Chown":
		return said(sys.Chown(name, st.n, int(st.off)))
	case "Chtimes":
		return said(sys.Chtimes(name, st.t, st.t2))
	}
	panic("no step is called " + st.call)
}

func (s *subject) makeFile(method string, st step) []string {
	o := s.files[st.file]
	switch {
	case st.file < 0 && method == "Name":
		return nil // package os panics
	case st.file < 0:
		o = &opened{f: s.none}
	case o == nil:
		return []string{"no such file"}
	}
	f := o.f
	switch method {
	case "Name":
		return []string{f.Name()}
	case "Read":
		b := make([]byte, st.n)
		n, err := f.Read(b)
		return said(err, n, string(b))
	case "ReadAt":
		b := make([]byte, st.n)
		n, err := f.ReadAt(b, st.off)
		return said(err, n, string(b))
	case "Write":
		n, err := f.Write([]byte(st.data))
		return said(err, n)
	case "WriteString":
		n, err := f.WriteString(st.data)
		return said(err, n)
	case "WriteAt":
		n, err := f.WriteAt([]byte(st.data), st.off)
		return said(err, n)
	case "Seek":
		if o.dir && (st.off != 0 || st.n != 0) {
			return []string{"passed over: that is not modelled"}
		}
		n, err := f.Seek(st.off, st.n)
		if err == nil {
			o.names, o.changes = nil, s.changes
		}
		return said(err, n)
	case "Close":
		return said(f.Close())
	case "Stat":
		fi, err := f.Stat()
		return said(err, infoText(fi))
	case "Truncate":
		return said(f.Truncate(st.off))
	case "Sync":
		return said(f.Sync())
	case "Flock":
		return said(f.Flock(st.flag))
	case "Readdirnames":
		if o.dir && o.changes != s.changes {
			return []string{"passed over: what a changed directory shows is the file system's"}
		}
		names, err := f.Readdirnames(st.n)
		return s.listed(o, st.n, err, names, names == nil)
	case "Readdir":
		if o.dir && o.changes != s.changes {
			return []string{"passed over: what a changed directory shows is the file system's"}
		}
		infos, err := f.Readdir(st.n)
		var names []string
		for _, fi := range infos {
			names = append(names, infoText(fi))
		}
		return s.listed(o, st.n, err, names, infos == nil)
	}
	panic("no step is called File." + method)
}

// listed says what was read of a directory. Its order is the file system's, so what names
// came first is not said, but at the end which they were.
func (s *subject) listed(o *opened, n int, err error, names []string, isNil bool) []string {
	for _, name := range names {
		o.names = append(o.names, s.plain(name))
	}
	words := said(err, len(names), isNil)
	if n <= 0 || err != nil {
		slices.Sort(o.names)
		words = append(words, strings.Join(o.names, ", "))
	}
	return words
}

// tree says what is there in the end.
func (s *subject) tree() []string {
	var lines []string
	var walk func(name string)
	walk = func(name string) {
		fi, err := s.sys.Lstat(s.root + name)
		line := name + " " + strings.Join(said(err, infoText(fi)), " ")
		switch {
		case err != nil:
		case fi.Mode()&fs.ModeSymlink != 0:
			to, err := s.sys.Readlink(s.root + name)
			line += " " + strings.Join(said(err, to), " ")
		case fi.Mode().IsRegular():
			data, err := s.sys.ReadFile(s.root + name)
			line += " " + strings.Join(said(err, string(data)), " ")
		}
		lines = append(lines, s.plain(line))
		if err != nil || !fi.IsDir() {
			return
		}
		d, err := s.sys.Open(s.root + name)
		if err != nil {
			lines = append(lines, s.plain(strings.Join(said(err), " ")))
			return
		}
		names, _ := d.Readdirnames(-1)
		_ = d.Close()
		for _, n := range names {
			walk(name + "/" + n)
		}
	}
	walk("")
	slices.Sort(lines)
	return lines
}

func (s *subject) close() {
	for _, o := range s.files {
		_ = o.f.Close()
	}
}
