//go:build linux

package kernel

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"strings"

	"golang.org/x/sys/unix"
	"lockpick/fsfake"
)

// Looking at the real machine from outside, as the methods of [fsfake.Machine] do at the
// fake.

// An Entry is a name on the disk.
type Entry struct {
	Path string // as the processes see it
	Stat fsfake.Stat
	// Content of a file; target of a symlink.
	Content string
}

// Tree lists every name on the disk, sorted, directories before what is in them. It begins
// with "/".
func (m *Machine) Tree() ([]Entry, error) { return m.tree("/", nil) }

func (m *Machine) tree(p string, to []Entry) ([]Entry, error) {
	real := m.root + p
	c := caller{}
	if !m.Rooted() {
		c.prefix = m.root
	}
	r := (&caller{}).stat(unix.AT_FDCWD, real, unix.AT_SYMLINK_NOFOLLOW)
	if !r.OK() {
		return to, fmt.Errorf("kernel: looking at %s: %w", p, r.Errno)
	}
	e := Entry{Path: p, Stat: r.Stat}
	var names []string
	switch {
	case r.Stat.Mode.IsDir():
		var err error
		if names, err = listDir(real); err != nil {
			return to, err
		}
	case r.Stat.Mode&fs.ModeSymlink != 0:
		t, err := os.Readlink(real)
		if err != nil {
			return to, err
		}
		e.Content = c.target(t)
		e.Stat.Size = int64(len(e.Content))
	case !r.Stat.Mode.IsRegular():
	case m.Rooted() || r.Stat.Mode&0o400 != 0:
		b, err := readAll(real, r.Stat.Size)
		if err != nil {
			return to, err
		}
		e.Content = string(b)
	}
	to = append(to, e)
	for _, n := range names {
		var err error
		if to, err = m.tree(path.Join(p, n), to); err != nil {
			return to, err
		}
	}
	return to, nil
}

// listDir returns the names in a directory, sorted.
func listDir(dir string) ([]string, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("kernel: looking at %s: %w", dir, err)
	}
	defer unix.Close(fd)
	r := readdir(fd)
	if r.Errno != 0 {
		return nil, fmt.Errorf("kernel: looking at %s: %w", dir, r.Errno)
	}
	if r.Data == "" {
		return nil, nil
	}
	return strings.Split(r.Data, "\x00"), nil
}

// readAll reads a file of which the size is known.
func readAll(name string, size int64) ([]byte, error) {
	if size == 0 {
		return nil, nil
	}
	fd, err := unix.Open(name, unix.O_RDONLY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, err
	}
	defer unix.Close(fd)
	b := make([]byte, size)
	n, err := unix.Read(fd, b)
	return b[:max(n, 0)], err
}
