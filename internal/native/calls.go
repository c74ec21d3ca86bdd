//go:build linux && amd64

package native

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// A how says where a call has its files: descriptors and paths among its arguments.
type how uint8

const (
	byPath     how = iota // path
	byPathAt              // descriptor of a directory, path
	byPaths               // two paths
	byPathsAt             // a descriptor and a path, twice
	bySecond              // something, and a path
	bySecondAt            // something, a descriptor and a path
	byFD
	byFDs // two
	byLock
	byFlock
	byMapping
	bySignal
	byEnd
	byTimer
)

// table has the calls before which commands are stopped. The names are those of [Step]: one for all that do the same.
var table = map[int]struct {
	how  how
	name string
}{
	unix.SYS_OPEN: {byPath, "open"}, unix.SYS_CREAT: {byPath, "open"}, unix.SYS_STAT: {byPath, "stat"},
	unix.SYS_LSTAT:  {byPath, "stat"},
	unix.SYS_ACCESS: {byPath, "stat"}, unix.SYS_READLINK: {byPath, "readlink"}, unix.SYS_MKDIR: {byPath, "mkdir"},
	unix.SYS_RMDIR:  {byPath, "rmdir"},
	unix.SYS_UNLINK: {byPath, "unlink"}, unix.SYS_CHMOD: {byPath, "chmod"}, unix.SYS_CHOWN: {byPath, "chown"},
	unix.SYS_LCHOWN:   {byPath, "chown"},
	unix.SYS_TRUNCATE: {byPath, "truncate"}, unix.SYS_EXECVE: {byPath, "exec"}, unix.SYS_UTIME: {byPath, "utimes"},
	unix.SYS_UTIMES: {byPath, "utimes"},
	unix.SYS_MKNOD:  {byPath, "open"}, unix.SYS_OPENAT: {byPathAt, "open"}, unix.SYS_OPENAT2: {byPathAt, "open"},
	unix.SYS_NEWFSTATAT: {byPathAt, "stat"},
	unix.SYS_STATX:      {byPathAt, "stat"}, unix.SYS_FACCESSAT: {byPathAt, "stat"},
	unix.SYS_FACCESSAT2: {byPathAt, "stat"},
	unix.SYS_READLINKAT: {byPathAt, "readlink"}, unix.SYS_MKDIRAT: {byPathAt, "mkdir"}, unix.SYS_UNLINKAT: {byPathAt,
		"unlink"},
	unix.SYS_FCHMODAT: {byPathAt, "chmod"}, unix.SYS_FCHMODAT2: {byPathAt, "chmod"}, unix.SYS_FCHOWNAT: {byPathAt,
		"chown"}, unix.SYS_UTIMENSAT: {byPathAt, "utimes"},
	unix.SYS_MKNODAT: {byPathAt, "open"}, unix.SYS_RENAME: {byPaths, "rename"}, unix.SYS_LINK: {byPaths, "link"},
	unix.SYS_RENAMEAT:  {byPathsAt, "rename"},
	unix.SYS_RENAMEAT2: {byPathsAt, "rename"}, unix.SYS_LINKAT: {byPathsAt, "link"}, unix.SYS_SYMLINK: {bySecond,
		"symlink"}, unix.SYS_SYMLINKAT: {bySecondAt, "symlink"},
	unix.SYS_READ: {byFD, "read"}, unix.SYS_PREAD64: {byFD, "read"}, unix.SYS_READV: {byFD, "read"},
	unix.SYS_PREADV: {byFD, "read"},
	unix.SYS_WRITE:  {byFD, "write"}, unix.SYS_PWRITE64: {byFD, "write"}, unix.SYS_WRITEV: {byFD, "write"},
	unix.SYS_PWRITEV:   {byFD, "write"},
	unix.SYS_FTRUNCATE: {byFD, "truncate"}, unix.SYS_FSTAT: {byFD, "stat"}, unix.SYS_CLOSE: {byFD, "close"},
	unix.SYS_GETDENTS64: {byFD, "readdir"},
	unix.SYS_FALLOCATE:  {byFD, "fallocate"}, unix.SYS_FCHMOD: {byFD, "chmod"}, unix.SYS_FCHOWN: {byFD, "chown"},
	unix.SYS_IOCTL:           {byFD, "ioctl"},
	unix.SYS_COPY_FILE_RANGE: {byFDs, "write"}, unix.SYS_SENDFILE: {byFDs, "write"}, unix.SYS_SPLICE: {byFDs,
		"write"}, unix.SYS_FLOCK: {byFlock, "flock"},
	unix.SYS_FCNTL: {byLock, "lock"}, unix.SYS_MMAP: {byMapping, "read"}, unix.SYS_KILL: {bySignal, "kill"},
	unix.SYS_EXIT_GROUP: {byEnd, "end"},
	unix.SYS_ALARM:      {byTimer, ""}, unix.SYS_SETITIMER: {byTimer, ""}, unix.SYS_TIMER_SETTIME: {byTimer, ""},
	unix.SYS_TIMERFD_SETTIME: {byTimer, ""},
}

// A stop is a call before which a task stands.
type stop struct {
	name string
	path string // of a shared file; empty when the call is on none
	ends bool   // or touches something else that others see
}

// look says what a task is about to do.
func (r *runner) look(t *task) (stop, error) {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.tid, &regs); err != nil {
		return stop{}, err
	}
	row := table[int(regs.Orig_rax)]
	s := stop{name: row.name}
	fd := func(arg uint64) string { return fdPath(t.tid, int32(arg)) }
	at := func(dir, name uint64) string { return pathAt(t.tid, int32(dir), stringAt(t.tid, name)) }
	const cwd = 1<<64 + unix.AT_FDCWD
	var paths []string
	switch row.how {
	case byPath:
		paths = []string{at(cwd, regs.Rdi)}
	case byPathAt:
		paths = []string{at(regs.Rdi, regs.Rsi)}
	case byPaths:
		paths = []string{at(cwd, regs.Rdi), at(cwd, regs.Rsi)}
	case byPathsAt:
		paths = []string{at(regs.Rdi, regs.Rsi), at(regs.Rdx, regs.R10)}
	case bySecond:
		paths = []string{at(cwd, regs.Rsi)}
	case bySecondAt:
		paths = []string{at(regs.Rsi, regs.Rdx)}
	case byFD:
		paths = []string{fd(regs.Rdi)}
	case byFDs:
		paths = []string{fd(regs.Rdi), fd(regs.Rsi), fd(regs.Rdx)}
	case byMapping:
		if int32(regs.R8) >= 0 {
			paths = []string{fd(regs.R8)}
		}
	case byFlock:
		s.path, s.ends = fd(regs.Rdi), true
	case byLock:
		locks := []uint64{unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW}
		if slices.Contains(locks, regs.Rsi) {
			s.path, s.ends = fd(regs.Rdi), true
		}
	case bySignal, byEnd:
		s.ends = true
	case byTimer:
		r.cmds[t.cmd].timer = true
	}
	if row.name == "unlink" && row.how == byPathAt && regs.Rdx&unix.AT_REMOVEDIR != 0 {
		s.name = "rmdir"
	}
	if (row.how == byPaths || row.how == byPathsAt) && r.v.Splits(paths[0], paths[1]) {
		r.res.Split = paths[0] + " and " + paths[1]
	}
	for _, p := range paths {
		if p != "" && r.shared(p) {
			s.path = p
			break
		}
	}
	return s, nil
}

// shared reports whether others may see a file, or what a symbolic link leads to.
func (r *runner) shared(p string) bool {
	for _, dir := range []string{"/proc/", "/dev/", "/sys/"} {
		if strings.HasPrefix(p, dir) {
			return false
		}
	}
	if r.isShared(p) || !strings.HasPrefix(p, "/") {
		return strings.HasPrefix(p, "/")
	}
	if leads, known := r.leads[p]; known {
		return leads
	}
	to, err := filepath.EvalSymlinks(p)
	if err != nil {
		if to, err = filepath.EvalSymlinks(filepath.Dir(p)); err == nil {
			to = filepath.Join(to, filepath.Base(p))
		}
	}
	r.leads[p] = err == nil && r.isShared(to)
	return r.leads[p]
}

func (r *runner) isShared(p string) bool {
	return p == r.job.Dir || strings.HasPrefix(p, r.job.Dir+"/") || slices.Contains(r.job.Outside, p)
}

// fdPath is the path of a task's descriptor, as the kernel knows it.
func fdPath(tid int, fd int32) string {
	s, err := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, fd))
	if err != nil {
		return ""
	}
	return strings.TrimSuffix(s, " (deleted)")
}

func pathAt(tid int, dir int32, name string) string {
	switch {
	case strings.HasPrefix(name, "/"):
		return filepath.Clean(name)
	case dir != unix.AT_FDCWD && name == "":
		return fdPath(tid, dir)
	case dir != unix.AT_FDCWD:
		return filepath.Join(fdPath(tid, dir), name)
	}
	cwd, err := os.Readlink(fmt.Sprintf("/proc/%d/cwd", tid))
	if err != nil {
		return ""
	}
	return filepath.Join(cwd, name)
}

// stringAt reads a string of a task, "" where it has none. Pages are read one by one: the next may not be there.
func stringAt(tid int, addr uint64) string {
	const page, most = 4096, 4096
	var out []byte
	for len(out) < most {
		part := make([]byte, page-addr%page)
		n, err := unix.ProcessVMReadv(tid, []unix.Iovec{{Base: &part[0], Len: uint64(len(part))}},
			[]unix.RemoteIovec{{Base: uintptr(addr), Len: len(part)}}, 0)
		if err != nil {
			return ""
		}
		if end := bytes.IndexByte(part[:n], 0); end >= 0 {
			return string(append(out, part[:end]...))
		}
		out, addr = append(out, part[:n]...), addr+uint64(n)
	}
	return ""
}
