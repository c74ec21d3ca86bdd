package fsfake

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// The functions of package os that make and remove several directories.

// MkdirAll is os.MkdirAll: a stat(2), and only when that fails the same for the
// parent and a mkdir(2); after a failed mkdir an lstat(2).
func (p *Proc) MkdirAll(name string, perm fs.FileMode) error {
	r := p.port.Do(Op{Call: CallStat, Path: name, Flags: LookType})
	if r.Errno == 0 {
		if r.Stat.Mode.IsDir() {
			return nil
		}
		return &fs.PathError{Op: "mkdir", Path: name, Err: syscall.ENOTDIR}
	}
	trimmed := strings.TrimRight(name, "/")
	if i := strings.LastIndexByte(trimmed, '/'); i > 0 {
		if err := p.MkdirAll(trimmed[:i], perm); err != nil {
			return err
		}
	}
	err := p.Mkdir(name, perm)
	if err != nil {
		if l := p.port.Do(Op{Call: CallLstat, Path: name, Flags: LookType}); l.Errno == 0 && l.Stat.Mode.IsDir() {
			return nil
		}
	}
	return err
}

// RemoveAll is os.RemoveAll: it removes a name and whatever is below it, and what is not
// there is no error. It makes the system calls of package os, in its order, but by path
// where package os goes from directory to directory by descriptors: a directory on the way
// that is renamed meanwhile is not followed to its new place.
func (p *Proc) RemoveAll(name string) error {
	if name == "" {
		return nil
	}
	if name == "." || strings.HasSuffix(name, "/.") {
		return &fs.PathError{Op: "RemoveAll", Path: name, Err: syscall.EINVAL}
	}
	if err := p.Remove(name); err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	dir, base := splitPath(name)
	parent, err := p.Open(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	}
	defer parent.Close()
	if base == "/" {
		return p.removeTree(base)
	}
	return p.removeTree(dir + "/" + base)
}

// splitPath splits a path at its last component, without the slashes at its end.
func splitPath(path string) (dir, base string) {
	for len(path) > 1 && strings.HasSuffix(path, "/") {
		path = path[:len(path)-1]
	}
	if strings.HasPrefix(path, "/") {
		path = "/" + strings.TrimLeft(path, "/")
	}
	switch i := strings.LastIndexByte(path, '/'); {
	case i < 0 || path == "/":
		return ".", path
	case i == 0:
		return "/", path[1:]
	default:
		return path[:i], path[i+1:]
	}
}

// namesAtOnce is how many names of a directory are read before they are removed.
const namesAtOnce = 1024

// removeTree is what os.RemoveAll does in a directory that it has opened.
func (p *Proc) removeTree(name string) error {
	failed := func(op string, e error) error { return &fs.PathError{Op: op, Path: name, Err: e} }
	unlink := p.port.Do(Op{Call: CallUnlink, Path: name}).Errno
	switch unlink {
	case 0, syscall.ENOENT:
		return nil
	case syscall.EISDIR, syscall.EPERM, syscall.EACCES: // perhaps a directory
	default:
		return failed("unlinkat", unlink)
	}
	var first error // of those below
	for n := namesAtOnce; n == namesAtOnce; {
		f, err := p.OpenFile(name, os.O_RDONLY|O_DIRECTORY|O_NOFOLLOW, 0)
		switch e := Errno(err); e {
		case 0:
		case syscall.ENOENT:
			return nil
		case syscall.ENOTDIR:
			return failed("unlinkat", unlink)
		default:
			first, n = failed("openfdat", e), 0
			continue
		}
		n, err = p.removeNames(f, &first)
		_ = f.Close()
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil
		case err != nil:
			return failed("readdirnames", err)
		}
	}
	switch e := p.port.Do(Op{Call: CallRmdir, Path: name}).Errno; {
	case e == 0 || e == syscall.ENOENT:
		return nil
	case first != nil:
		return first
	default:
		return failed("unlinkat", e)
	}
}

// removeNames removes what is in a directory, and returns how many names it read last.
// The first error of a name goes to first.
func (p *Proc) removeNames(f *File, first *error) (int, error) {
	for {
		names, err := f.Readdirnames(namesAtOnce)
		if err != nil && !errors.Is(err, io.EOF) {
			return 0, err
		}
		failures := 0
		for _, n := range names {
			err := p.removeTree(f.name + "/" + n)
			if err != nil {
				failures++
			}
			if *first == nil {
				*first = err
			}
		}
		if failures < namesAtOnce { // what is left may come up again: it is to be read anew
			return len(names), nil
		}
	}
}
