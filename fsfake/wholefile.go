package fsfake

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
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

// Temporary names. They hold the pid, the task and a count where package os draws digits,
// so that a name is a function of the task's own past.

// CreateTemp is os.CreateTemp: open with O_EXCL under a new name, again while the name
// exists. The default directory is /tmp.
func (p *Proc) CreateTemp(dir, pattern string) (*File, error) {
	var f *File
	_, err := p.temporary("createtemp", dir, pattern, func(name string) (err error) {
		f, err = p.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		return err
	})
	return f, err
}

// MkdirTemp is os.MkdirTemp: mkdir under a new name, again while the name exists; when the
// directory does not exist, a stat(2) of it words the error. The default directory is /tmp.
func (p *Proc) MkdirTemp(dir, pattern string) (string, error) {
	name, err := p.temporary("mkdirtemp", dir, pattern, func(name string) error { return p.Mkdir(name, 0o700) })
	if errors.Is(err, fs.ErrNotExist) {
		serr := p.pathCall("stat", Op{Call: CallStat, Path: tempDir(dir), Flags: LookType})
		if errors.Is(serr, fs.ErrNotExist) {
			err = serr
		}
	}
	if err != nil {
		return "", err
	}
	return name, nil
}

func tempDir(dir string) string {
	if dir == "" {
		return "/tmp"
	}
	return dir
}

// temporary has something made under a name that nobody has.
func (p *Proc) temporary(op, dir, pattern string, create func(name string) error) (string, error) {
	if strings.Contains(pattern, "/") {
		return "", &fs.PathError{Op: op, Path: pattern, Err: errSeparator}
	}
	prefix, suffix := pattern, ""
	if i := strings.LastIndexByte(pattern, '*'); i >= 0 {
		prefix, suffix = pattern[:i], pattern[i+1:]
	}
	if dir = tempDir(dir); !strings.HasSuffix(dir, "/") {
		dir += "/"
	}
	prefix = dir + prefix
	p.port.Note(PidSeen)
	const attempts = 10000
	for range attempts {
		p.temp++
		name := prefix + strconv.Itoa(p.pid) + "-" + strconv.Itoa(p.task) + "-" + strconv.Itoa(p.temp) + suffix
		if err := create(name); !errors.Is(err, fs.ErrExist) {
			return name, err
		}
	}
	return "", &fs.PathError{Op: op, Path: prefix + "*" + suffix, Err: fs.ErrExist}
}

var errSeparator = errors.New("pattern contains path separator")

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
