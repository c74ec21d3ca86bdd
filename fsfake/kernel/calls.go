//go:build linux

package kernel

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
	"lockpick/fsfake"
)

// A caller makes calls in its own process, on the thread that it runs on.
type caller struct {
	// prefix stands for "/" in every path; empty in a chroot.
	prefix string
}

// path translates a path of the simulated machine.
func (c *caller) path(p string) string {
	if c.prefix != "" && strings.HasPrefix(p, "/") {
		return c.prefix + p
	}
	return p
}

// target translates the target of a symlink back.
func (c *caller) target(p string) string {
	if c.prefix != "" && strings.HasPrefix(p, c.prefix+"/") {
		return p[len(c.prefix):]
	}
	return p
}

func failed(err error) fsfake.Result {
	var e syscall.Errno
	if err != nil && !errors.As(err, &e) {
		return fsfake.Result{Unmodelled: err.Error()}
	}
	return fsfake.Result{Errno: e}
}

func number[T ~int | ~int64](n T, err error) fsfake.Result {
	if err != nil {
		return failed(err)
	}
	return fsfake.Result{N: int64(n)}
}

// do makes a call. Those of processes are the worker's business.
func (c *caller) do(op *fsfake.Op) fsfake.Result {
	if op.Call >= fsfake.CallRead && op.Call <= fsfake.CallLinkFD {
		return c.doFD(op)
	}
	p, p2 := c.path(op.Path), c.path(op.Path2)
	switch op.Call {
	case fsfake.CallOpen:
		return number(unix.Open(p, op.Flags, op.Mode))
	case fsfake.CallStat:
		return c.stat(unix.AT_FDCWD, p, 0)
	case fsfake.CallLstat:
		return c.stat(unix.AT_FDCWD, p, unix.AT_SYMLINK_NOFOLLOW)
	case fsfake.CallUnlink:
		return failed(unix.Unlink(p))
	case fsfake.CallRename:
		return failed(unix.Renameat2(unix.AT_FDCWD, p, unix.AT_FDCWD, p2, uint(op.Flags)))
	case fsfake.CallLink:
		return failed(unix.Linkat(unix.AT_FDCWD, p, unix.AT_FDCWD, p2, 0))
	case fsfake.CallSymlink:
		return failed(unix.Symlink(p2, p))
	case fsfake.CallReadlink:
		return c.readlink(p)
	case fsfake.CallMkdir:
		return failed(unix.Mkdir(p, op.Mode))
	case fsfake.CallRmdir:
		return failed(unix.Rmdir(p))
	case fsfake.CallTruncate:
		return failed(unix.Truncate(p, op.Len))
	case fsfake.CallUtimes:
		ts := times(op)
		return failed(unix.UtimesNanoAt(unix.AT_FDCWD, p, ts[:], 0))
	case fsfake.CallChmod:
		return failed(unix.Chmod(p, op.Mode))
	case fsfake.CallChown:
		return failed(unix.Chown(p, int(op.Off), int(op.Len)))
	case fsfake.CallKill:
		return failed(unix.Kill(op.Pid, 0))
	}
	return fsfake.Result{Unmodelled: fmt.Sprintf("%s on the real kernel", op.Call)}
}

func (c *caller) doFD(op *fsfake.Op) fsfake.Result {
	switch op.Call {
	case fsfake.CallRead:
		b := make([]byte, max(op.Len, 0))
		n, err := unix.Read(op.FD, b)
		return bytesRead(b, n, err)
	case fsfake.CallPread:
		b := make([]byte, max(op.Len, 0))
		n, err := unix.Pread(op.FD, b, op.Off)
		return bytesRead(b, n, err)
	case fsfake.CallWrite:
		return number(unix.Write(op.FD, []byte(op.Data)))
	case fsfake.CallPwrite:
		return number(unix.Pwrite(op.FD, []byte(op.Data), op.Off))
	case fsfake.CallLseek:
		return number(unix.Seek(op.FD, op.Off, op.Flags))
	case fsfake.CallClose:
		return failed(unix.Close(op.FD))
	case fsfake.CallDup:
		return number(unix.Dup(op.FD))
	case fsfake.CallFstat:
		return c.stat(op.FD, "", unix.AT_EMPTY_PATH)
	case fsfake.CallFtruncate:
		return failed(unix.Ftruncate(op.FD, op.Len))
	case fsfake.CallFutimes:
		ts := times(op)
		_, _, e := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(op.FD), 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		return fsfake.Result{Errno: e}
	case fsfake.CallFsync:
		return failed(unix.Fsync(op.FD))
	case fsfake.CallReaddir:
		return readdir(op.FD)
	case fsfake.CallFlock:
		return failed(rawFlock(op.FD, op.Flags))
	case fsfake.CallSetlk, fsfake.CallOFDSetlk, fsfake.CallGetlk, fsfake.CallOFDGetlk:
		return recordCall(op)
	case fsfake.CallLinkFD:
		return failed(unix.Linkat(op.FD, "", unix.AT_FDCWD, c.path(op.Path2), unix.AT_EMPTY_PATH))
	}
	return fsfake.Result{Unmodelled: fmt.Sprintf("%s on the real kernel", op.Call)}
}

func times(op *fsfake.Op) [2]unix.Timespec {
	return [2]unix.Timespec{timespec(op.Time), timespec(op.Time2)}
}

func timespec(t int64) unix.Timespec {
	if t == fsfake.UTIME_OMIT {
		return unix.Timespec{Nsec: unix.UTIME_OMIT}
	}
	return unix.NsecToTimespec(t)
}

func bytesRead(b []byte, n int, err error) fsfake.Result {
	if err != nil {
		return failed(err)
	}
	return fsfake.Result{N: int64(n), Data: string(b[:n])}
}

func (c *caller) readlink(p string) fsfake.Result {
	b := make([]byte, 8192)
	n, err := unix.Readlink(p, b)
	if err != nil {
		return failed(err)
	}
	t := c.target(string(b[:n]))
	return fsfake.Result{N: int64(len(t)), Data: t}
}

// readdir reads the whole directory.
func readdir(fd int) fsfake.Result {
	var names []string
	buf := make([]byte, 16384)
	for {
		n, err := unix.Getdents(fd, buf)
		if err != nil {
			return failed(err)
		}
		if n == 0 {
			slices.Sort(names)
			return fsfake.Result{N: int64(len(names)), Data: strings.Join(names, "\x00")}
		}
		_, _, names = unix.ParseDirent(buf[:n], -1, names)
	}
}

func recordCall(op *fsfake.Op) fsfake.Result {
	lk := unix.Flock_t{Type: int16(op.Flags), Start: op.Off, Len: op.Len}
	get := false
	var cmd int
	switch {
	case op.Call == fsfake.CallGetlk:
		cmd, get = unix.F_GETLK, true
	case op.Call == fsfake.CallOFDGetlk:
		cmd, get = unix.F_OFD_GETLK, true
	case op.Call == fsfake.CallSetlk && op.Wait:
		cmd = unix.F_SETLKW
	case op.Call == fsfake.CallSetlk:
		cmd = unix.F_SETLK
	case op.Wait:
		cmd = unix.F_OFD_SETLKW
	default:
		cmd = unix.F_OFD_SETLK
	}
	if err := rawFcntlLock(op.FD, cmd, &lk); err != nil || !get {
		return failed(err)
	}
	return fsfake.Result{Lock: fsfake.RecordLock{Type: int(lk.Type), Start: lk.Start, Len: lk.Len, Pid: int(lk.Pid)}}
}

func (c *caller) stat(fd int, p string, flags int) fsfake.Result {
	var x unix.Statx_t
	if err := unix.Statx(fd, p, flags, unix.STATX_BASIC_STATS|unix.STATX_BTIME, &x); err != nil {
		return failed(err)
	}
	st := statOf(&x)
	if c.prefix != "" && st.Mode&fs.ModeSymlink != 0 && p != "" {
		st.Size = c.readlink(p).N
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
