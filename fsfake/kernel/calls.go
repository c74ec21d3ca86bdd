//go:build linux

package kernel

import (
	"errors"
	"fmt"
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

// at is path for a call that can be told a directory: where the path begins, and the rest.
func (c *caller) at(p string) (dir int, name string) {
	switch fd, rest, ok := fsfake.SplitAt(p); {
	case !ok:
		return unix.AT_FDCWD, c.path(p)
	case rest == "":
		return fd, "."
	default:
		return fd, rest
	}
}

// inDir makes a call that cannot be told a directory.
func (c *caller) inDir(p string, call func(name string) error) fsfake.Result {
	dir, name := c.at(p)
	if dir == unix.AT_FDCWD {
		return failed(call(name))
	}
	if err := unix.Fchdir(dir); err != nil {
		return failed(err)
	}
	r := failed(call(name))
	if err := unix.Fchdir(fdCwd); err != nil {
		return fsfake.Result{Unmodelled: "the way back: " + err.Error()}
	}
	return r
}

// chdir goes to another working directory, where a worker that is executed again goes, too.
func (t *thread) chdir(op *fsfake.Op) fsfake.Result {
	dir, name := t.at(op.Path)
	if dir != unix.AT_FDCWD {
		if err := unix.Fchdir(dir); err != nil {
			return failed(err)
		}
	}
	err := unix.Chdir(name)
	if err == nil {
		return keepCwd()
	}
	if back := unix.Fchdir(fdCwd); back != nil {
		return fsfake.Result{Unmodelled: "the way back: " + back.Error()}
	}
	return failed(err)
}

// keepCwd makes the private descriptor of the working directory that of the present one.
func keepCwd() fsfake.Result {
	var limit unix.Rlimit
	err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit)
	if err == nil {
		err = unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: limit.Max, Max: limit.Max})
	}
	now := -1
	if err == nil {
		now, err = unix.Open(".", unix.O_PATH|unix.O_CLOEXEC, 0)
	}
	if err == nil {
		err = errors.Join(unix.Dup3(now, fdCwd, 0), unix.Close(now), unix.Setrlimit(unix.RLIMIT_NOFILE, &limit))
	}
	if err != nil {
		return fsfake.Result{Unmodelled: "the new working directory: " + err.Error()}
	}
	return fsfake.Result{}
}

// target translates the target of a symlink back.
func (c *caller) target(p string) string {
	if c.prefix != "" && strings.HasPrefix(p, c.prefix+"/") {
		return p[len(c.prefix):]
	}
	return p
}

// synced is fsync(2), fdatasync(2) or syncfs(2).
func synced(fd, flags int) error {
	switch flags {
	case fsfake.SyncData:
		return unix.Fdatasync(fd)
	case fsfake.SyncAll:
		if fd == -1 {
			unix.Sync()
			return nil
		}
		return unix.Syncfs(fd)
	}
	return unix.Fsync(fd)
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

// A maker is how the kernel makes a call, or why it does not.
type maker struct {
	do func(*thread, *fsfake.Op) fsfake.Result
	// not, in place of do, says whose business the call is instead.
	not string
}

// makers says how each call is made: one system call, or as many as make one step of the
// fake.
var makers = [...]maker{
	fsfake.CallOpen: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		return number(unix.Openat(dir, name, hostFlags(op.Flags), op.Mode))
	}},
	fsfake.CallStat: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		return t.stat(dir, name, 0)
	}},
	fsfake.CallLstat: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		return t.stat(dir, name, unix.AT_SYMLINK_NOFOLLOW)
	}},
	fsfake.CallUnlink: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		return failed(unix.Unlinkat(dir, name, 0))
	}},
	fsfake.CallRename: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		dir2, name2 := t.at(op.Path2)
		return failed(unix.Renameat2(dir, name, dir2, name2, uint(op.Flags)))
	}},
	fsfake.CallLink: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		dir2, name2 := t.at(op.Path2)
		return failed(unix.Linkat(dir, name, dir2, name2, op.Flags))
	}},
	fsfake.CallSymlink: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		return failed(unix.Symlinkat(t.path(op.Path2), dir, name))
	}},
	fsfake.CallReadlink: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		return t.readlink(dir, name)
	}},
	fsfake.CallMkdir: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		return failed(unix.Mkdirat(dir, name, op.Mode))
	}},
	fsfake.CallRmdir: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		return failed(unix.Unlinkat(dir, name, unix.AT_REMOVEDIR))
	}},
	fsfake.CallMknod: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		return failed(unix.Mknodat(dir, name, op.Mode|uint32(op.Flags), 0))
	}},
	fsfake.CallBind:    {do: (*thread).bind},
	fsfake.CallConnect: {do: (*thread).connect},
	fsfake.CallTruncate: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		if op.Len < 0 { // is looked at before the path
			return failed(unix.Truncate(t.path(op.Path), op.Len))
		}
		return t.inDir(op.Path, func(name string) error { return unix.Truncate(name, op.Len) })
	}},
	fsfake.CallUtimes: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		ts := times(op)
		dir, name := t.at(op.Path)
		return failed(unix.UtimesNanoAt(dir, name, ts[:], 0))
	}},
	fsfake.CallLutimes: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		ts := times(op)
		dir, name := t.at(op.Path)
		return failed(unix.UtimesNanoAt(dir, name, ts[:], unix.AT_SYMLINK_NOFOLLOW))
	}},
	fsfake.CallChmod: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		return failed(unix.Fchmodat(dir, name, op.Mode, 0))
	}},
	fsfake.CallChown: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		return failed(unix.Fchownat(dir, name, int(op.Off), int(op.Len), 0))
	}},
	fsfake.CallLchown: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path)
		return failed(unix.Fchownat(dir, name, int(op.Off), int(op.Len), unix.AT_SYMLINK_NOFOLLOW))
	}},
	fsfake.CallChdir: {do: (*thread).chdir},
	fsfake.CallGetcwd: {do: func(t *thread, _ *fsfake.Op) fsfake.Result {
		b := make([]byte, 8192)
		n, err := unix.Getcwd(b)
		if err != nil {
			return failed(err)
		}
		name := t.target(string(b[:n-1]))
		if name == t.prefix {
			name = "/"
		}
		return fsfake.Result{N: int64(len(name)), Data: name}
	}},

	fsfake.CallRead: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		b := make([]byte, max(op.Len, 0))
		n, err := unix.Read(op.FD, b)
		return bytesRead(b, n, err)
	}},
	fsfake.CallOpenFIFO: {not: "an open of a FIFO is one call, which waits, in the kernel"},
	fsfake.CallTake: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		b := make([]byte, max(op.Len, 0))
		n, err := rawReadv(op.FD, b)
		return bytesRead(b, n, err)
	}},
	fsfake.CallPread: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		b := make([]byte, max(op.Len, 0))
		n, err := unix.Pread(op.FD, b, op.Off)
		return bytesRead(b, n, err)
	}},
	fsfake.CallWrite: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		return number(unix.Write(op.FD, []byte(op.Data)))
	}},
	fsfake.CallPwrite: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		return number(unix.Pwrite(op.FD, []byte(op.Data), op.Off))
	}},
	fsfake.CallLseek: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		return number(unix.Seek(op.FD, op.Off, op.Flags))
	}},
	fsfake.CallClose: {do: func(_ *thread, op *fsfake.Op) fsfake.Result { return failed(unix.Close(op.FD)) }},
	fsfake.CallDup: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		switch {
		case op.Flags&fsfake.O_CLOEXEC != 0:
			return number(unix.FcntlInt(uintptr(op.FD), unix.F_DUPFD_CLOEXEC, op.FD2))
		case op.FD2 != 0:
			return number(unix.FcntlInt(uintptr(op.FD), unix.F_DUPFD, op.FD2))
		}
		return number(unix.Dup(op.FD))
	}},
	fsfake.CallDup2: {do: func(_ *thread, op *fsfake.Op) fsfake.Result { return dup2(op) }},
	fsfake.CallDup3: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		return number(op.FD2, unix.Dup3(op.FD, op.FD2, op.Flags))
	}},
	fsfake.CallGetfd: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		return number(unix.FcntlInt(uintptr(op.FD), unix.F_GETFD, 0))
	}},
	fsfake.CallSetfd: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		_, err := unix.FcntlInt(uintptr(op.FD), unix.F_SETFD, op.Flags)
		return failed(err)
	}},
	fsfake.CallGetfl: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		f, err := unix.FcntlInt(uintptr(op.FD), unix.F_GETFL, 0)
		return number(fakeFlags(f), err)
	}},
	fsfake.CallSetfl: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		_, err := unix.FcntlInt(uintptr(op.FD), unix.F_SETFL, hostFlags(op.Flags))
		return failed(err)
	}},
	fsfake.CallFstat: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		return t.stat(op.FD, "", unix.AT_EMPTY_PATH)
	}},
	fsfake.CallFtruncate: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		if op.Flags&fsfake.AtLeast != 0 {
			return failed(unix.Fallocate(op.FD, 0, 0, op.Len))
		}
		return failed(unix.Ftruncate(op.FD, op.Len))
	}},
	fsfake.CallFutimes: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		ts := times(op)
		_, _, e := unix.Syscall6(unix.SYS_UTIMENSAT, uintptr(op.FD), 0, uintptr(unsafe.Pointer(&ts)), 0, 0, 0)
		return fsfake.Result{Errno: e}
	}},
	fsfake.CallFchmod: {do: func(_ *thread, op *fsfake.Op) fsfake.Result { return failed(unix.Fchmod(op.FD, op.Mode)) }},
	fsfake.CallFchown: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		return failed(unix.Fchown(op.FD, int(op.Off), int(op.Len)))
	}},
	fsfake.CallFsync:   {do: func(_ *thread, op *fsfake.Op) fsfake.Result { return failed(synced(op.FD, op.Flags)) }},
	fsfake.CallReaddir: {do: func(_ *thread, op *fsfake.Op) fsfake.Result { return readdir(op.FD) }},
	fsfake.CallFlock: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		return failed(rawFlock(op.FD, op.Flags))
	}},
	fsfake.CallSetlk:    {do: recordCall},
	fsfake.CallGetlk:    {do: recordCall},
	fsfake.CallOFDSetlk: {do: recordCall},
	fsfake.CallOFDGetlk: {do: recordCall},
	fsfake.CallListen: {do: func(_ *thread, op *fsfake.Op) fsfake.Result {
		return failed(unix.Listen(op.FD, int(op.Len)))
	}},
	fsfake.CallLinkFD: {do: func(t *thread, op *fsfake.Op) fsfake.Result {
		dir, name := t.at(op.Path2)
		return failed(unix.Linkat(op.FD, "", dir, name, unix.AT_EMPTY_PATH))
	}},

	fsfake.CallKill: {do: func(_ *thread, op *fsfake.Op) fsfake.Result { return failed(unix.Kill(op.Pid, 0)) }},
	fsfake.CallExit: {do: func(*thread, *fsfake.Op) fsfake.Result {
		unix.Exit(0)
		panic("unreachable")
	}},
	// The driver puts the slot that the child is to serve in FD.
	fsfake.CallFork: {do: func(t *thread, op *fsfake.Op) fsfake.Result { return t.fork(op.FD) }},
	fsfake.CallExec: {do: func(t *thread, _ *fsfake.Op) fsfake.Result { return t.exec() }},

	fsfake.CallForkAs:    {not: "the kernel chooses pids itself"},
	fsfake.CallEnd:       {not: "it is exit, and a note that no program sees"},
	fsfake.CallNow:       {not: "the virtual clock is the fake's"},
	fsfake.CallSleep:     {not: "time passes on the virtual clock only"},
	fsfake.CallWork:      {not: "it is no system call"},
	fsfake.CallChoose:    {not: "it is no system call"},
	fsfake.CallStartTime: {not: "real processes started when the test did"},
	fsfake.CallProcs:     {not: "the real machine has other processes"},
	fsfake.CallCellLoad:  {not: "cells are the memory of the program"},
	fsfake.CallCellStore: {not: "cells are the memory of the program"},
	fsfake.CallCellWait:  {not: "cells are the memory of the program"},
	fsfake.CallStart:     {not: "threads that do nothing yet are there from the start"},
	fsfake.CallCellCAS:   {not: "cells are the memory of the program"},
}

// Makes reports whether the kernel makes a call. The others, of which there is no real
// counterpart, are answered by the fake.
func Makes(c fsfake.Call) bool { return int(c) < len(makers) && makers[c].do != nil }

// do makes a call.
func (t *thread) do(op *fsfake.Op) fsfake.Result {
	if !Makes(op.Call) {
		return fsfake.Result{Unmodelled: fmt.Sprintf("%s on the real kernel", op.Call)}
	}
	return makers[op.Call].do(t, op)
}

// openFlags are the flags of open(2), as the fake has them and as this kernel has them,
// which depends on its architecture.
var openFlags = [...]struct{ fake, host int }{
	{fsfake.O_DIRECTORY, unix.O_DIRECTORY}, {fsfake.O_NOFOLLOW, unix.O_NOFOLLOW},
	{fsfake.O_TMPFILE &^ fsfake.O_DIRECTORY, unix.O_TMPFILE &^ unix.O_DIRECTORY},
	{fsfake.O_LARGEFILE, unix.O_LARGEFILE}, {fsfake.O_DIRECT, unix.O_DIRECT},
}

// hostFlags translates the flags of an open to those of this kernel.
func hostFlags(f int) int {
	kept, host := f, 0
	for _, b := range openFlags {
		if f&b.fake != 0 {
			kept, host = kept&^b.fake, host|b.host
		}
	}
	return kept | host
}

// fakeFlags translates flags of this kernel back.
func fakeFlags(f int) int {
	kept, fake := f, 0
	for _, b := range openFlags {
		if f&b.host != 0 {
			kept, fake = kept&^b.host, fake|b.fake
		}
	}
	return kept | fake
}

// dup2 makes the call where there is one. Elsewhere it is dup3 but for equal descriptors, as
// C libraries have it.
func dup2(op *fsfake.Op) fsfake.Result {
	if op.FD == op.FD2 {
		_, err := unix.FcntlInt(uintptr(op.FD), unix.F_GETFD, 0)
		return number(op.FD2, err)
	}
	return number(op.FD2, unix.Dup3(op.FD, op.FD2, 0))
}

func times(op *fsfake.Op) [2]unix.Timespec {
	return [2]unix.Timespec{timespec(op.Time), timespec(op.Time2)}
}

func timespec(t int64) unix.Timespec {
	switch t {
	case fsfake.UTIME_OMIT:
		return unix.Timespec{Nsec: unix.UTIME_OMIT}
	case fsfake.UTIME_NOW:
		return unix.Timespec{Nsec: unix.UTIME_NOW}
	}
	return unix.NsecToTimespec(t)
}

func bytesRead(b []byte, n int, err error) fsfake.Result {
	if err != nil {
		return failed(err)
	}
	return fsfake.Result{N: int64(n), Data: string(b[:n])}
}

func (c *caller) readlink(dir int, p string) fsfake.Result {
	b := make([]byte, 8192)
	n, err := unix.Readlinkat(dir, p, b)
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

func recordCall(_ *thread, op *fsfake.Op) fsfake.Result {
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
