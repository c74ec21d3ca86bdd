package runs

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrFull is the error of a folder that would become larger than its limit.
var ErrFull = errors.New("the limit of the folder is reached")

// A Folder is where runs lie. Nobody else may change what is in it.
type Folder struct {
	dir   string
	width int
	// limit bounds its bytes, 0 means not; used is what its files take.
	limit, used int64
	lock        *os.File
}

// OpenFolder returns a folder of rows of so many words; the directory is made where it is missing.
// Only one process can have a folder open.
func OpenFolder(dir string, width int, limit int64) (*Folder, error) {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockName), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	if err := acquire(lock); err != nil {
		return nil, errors.Join(fmt.Errorf("runs: another process works in %s: wait for it, or choose another folder: %w", dir, err), lock.Close())
	}
	f := &Folder{dir: dir, width: width, limit: limit, lock: lock}
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		var info fs.FileInfo
		if info, err = e.Info(); err != nil {
			break
		}
		f.used += info.Size()
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("runs: %w", err), lock.Close())
	}
	return f, nil
}

// lockName is the file that a process locks whose folder it is. It stays, for who removes a file
// that others may be waiting to lock lets two of them in.
const lockName = "lock"

// Close lets others open the folder.
func (f *Folder) Close() error { return f.lock.Close() }

// Used is how many bytes the files take.
func (f *Folder) Used() int64 { return f.used }

// take counts bytes that are about to be written.
func (f *Folder) take(n int) error {
	if f.limit > 0 && f.used+int64(n) > f.limit {
		return fmt.Errorf("runs: %s: %w", f.dir, ErrFull)
	}
	f.used += int64(n)
	return nil
}

// Remove removes a file of the folder. One that is not there is no error.
func (f *Folder) Remove(name string) error {
	path := filepath.Join(f.dir, name)
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		err = os.Remove(path)
	}
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	f.used -= info.Size()
	return nil
}

// Keep removes everything but the named files.
func (f *Folder) Keep(names map[string]bool) error {
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	for _, e := range entries {
		if e.Name() == lockName || names[e.Name()] {
			continue
		}
		if err := f.Remove(e.Name()); err != nil {
			return err
		}
	}
	return nil
}

// Write replaces a small file by another, so that there is one of the two at any time, also after
// a loss of power.
func (f *Folder) Write(name string, content []byte) error {
	if err := f.Remove(name + temporary); err != nil {
		return err
	}
	path := filepath.Join(f.dir, name)
	var before int64
	if info, err := os.Stat(path); err == nil {
		before = info.Size()
	}
	if err := f.take(len(content)); err != nil {
		return err
	}
	tmp, err := os.Create(path + temporary)
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	_, err = tmp.Write(content)
	if err := errors.Join(err, tmp.Sync(), tmp.Close()); err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	if err := f.name(name, true); err != nil {
		return err
	}
	f.used -= before
	return nil
}

// temporary is what the name of a file ends in that is being written.
const temporary = ".tmp"

// name gives a file its own name when it is complete. If it is to last, so does the name.
func (f *Folder) name(name string, lasts bool) error {
	path := filepath.Join(f.dir, name)
	if err := os.Rename(path+temporary, path); err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	if !lasts {
		return nil
	}
	return f.sync()
}

// sync brings names to the disk.
func (f *Folder) sync() error {
	d, err := os.Open(f.dir)
	if err != nil {
		return fmt.Errorf("runs: %w", err)
	}
	_ = d.Sync() // not every system can, and then names come to the disk in their own time
	return d.Close()
}

// Append opens a file to go on behind so many bytes of it; what is behind them is cut off. Its bytes do not
// count for the limit.
func (f *Folder) Append(name string, after int64) (*os.File, error) {
	file, err := os.OpenFile(filepath.Join(f.dir, name), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	err = file.Truncate(after)
	if err == nil {
		_, err = file.Seek(after, io.SeekStart)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("runs: %w", err), file.Close())
	}
	return file, nil
}

// String is the directory.
func (f *Folder) String() string { return f.dir }

// Read returns the content of a small file. A file that is not there is fs.ErrNotExist.
func (f *Folder) Read(name string) ([]byte, error) {
	b, err := os.ReadFile(filepath.Join(f.dir, name))
	if err != nil {
		return nil, fmt.Errorf("runs: %w", err)
	}
	return b, nil
}
