package fsfake

import (
	"errors"
	"io"
	"io/fs"
	"strings"
)

// Reading a directory through a File. Where package os reads a directory piece by piece,
// the machine gives all names, sorted, in one step; see the package's documentation.

// Readdirnames is os.File.Readdirnames: at most n names, and io.EOF at the end; or all that
// are left when n is not positive.
func (f *File) Readdirnames(n int) ([]string, error) {
	if f == nil {
		return nil, fs.ErrInvalid
	}
	if n <= 0 || len(f.names) == 0 {
		if err := f.readNames(); err != nil {
			return []string{}, err
		}
	}
	switch {
	case n <= 0:
		n = len(f.names)
	case len(f.names) == 0:
		return []string{}, io.EOF
	}
	n = min(n, len(f.names))
	names := append([]string{}, f.names[:n]...)
	f.names = f.names[n:]
	return names, nil
}

// Readdir is os.File.Readdir: it reads names as Readdirnames does, and makes an lstat(2)
// of each, by its path. Names that are gone by then are left out.
func (f *File) Readdir(n int) ([]fs.FileInfo, error) {
	if f == nil {
		return nil, fs.ErrInvalid
	}
	infos := []fs.FileInfo{}
	names, err := f.Readdirnames(n)
	if err != nil {
		return infos, err
	}
	for _, name := range names {
		info, err := f.p.Lstat(f.name + "/" + name)
		switch {
		case err == nil:
			infos = append(infos, info)
		case !errors.Is(err, fs.ErrNotExist):
			return infos, err
		}
	}
	if len(infos) == 0 && len(names) < n {
		return infos, io.EOF
	}
	return infos, nil
}

// readNames reads what is left of the directory.
func (f *File) readNames() error {
	if f.closed {
		return &fs.PathError{Op: "readdirent", Path: f.name, Err: errDirClosed}
	}
	r, err := f.call("readdirent", Op{Call: CallReaddir})
	if err != nil {
		return err
	}
	if r.Data != "" {
		f.names = append(f.names, strings.Split(r.Data, "\x00")...)
	}
	return nil
}
