//go:build linux

package view

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// CopyTree copies what is in a directory into another one that exists, and the modes and times of all: of files and
// their hard links, directories, symbolic links, FIFOs, sockets and, as far as the process may make them their owners',
// owners. Devices are left out.
func CopyTree(from, to string) error {
	c := copier{to: to}
	err := filepath.WalkDir(from, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		i, err := e.Info()
		if err != nil {
			return err
		}
		return c.copy(name, to+strings.TrimPrefix(name, from), i)
	})
	// Last, from the inside: a lock directory may be judged by its age.
	for k := len(c.dirs) - 1; k >= 0; k-- {
		d := c.dirs[k]
		err = errors.Join(err, os.Chmod(d.name, d.mode), os.Chtimes(d.name, d.changed, d.changed))
	}
	return err
}

type copier struct {
	to    string
	dirs  []madeDir
	files []madeFile // those with several names
}

type madeDir struct {
	name    string
	mode    fs.FileMode
	changed time.Time
}

type madeFile struct {
	info fs.FileInfo
	name string
}

func (c *copier) copy(from, to string, i fs.FileInfo) error {
	const bits = fs.ModePerm | fs.ModeSetuid | fs.ModeSetgid | fs.ModeSticky
	switch {
	case i.IsDir():
		if to != c.to {
			if err := os.Mkdir(to, 0o700); err != nil {
				return err
			}
		}
		own(to, i)
		c.dirs = append(c.dirs, madeDir{to, i.Mode() & bits, i.ModTime()})
		return nil
	case i.Mode()&fs.ModeSymlink != 0:
		target, err := os.Readlink(from)
		if err != nil {
			return err
		}
		if err := os.Symlink(target, to); err != nil {
			return err
		}
		own(to, i)
		return setLinkTime(to, i.ModTime())
	case i.Mode()&fs.ModeDevice != 0:
		return nil
	}
	if several(i) {
		for _, f := range c.files {
			if os.SameFile(f.info, i) {
				return os.Link(f.name, to)
			}
		}
		c.files = append(c.files, madeFile{i, to})
	}
	if err := copyFile(from, to, i); err != nil {
		return fmt.Errorf("copying %s: %w", from, err)
	}
	own(to, i)
	return errors.Join(os.Chmod(to, i.Mode()&bits), os.Chtimes(to, i.ModTime(), i.ModTime()))
}

func copyFile(from, to string, i fs.FileInfo) error {
	switch i.Mode().Type() { // where nobody is at their other ends
	case fs.ModeNamedPipe:
		return unix.Mkfifo(to, 0o600)
	case fs.ModeSocket:
		return unix.Mknod(to, unix.S_IFSOCK|0o600, 0)
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// own gives a file to the owner of another one. An ordinary user cannot, and nobody asks.
func own(name string, like fs.FileInfo) {
	if s, ok := like.Sys().(*syscall.Stat_t); ok && os.Getuid() == 0 {
		_ = os.Lchown(name, int(s.Uid), int(s.Gid))
	}
}

// NamedElsewhere lists the files below a directory, relative to it, that have names outside of it, too. A copy is not
// such a file.
func NamedElsewhere(dir string) ([]string, error) {
	type id struct{ dev, ino uint64 }
	names, left := map[id]string{}, map[id]uint64{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		i, err := e.Info()
		if err != nil {
			return err
		}
		if s, ok := i.Sys().(*syscall.Stat_t); ok && s.Nlink > 1 {
			at := id{uint64(s.Dev), s.Ino}
			if names[at] == "" {
				names[at], left[at] = strings.TrimPrefix(name, dir+"/"), uint64(s.Nlink)
			}
			left[at]--
		}
		return nil
	})
	var out []string
	for at, n := range left { // order does not matter: they are sorted
		if n > 0 {
			out = append(out, names[at])
		}
	}
	slices.Sort(out)
	return out, err
}

// several reports whether a file has several names.
func several(i fs.FileInfo) bool {
	s, ok := i.Sys().(*syscall.Stat_t)
	return ok && s.Nlink > 1
}

// setLinkTime sets when a symbolic link was made.
func setLinkTime(name string, at time.Time) error {
	t := unix.NsecToTimespec(at.UnixNano())
	return unix.UtimesNanoAt(unix.AT_FDCWD, name, []unix.Timespec{t, t}, unix.AT_SYMLINK_NOFOLLOW)
}
