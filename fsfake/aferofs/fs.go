package aferofs

import (
	"io/fs"
	"os"
	"time"

	"github.com/spf13/afero"

	"lockpick/fsfake"
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

func (a procFs) Create(name string) (afero.File, error) { return file(a.p.Create(name)) }
func (a procFs) Open(name string) (afero.File, error)   { return file(a.p.Open(name)) }

func (a procFs) OpenFile(name string, flag int, perm fs.FileMode) (afero.File, error) {
	return file(a.p.OpenFile(name, flag, perm))
}

// file is an open file as an afero.File. It has no Fd() uintptr.
func file(f *fsfake.File, err error) (afero.File, error) {
	if err != nil {
		return nil, err // not an afero.File that holds a nil pointer
	}
	return f, nil
}

func (a procFs) Mkdir(name string, perm fs.FileMode) error    { return a.p.Mkdir(name, perm) }
func (a procFs) MkdirAll(name string, perm fs.FileMode) error { return a.p.MkdirAll(name, perm) }
func (a procFs) Remove(name string) error                     { return a.p.Remove(name) }
func (a procFs) RemoveAll(name string) error                  { return a.p.RemoveAll(name) }
func (a procFs) Rename(oldname, newname string) error         { return a.p.Rename(oldname, newname) }
func (a procFs) Stat(name string) (fs.FileInfo, error)        { return a.p.Stat(name) }
func (a procFs) Chmod(name string, mode fs.FileMode) error    { return a.p.Chmod(name, mode) }

func (a procFs) Chown(name string, uid, gid int) error { return a.p.Chown(name, uid, gid) }

func (a procFs) Chtimes(name string, atime, mtime time.Time) error {
	return a.p.Chtimes(name, atime, mtime)
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
