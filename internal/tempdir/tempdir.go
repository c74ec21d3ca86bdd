// Package tempdir makes temporary directories of which none stays for good: what a killed program has left is removed
// when the next one makes its own.
//
// A program holds a lock on its directory, which ends with its process. Pids would not tell whether it lives: programs
// in other pid namespaces may share the directory of temporary files.
package tempdir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
)

const prefix = "lockpick-run-"

// A Dir is a temporary directory. The zero Dir is none.
type Dir struct {
	Path string
	lock *os.File // nil where directories cannot be locked
}

// New makes a temporary directory, and removes those of programs that were killed.
func New() (Dir, error) {
	left, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*"))
	for _, path := range left {
		if lock, err := hold(path); err == nil {
			Dir{path, lock}.Remove()
		}
	}
	for {
		path, err := os.MkdirTemp("", prefix+strconv.Itoa(os.Getpid())+"-")
		if err != nil {
			return Dir{}, fmt.Errorf("a temporary directory: %w", err)
		}
		lock, err := hold(path)
		if _, gone := os.Stat(path); gone == nil && !errors.Is(err, errHeld) {
			return Dir{path, lock}, nil
		}
		Dir{lock: lock}.Remove() // another program has taken it for one that was left
	}
}

// Remove removes the directory, also where a program has taken all rights from those in it.
func (d Dir) Remove() {
	if d.Path != "" && os.RemoveAll(d.Path) != nil {
		_ = filepath.WalkDir(d.Path, func(name string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() {
				_ = os.Chmod(name, 0o700)
			}
			return nil
		})
		_ = os.RemoveAll(d.Path)
	}
	d.lock.Close()
}

// errHeld says that somebody holds the lock on a directory.
var errHeld = errors.New("held")
