//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// What is asked about files.

// stat is stat, lstat, fstatat and statx.
func (t *thread) stat(dirfd, i, to, flags int) {
	if flags&unix.AT_EMPTY_PATH != 0 && t.emptyPath(i) {
		t.c.text = ""
		if d := t.p.fds[dirfd]; d.isFake() {
			t.askStat(fsfake.Op{Call: fsfake.CallFstat, FD: d.fake}, to)
			return
		}
		if dirfd != unix.AT_FDCWD || t.p.cwd == "" {
			t.fstat(dirfd, to)
			return
		}
		t.askStat(fsfake.Op{Call: fsfake.CallStat, Path: "."}, to)
		return
	}
	_, pl, ok := t.name(dirfd, i, flags&unix.AT_SYMLINK_NOFOLLOW == 0)
	switch {
	case !ok:
	case !pl.virtual:
		t.real(pl, i)
	case pl.fd >= 0 && flags&unix.AT_SYMLINK_NOFOLLOW != 0:
		t.showLink(pl.fd, to)
	case pl.fd >= 0:
		t.askStat(fsfake.Op{Call: fsfake.CallFstat, FD: t.p.fds[pl.fd].fake}, to)
	case flags&unix.AT_SYMLINK_NOFOLLOW != 0:
		t.askStat(fsfake.Op{Call: fsfake.CallLstat, Path: pl.path}, to)
	default:
		t.askStat(fsfake.Op{Call: fsfake.CallStat, Path: pl.path}, to)
	}
}

// showLink shows the symbolic link below /proc/self/fd of a descriptor of the fake. Its permissions say how it is open.
func (t *thread) showLink(fd, to int) {
	flags := t.p.fds[fd].file.flags
	access := flags & unix.O_ACCMODE
	mode := fs.ModeSymlink | fs.FileMode(bit(flags&unix.O_PATH == 0 && access != unix.O_WRONLY, 0o400)|
		bit(flags&unix.O_PATH == 0 && access != unix.O_RDONLY, 0o200)|0o100)
	st := fsfake.Stat{Ino: 1<<32 + uint64(fd), Nlink: 1, Mode: mode, Size: 64}
	st.UID, st.GID = uint32(os.Getuid()), uint32(os.Getgid())
	t.put(t.c.args[to], t.statStruct(st), 0)
}

// emptyPath: argument i is NULL or points to an empty string.
func (t *thread) emptyPath(i int) bool {
	if t.c.args[i] == 0 {
		return true
	}
	b, err := readMem(t.tid, t.c.args[i], 1)
	return err == nil && b[0] == 0
}

// nameless is a call by an empty name, which means the descriptor itself, where that is not
// modelled: it has faulted then. The kernel would answer for the placeholder.
func (t *thread) nameless(dirfd, i int) bool {
	d := t.p.fds[dirfd]
	if !d.isFake() || !t.emptyPath(i) {
		return false
	}
	t.unmodelled("of a file of the fake (%s), by an empty name, it is not modelled", d.path)
	return true
}

func (t *thread) askStat(op fsfake.Op, to int) {
	addr := t.c.args[to]
	t.askThen(op, func(r fsfake.Result) {
		b := t.statStruct(r.Stat)
		if t.through { // inode numbers and times are the fake's
			t.really(func(int64) {
				t.kernel.Stat = t.statOf(addr)
				_ = writeMem(t.tid, addr, b)
			})
			return
		}
		t.put(addr, b, 0)
	})
}

// statStruct is what the call writes that asks about a file.
func (t *thread) statStruct(s fsfake.Stat) []byte {
	if t.c.nr == unix.SYS_STATX {
		return statxBytes(s)
	}
	return statBytes(s)
}

// statBytes is struct stat.
func statBytes(s fsfake.Stat) []byte {
	b := putUint64s(s.Dev, s.Ino, uint64(s.Nlink))
	le := binary.LittleEndian
	b = le.AppendUint32(b, unixMode(s.Mode))
	b = le.AppendUint32(b, s.UID)
	b = le.AppendUint32(b, s.GID)
	b = le.AppendUint32(b, 0)
	b = append(b, putUint64s(0, uint64(s.Size), pageSize, blocks(s))...)
	for _, ns := range []int64{s.Atime, s.Mtime, s.Ctime} {
		sec, nsec := seconds(ns)
		b = append(b, putUint64s(uint64(sec), uint64(nsec))...)
	}
	return append(b, make([]byte, 24)...)
}

// statxBytes is struct statx, with the basic fields and the time of birth.
func statxBytes(s fsfake.Stat) []byte {
	le := binary.LittleEndian
	var b []byte
	b = le.AppendUint32(b, unix.STATX_BASIC_STATS|unix.STATX_BTIME)
	b = le.AppendUint32(b, pageSize)
	b = le.AppendUint64(b, 0)
	b = le.AppendUint32(b, s.Nlink)
	b = le.AppendUint32(b, s.UID)
	b = le.AppendUint32(b, s.GID)
	b = le.AppendUint16(b, uint16(unixMode(s.Mode)))
	b = le.AppendUint16(b, 0)
	b = append(b, putUint64s(s.Ino, uint64(s.Size), blocks(s), 0)...)
	for _, ns := range []int64{s.Atime, s.Btime, s.Ctime, s.Mtime} {
		sec, nsec := seconds(ns)
		b = append(b, putUint64s(uint64(sec), uint64(nsec))...)
	}
	b = append(b, make([]byte, 8)...) // rdev
	b = le.AppendUint32(b, uint32(unix.Major(s.Dev)))
	b = le.AppendUint32(b, uint32(unix.Minor(s.Dev)))
	return append(b, make([]byte, 256-len(b))...)
}

// blocks is what ext4 allocates: whole pages, in units of 512 bytes.
func blocks(s fsfake.Stat) uint64 { return uint64((s.Size+pageSize-1)/pageSize) * (pageSize / 512) }

func seconds(ns int64) (sec, nsec int64) {
	sec, nsec = ns/1e9, ns%1e9
	if nsec < 0 {
		sec, nsec = sec-1, nsec+1e9
	}
	return sec, nsec
}

func unixMode(m fs.FileMode) uint32 {
	b := uint32(m.Perm())
	switch {
	case m.IsDir():
		b |= unix.S_IFDIR
	case m&fs.ModeSymlink != 0:
		b |= unix.S_IFLNK
	case m&fs.ModeNamedPipe != 0:
		b |= unix.S_IFIFO
	case m&fs.ModeSocket != 0:
		b |= unix.S_IFSOCK
	default:
		b |= unix.S_IFREG
	}
	for _, bit := range []struct {
		is  fs.FileMode
		has uint32
	}{{fs.ModeSetuid, unix.S_ISUID}, {fs.ModeSetgid, unix.S_ISGID}, {fs.ModeSticky, unix.S_ISVTX}} {
		if m&bit.is != 0 {
			b |= bit.has
		}
	}
	return b
}

// access is access(2), by the mode and the owner that stat(2) shows: the fake has no other
// permissions than these.
func (t *thread) access(dirfd, i, mode, flags int) {
	if mode&^(unix.R_OK|unix.W_OK|unix.X_OK) != 0 {
		t.fail(unix.EINVAL)
		return
	}
	if flags&unix.AT_EMPTY_PATH != 0 && t.nameless(dirfd, i) {
		return
	}
	_, pl, ok := t.name(dirfd, i, flags&unix.AT_SYMLINK_NOFOLLOW == 0)
	switch {
	case !ok:
	case !pl.virtual:
		t.real(pl, i)
	default:
		op := fsfake.Op{Call: fsfake.CallStat, Path: pl.path}
		if flags&unix.AT_SYMLINK_NOFOLLOW != 0 {
			op.Call = fsfake.CallLstat
		}
		if pl.fd >= 0 {
			op = fsfake.Op{Call: fsfake.CallFstat, FD: t.p.fds[pl.fd].fake}
		}
		t.askThen(op, func(r fsfake.Result) {
			if !may(r.Stat, uint32(mode)) {
				t.refused = unix.EACCES
				t.fail(unix.EACCES)
				return
			}
			t.result(0)
		})
	}
}

// may reports whether the program's user has the permissions of mask (R_OK, W_OK, X_OK) on a
// file.
func may(s fsfake.Stat, mask uint32) bool {
	mode := uint32(s.Mode.Perm())
	switch {
	case os.Getuid() == 0:
		return mask&unix.X_OK == 0 || s.Mode.IsDir() || mode&0o111 != 0
	case uint32(os.Getuid()) == s.UID:
		mode >>= 6
	case uint32(os.Getgid()) == s.GID:
		mode >>= 3
	}
	return mode&mask == mask
}

// statfs asks whether the file is there; its file system is always the same.
func (t *thread) statfs(c *call) {
	_, pl, ok := t.name(unix.AT_FDCWD, 0, true)
	switch {
	case !ok:
	case !pl.virtual:
		t.realThen(pl, 0, t.steadyRoom)
	case pl.fd >= 0:
		t.put(c.args[1], fileSystem(), 0)
	default:
		t.askThen(fsfake.Op{Call: fsfake.CallStat, Path: pl.path}, func(fsfake.Result) { t.put(c.args[1], fileSystem(), 0) })
	}
}

// fileSystem is struct statfs of the fake's file system: ext4, with room for everything.
func fileSystem() []byte {
	const blocks, files = 1 << 24, 1 << 20
	b := putUint64s(unix.EXT4_SUPER_MAGIC, pageSize, blocks, blocks/2, blocks/2, files, files/2, 1, 255, pageSize, 0)
	return append(b, make([]byte, 120-len(b))...)
}
