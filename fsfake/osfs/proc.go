package osfs

import (
	"io/fs"

	"lockpick/fsfake"
)

// On returns the system as the process of p sees it. Like p itself it is for one task
// only.
func On(p *fsfake.Proc) FS { return proc{p} }

// proc is a Proc whose files are Files. What it does not define is the Proc's.
type proc struct{ *fsfake.Proc }

func (p proc) OpenFile(name string, flag int, perm fs.FileMode) (File, error) {
	return wrap(p.Proc.OpenFile(name, flag, perm))
}

func (p proc) Open(name string) (File, error) { return wrap(p.Proc.Open(name)) }

func (p proc) Create(name string) (File, error) { return wrap(p.Proc.Create(name)) }

func (p proc) CreateTemp(dir, pattern string) (File, error) {
	return wrap(p.Proc.CreateTemp(dir, pattern))
}

func (proc) SameFile(a, b fs.FileInfo) bool { return fsfake.SameFile(a, b) }

func wrap(f *fsfake.File, err error) (File, error) {
	if err != nil {
		return nil, err // not a File that holds a nil pointer
	}
	return f, nil
}
