package aferofs

import (
	"errors"
	"io/fs"
	"strings"

	"github.com/spf13/afero"

	"lockpick/fsfake"
	"lockpick/fsfake/osfs"
)

// file is an open file as an afero.File. The descriptor is out of reach.
type file struct {
	osfs.File
	p *fsfake.Proc
}

// file makes the pair that an open returned afero's.
func (a procFs) file(f osfs.File, err error) (afero.File, error) {
	if err != nil {
		return nil, err // not an afero.File that holds a nil pointer
	}
	return &file{f, a.p}, nil
}

// Readdir is os.File.Readdir: the names, and an lstat(2) for each, without those that
// are gone by then.
func (f *file) Readdir(count int) ([]fs.FileInfo, error) {
	for {
		names, err := f.Readdirnames(count)
		if err != nil {
			return nil, err
		}
		var out []fs.FileInfo
		for _, n := range names {
			fi, err := f.p.Lstat(strings.TrimSuffix(f.Name(), "/") + "/" + n)
			switch {
			case errors.Is(err, fs.ErrNotExist):
			case err != nil:
				return out, err
			default:
				out = append(out, fi)
			}
		}
		if len(out) > 0 || count <= 0 {
			return out, nil
		}
	}
}
