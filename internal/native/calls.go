//go:build linux && amd64

package native

import (
	"bytes"
	"cmp"
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
	byAddress // of a socket
	byListen
	bySignal
	byHandler
	byEnd
	byTimer
)

// table has the calls before which commands are stopped, by number.
var table = func() map[uint64]kind {
	all := map[uint64]kind{}
	for _, r := range kinds {
		for _, number := range r.numbers {
			all[number] = r.kind
		}
	}
	return all
}()

// A kind is how a call says which files it is about, and its name in a [Step]: one for all calls that do the same.
type kind struct {
	how  how
	name string
}

// kinds has the numbers of the calls of each kind.
var kinds = []struct {
	kind
	numbers []uint64
}{
	{kind{byPath, "open"}, []uint64{unix.SYS_OPEN, unix.SYS_CREAT, unix.SYS_MKNOD}},
	{kind{byPath, "stat"}, []uint64{unix.SYS_STAT, unix.SYS_LSTAT, unix.SYS_ACCESS}},
	{kind{byPath, "readlink"}, []uint64{unix.SYS_READLINK}},
	{kind{byPath, "mkdir"}, []uint64{unix.SYS_MKDIR}},
	{kind{byPath, "rmdir"}, []uint64{unix.SYS_RMDIR}},
	{kind{byPath, "unlink"}, []uint64{unix.SYS_UNLINK}},
	{kind{byPath, "chmod"}, []uint64{unix.SYS_CHMOD}},
	{kind{byPath, "chown"}, []uint64{unix.SYS_CHOWN, unix.SYS_LCHOWN}},
	{kind{byPath, "truncate"}, []uint64{unix.SYS_TRUNCATE}},
	{kind{byPath, "exec"}, []uint64{unix.SYS_EXECVE}},
	{kind{byPath, "utimes"}, []uint64{unix.SYS_UTIME, unix.SYS_UTIMES}},
	{kind{byPathAt, "open"}, []uint64{unix.SYS_OPENAT, unix.SYS_OPENAT2, unix.SYS_MKNODAT}},
	{kind{byPathAt, "stat"}, []uint64{unix.SYS_NEWFSTATAT, unix.SYS_STATX, unix.SYS_FACCESSAT,
		unix.SYS_FACCESSAT2}},
	{kind{byPathAt, "readlink"}, []uint64{unix.SYS_READLINKAT}},
	{kind{byPathAt, "mkdir"}, []uint64{unix.SYS_MKDIRAT}},
	{kind{byPathAt, "unlink"}, []uint64{unix.SYS_UNLINKAT}},
	{kind{byPathAt, "chmod"}, []uint64{unix.SYS_FCHMODAT, unix.SYS_FCHMODAT2}},
	{kind{byPathAt, "chown"}, []uint64{unix.SYS_FCHOWNAT}},
	{kind{byPathAt, "utimes"}, []uint64{unix.SYS_UTIMENSAT}},
	{kind{byPaths, "rename"}, []uint64{unix.SYS_RENAME}},
	{kind{byPaths, "link"}, []uint64{unix.SYS_LINK}},
	{kind{byPathsAt, "rename"}, []uint64{unix.SYS_RENAMEAT, unix.SYS_RENAMEAT2}},
	{kind{byPathsAt, "link"}, []uint64{unix.SYS_LINKAT}},
	{kind{bySecond, "symlink"}, []uint64{unix.SYS_SYMLINK}},
	{kind{bySecondAt, "symlink"}, []uint64{unix.SYS_SYMLINKAT}},
	{kind{byFD, "read"}, []uint64{unix.SYS_READ, unix.SYS_PREAD64, unix.SYS_READV, unix.SYS_PREADV}},
	{kind{byFD, "write"}, []uint64{unix.SYS_WRITE, unix.SYS_PWRITE64, unix.SYS_WRITEV, unix.SYS_PWRITEV}},
	{kind{byFD, "truncate"}, []uint64{unix.SYS_FTRUNCATE}},
	{kind{byFD, "stat"}, []uint64{unix.SYS_FSTAT}},
	{kind{byFD, "close"}, []uint64{unix.SYS_CLOSE}},
	{kind{byFD, "readdir"}, []uint64{unix.SYS_GETDENTS64}},
	{kind{byFD, "fallocate"}, []uint64{unix.SYS_FALLOCATE}},
	{kind{byFD, "chmod"}, []uint64{unix.SYS_FCHMOD}},
	{kind{byFD, "chown"}, []uint64{unix.SYS_FCHOWN}},
	{kind{byFD, "ioctl"}, []uint64{unix.SYS_IOCTL}},
	{kind{byFDs, "write"}, []uint64{unix.SYS_COPY_FILE_RANGE, unix.SYS_SENDFILE, unix.SYS_SPLICE}},
	{kind{byFlock, "flock"}, []uint64{unix.SYS_FLOCK}},
	{kind{byLock, "lock"}, []uint64{unix.SYS_FCNTL}},
	{kind{byMapping, "read"}, []uint64{unix.SYS_MMAP}},
	{kind{byAddress, "bind"}, []uint64{unix.SYS_BIND}},
	{kind{byAddress, "connect"}, []uint64{unix.SYS_CONNECT}},
	{kind{byListen, "listen"}, []uint64{unix.SYS_LISTEN}},
	{kind{bySignal, "kill"}, []uint64{unix.SYS_KILL}},
	{kind{byHandler, "sigaction"}, []uint64{unix.SYS_RT_SIGACTION}},
	{kind{byEnd, "end"}, []uint64{unix.SYS_EXIT_GROUP}},
	{kind{byTimer, ""}, []uint64{unix.SYS_ALARM, unix.SYS_SETITIMER, unix.SYS_TIMER_SETTIME,
		unix.SYS_TIMERFD_SETTIME, unix.SYS_TIMER_DELETE}},
}

// A stop is a call before which a task stands.
type stop struct {
	name  string
	paths []string // those of its files that are shared
	ends  bool     // or touches something else that others see
}

// look says what a task is about to do.
func (r *runner) look(t *task) (stop, error) {
	var regs unix.PtraceRegs
	if err := unix.PtraceGetRegs(t.tid, &regs); err != nil {
		return stop{}, err
	}
	row := table[regs.Orig_rax]
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
	case byAddress:
		family, name := stringAt(t.tid, regs.Rsi), stringAt(t.tid, regs.Rsi+2)
		switch local := family == string(rune(unix.AF_UNIX)); { // its second byte is 0
		case local && name != "":
			paths = []string{pathAt(t.tid, unix.AT_FDCWD, name)}
		case row.name == "bind" && local == (name == ""): // abstract, or a port
			r.res.OnlyHere = "an address is bound that one process can have, and native runs are made side by side"
		}
	case byFlock:
		s.paths, s.ends = []string{fd(regs.Rdi)}, true
	case byLock:
		locks := []uint64{unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW}
		if slices.Contains(locks, regs.Rsi) {
			s.paths, s.ends = []string{fd(regs.Rdi)}, true
		}
	case byListen, bySignal, byEnd:
		s.ends = true
	case byHandler: // it can be told by when a signal of another command comes
		s.ends = r.signals && regs.Rsi != 0
	case byTimer:
		r.cmds[t.cmd].sets(t.tid, &regs)
	}
	if row.name == "unlink" && row.how == byPathAt && regs.Rdx&unix.AT_REMOVEDIR != 0 {
		s.name = "rmdir"
	}
	r.res.OnlyHere = cmp.Or(r.res.OnlyHere, r.onlyHere(row, &regs, paths))
	for _, p := range paths {
		if p != "" && r.shared(p) {
			s.paths = append(s.paths, p)
		}
	}
	return s, nil
}

// onlyHere says what a call is about to do that fails in the view and not on the machine; "" for nothing.
func (r *runner) onlyHere(k kind, regs *unix.PtraceRegs, paths []string) string {
	if (k.how == byPaths || k.how == byPathsAt) && r.v.Splits(paths[0], paths[1]) {
		return fmt.Sprintf("a rename or link between %s and %s fails in a view of the machine, where they are two "+
			"file systems", paths[0], paths[1])
	}
	for _, p := range paths {
		if at := cmp.Or(r.v.Fixed(p), r.v.Fixed(target(p))); at != "" && changes(k, regs) {
			return fmt.Sprintf("%s cannot be changed in a view of the machine: %s is read-only there, for something is "+
				"mounted below it", p, at)
		}
	}
	return ""
}

// changes reports whether a call by a path may change what stands there, or make it.
func changes(k kind, regs *unix.PtraceRegs) bool {
	const writes = unix.O_WRONLY | unix.O_RDWR | unix.O_CREAT | unix.O_TRUNC
	switch regs.Orig_rax {
	case unix.SYS_OPEN:
		return regs.Rsi&writes != 0
	case unix.SYS_OPENAT:
		return regs.Rdx&writes != 0
	}
	switch k.how {
	case byPath, byPathAt, byPaths, byPathsAt, bySecond, bySecondAt:
		return !slices.Contains([]string{"stat", "readlink", "exec"}, k.name)
	}
	return false
}

// shared reports whether others may see a file, or what a symbolic link leads to.
func (r *runner) shared(p string) bool {
	if !strings.HasPrefix(p, "/") || strings.HasPrefix(p, "/proc/") || strings.HasPrefix(p, "/dev/") ||
		strings.HasPrefix(p, "/sys/") {
		return false
	}
	if leads, known := r.leads[p]; known {
		return leads
	}
	r.leads[p] = r.isShared(p) || r.isShared(target(p))
	return r.leads[p]
}

// target is what a path leads to through symbolic links; "" for nothing.
func target(p string) string {
	to, err := filepath.EvalSymlinks(p)
	if err == nil {
		return to
	}
	if to, err = filepath.EvalSymlinks(filepath.Dir(p)); err != nil {
		return ""
	}
	return filepath.Join(to, filepath.Base(p))
}

func (r *runner) isShared(p string) bool {
	return p == r.job.Dir || strings.HasPrefix(p, r.job.Dir+"/") || slices.Contains(r.job.Outside, p)
}

// fdPath is the path of a task's descriptor, as the kernel knows it.
func fdPath(tid int, fd int32) string {
	s, _ := os.Readlink(fmt.Sprintf("/proc/%d/fd/%d", tid, fd))
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
	cwd, _ := os.Readlink(fmt.Sprintf("/proc/%d/cwd", tid))
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
