package osfs

import (
	"io"
	"io/fs"

	"lockpick/fsfake"
)

// file is an fsfake.File with the care that os.File takes: once closed it makes no
// more calls, because its descriptor may be another file's by then.
type file struct {
	f      *fsfake.File
	closed bool
	names  []string // of a directory, read and not handed out yet
}

// use returns os.ErrClosed for a closed file, as os.File does.
func (f *file) use(op string) error {
	if f.closed {
		return &fs.PathError{Op: op, Path: f.Name(), Err: fs.ErrClosed}
	}
	return nil
}

func (f *file) Name() string { return f.f.Name() }

func (f *file) Close() error {
	if err := f.use("close"); err != nil {
		return err
	}
	f.closed = true
	return f.f.Close()
}

func (f *file) Read(b []byte) (int, error) {
	if err := f.use("read"); err != nil || len(b) == 0 {
		return 0, err
	}
	return f.f.Read(b)
}

func (f *file) ReadAt(b []byte, off int64) (int, error) {
	if err := f.use("read"); err != nil || len(b) == 0 {
		return 0, err
	}
	return f.f.ReadAt(b, off)
}

func (f *file) Write(b []byte) (int, error) {
	if err := f.use("write"); err != nil {
		return 0, err
	}
	return f.f.Write(b)
}

func (f *file) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

func (f *file) WriteAt(b []byte, off int64) (int, error) {
	if err := f.use("write"); err != nil || len(b) == 0 {
		return 0, err
	}
	return f.f.WriteAt(b, off)
}

func (f *file) Seek(offset int64, whence int) (int64, error) {
	if err := f.use("seek"); err != nil {
		return 0, err
	}
	f.names = nil
	return f.f.Seek(offset, whence)
}

func (f *file) Stat() (fs.FileInfo, error) {
	if err := f.use("stat"); err != nil {
		return nil, err
	}
	return f.f.Stat()
}

func (f *file) Truncate(size int64) error {
	if err := f.use("truncate"); err != nil {
		return err
	}
	return f.f.Truncate(size)
}

func (f *file) Sync() error {
	if err := f.use("sync"); err != nil {
		return err
	}
	return f.f.Sync()
}

func (f *file) Flock(how int) error {
	if err := f.use("flock"); err != nil {
		return err
	}
	return f.f.Flock(how)
}

// Readdirnames reads the directory in one step and hands the names out; at the end it
// reads again.
func (f *file) Readdirnames(n int) ([]string, error) {
	if err := f.use("readdirent"); err != nil {
		return nil, err
	}
	if len(f.names) == 0 || n <= 0 {
		more, err := f.f.Readdirnames()
		if err != nil {
			return nil, err
		}
		f.names = append(f.names, more...)
	}
	if n > 0 && len(f.names) == 0 {
		return nil, io.EOF
	}
	if n <= 0 || n > len(f.names) {
		n = len(f.names)
	}
	out := f.names[:n:n]
	f.names = f.names[n:]
	return out, nil
}
