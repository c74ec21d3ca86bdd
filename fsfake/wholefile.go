package fsfake

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
)

// The functions of package os that open a file, use it and close it again.

// ReadDir reads a directory as os.ReadDir does, with open, readdir and close, but returns
// the names alone, sorted.
func (p *Proc) ReadDir(name string) ([]string, error) {
	f, err := p.OpenFile(name, os.O_RDONLY|O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	names, err := f.Readdirnames(-1)
	if err != nil {
		return nil, err
	}
	return names, nil
}

// ReadFile is os.ReadFile: open, fstat, reads until one returns 0 bytes, close.
func (p *Proc) ReadFile(name string) ([]byte, error) {
	f, err := p.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size := int64(0)
	if r, err := f.call("stat", Op{Call: CallFstat, Flags: LookType}); err == nil {
		size = r.Stat.Size
	}
	// One byte more than there should be, so that the first read may show the end; never
	// less room than this; and again as much when the file has grown.
	const least = 512
	data := make([]byte, 0, max(size+1, least))
	for {
		n, err := f.Read(data[len(data):cap(data)])
		data = data[:len(data)+n]
		if errors.Is(err, io.EOF) {
			return data, nil
		}
		if err != nil {
			return data, err
		}
		if room := cap(data) - len(data); room == 0 || size == 0 && room < least {
			data = slices.Grow(data, least)
		}
	}
}

// WriteFile is os.WriteFile: open with O_CREATE|O_TRUNC, write, close.
func (p *Proc) WriteFile(name string, data []byte, perm fs.FileMode) error {
	f, err := p.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, perm)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if cerr := f.Close(); cerr != nil && err == nil {
		err = cerr
	}
	return err
}
