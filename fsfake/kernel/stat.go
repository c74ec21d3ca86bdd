//go:build linux

package kernel

import (
	"io/fs"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// What this kernel tells of a file, as the fake tells it.

func (c *caller) stat(fd int, p string, flags int) fsfake.Result {
	var x unix.Statx_t
	if err := unix.Statx(fd, p, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &x); err != nil {
		return failed(err)
	}
	st := statOf(&x)
	if c.prefix != "" && st.Mode&fs.ModeSymlink != 0 && p != "" {
		st.Size = c.readlink(fd, p).N
	}
	return fsfake.Result{Stat: st}
}

func statOf(x *unix.Statx_t) fsfake.Stat {
	ns := func(t unix.StatxTimestamp) int64 { return t.Sec*1e9 + int64(t.Nsec) }
	return fsfake.Stat{
		Ino: x.Ino, Dev: unix.Mkdev(x.Dev_major, x.Dev_minor), Nlink: x.Nlink, Mode: modeOf(x.Mode),
		UID: x.Uid, GID: x.Gid, Size: int64(x.Size),
		Atime: ns(x.Atime), Mtime: ns(x.Mtime), Ctime: ns(x.Ctime), Btime: ns(x.Btime),
	}
}

func modeOf(m uint16) fs.FileMode {
	f := fs.FileMode(m & 0o777)
	switch m & unix.S_IFMT {
	case unix.S_IFDIR:
		f |= fs.ModeDir
	case unix.S_IFLNK:
		f |= fs.ModeSymlink
	case unix.S_IFIFO:
		f |= fs.ModeNamedPipe
	case unix.S_IFSOCK:
		f |= fs.ModeSocket
	case unix.S_IFREG:
	default:
		f |= fs.ModeIrregular
	}
	for _, b := range [...]struct {
		bit  uint16
		mode fs.FileMode
	}{{unix.S_ISVTX, fs.ModeSticky}, {unix.S_ISGID, fs.ModeSetgid}, {unix.S_ISUID, fs.ModeSetuid}} {
		if m&b.bit != 0 {
			f |= b.mode
		}
	}
	return f
}
