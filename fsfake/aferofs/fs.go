package aferofs

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/spf13/afero"

	"lockpick/fsfake"
	"lockpick/fsfake/osfs"
)

// Interfaces that afero asks for by assertion, as its own OsFs has them.
var (
	_ afero.Fs        = procFs{}
	_ afero.Symlinker = procFs{}
)

// New returns the file system as the process of p sees it. Like p itself it is for one
// task only.
func New(p *fsfake.Proc) afero.Fs { return procFs{p} }

// procFs is a Proc as an afero.Fs.
type procFs struct{ p *fsfake.Proc }

func (procFs) Name() string { return "lockpick" }

func (a procFs) Create(name string) (afero.File, error) { return a.file(osfs.On(a.p).Create(name)) }
func (a procFs) Open(name string) (afero.File, error)   { return a.file(osfs.On(a.p).Open(name)) }

func (a procFs) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	return a.file(osfs.On(a.p).OpenFile(name, flag, perm))
}

func (a procFs) Mkdir(name string, perm fs.FileMode) error    { return a.p.Mkdir(name, perm) }
func (a procFs) MkdirAll(name string, perm fs.FileMode) error { return a.p.MkdirAll(name, perm) }
func (a procFs) Remove(name string) error                     { return a.p.Remove(name) }
func (a procFs) Rename(oldname, newname string) error         { return a.p.Rename(oldname, newname) }
func (a procFs) Stat(name string) (fs.FileInfo, error)        { return a.p.Stat(name) }
func (a procFs) Chmod(name string, mode fs.FileMode) error    { return a.p.Chmod(name, mode) }

func (a procFs) Chown(name string, uid, gid int) error {
	r := a.p.Do(fsfake.Op{Call: fsfake.CallChown, Path: name, Off: int64(uid), Len: int64(gid)})
	if r.Errno != 0 {
		return &fs.PathError{Op: "chown", Path: name, Err: r.Errno}
	}
	return nil
}

func (a procFs) Chtimes(name string, atime, mtime time.Time) error {
	return a.p.Chtimes(name, atime, mtime)
}

// RemoveAll removes what it can of name and everything below it.
func (a procFs) RemoveAll(name string) error {
	err := a.p.Remove(name)
	if err == nil || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if e := fsfake.Errno(err); e != syscall.ENOTEMPTY && e != syscall.EEXIST {
		return err
	}
	names, rerr := a.p.ReadDir(name)
	if errors.Is(rerr, fs.ErrNotExist) {
		return nil
	}
	var first error
	for _, n := range names {
		if err := a.RemoveAll(name + "/" + n); first == nil {
			first = err
		}
	}
	err = a.p.Rmdir(name)
	switch {
	case err == nil || errors.Is(err, fs.ErrNotExist):
		return nil
	case first != nil:
		return first
	}
	return errors.Join(rerr, err)
}

// LstatIfPossible is os.Lstat, which is possible.
func (a procFs) LstatIfPossible(name string) (os.FileInfo, bool, error) {
	fi, err := a.p.Lstat(name)
	return fi, true, err
}

// SymlinkIfPossible is os.Symlink.
func (a procFs) SymlinkIfPossible(oldname, newname string) error {
	return a.p.Symlink(oldname, newname)
}

// ReadlinkIfPossible is os.Readlink.
func (a procFs) ReadlinkIfPossible(name string) (string, error) { return a.p.Readlink(name) }
