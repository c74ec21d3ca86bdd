package fsfake

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// String renders the call as a person would write it in a trace: "open .sync.lock
// O_CREAT|O_EXCL", "write fd 3 \"101\\n\"".
func (o Op) String() string {
	name := o.Call.String()
	switch o.Call {
	case CallOpen:
		return joinWords(name, o.Path, openFlags(o.Flags))
	case CallStat, CallLstat, CallUnlink, CallRmdir, CallReadlink, CallMkdir, CallUtimes, CallChmod, CallChown:
		return joinWords(name, o.Path)
	case CallTruncate:
		return joinWords(name, o.Path, strconv.FormatInt(o.Len, 10))
	case CallRename:
		return joinWords(name, o.Path, o.Path2, renameFlags(o.Flags))
	case CallLink:
		return joinWords(name, o.Path, o.Path2)
	case CallSymlink:
		return joinWords(name, o.Path2, o.Path)
	case CallRead:
		return joinWords(name, o.fd())
	case CallPread:
		return joinWords(name, o.fd(), "at "+strconv.FormatInt(o.Off, 10))
	case CallWrite:
		return joinWords(name, o.fd(), strconv.Quote(o.Data))
	case CallPwrite:
		return joinWords(name, o.fd(), strconv.Quote(o.Data), "at "+strconv.FormatInt(o.Off, 10))
	case CallLseek:
		return joinWords(name, o.fd(), strconv.FormatInt(o.Off, 10), [...]string{"SEEK_SET", "SEEK_CUR", "SEEK_END", "?"}[min(max(o.Flags, 0), 3)])
	case CallFtruncate:
		return joinWords(name, o.fd(), strconv.FormatInt(o.Len, 10))
	case CallLinkFD:
		return joinWords(name, o.fd(), o.Path2)
	case CallFlock:
		return joinWords(name, o.fd(), flockFlags(o.Flags))
	case CallSetlk, CallGetlk, CallOFDSetlk, CallOFDGetlk:
		return joinWords(name, o.fd(), recordType(o.Flags), fmt.Sprintf("%d+%d", o.Off, o.Len))
	case CallClose, CallDup, CallFstat, CallFutimes, CallFsync, CallReaddir:
		return joinWords(name, o.fd())
	case CallKill:
		return fmt.Sprintf("kill %d 0", o.Pid)
	case CallStartTime:
		return fmt.Sprintf("starttime %d", o.Pid)
	case CallSleep:
		return joinWords(name, time.Duration(o.Time).String())
	case CallCellLoad:
		return joinWords(name, o.Cell)
	case CallCellStore:
		return fmt.Sprintf("%s %s = %s", name, o.Cell, cellValue(o.Value))
	case CallCellWait:
		return fmt.Sprintf("%s %s ≠ %s", name, o.Cell, cellValue(o.Value))
	}
	return name
}

func (o Op) fd() string { return "fd " + strconv.Itoa(o.FD) }

// Describe renders what op answered: "= fd 3", "ENOENT", "waits", "inode 7".
func (r Result) Describe(op Op) string {
	switch {
	case r.Unmodelled != "":
		return "not modelled"
	case r.Blocked:
		return "waits"
	case r.Errno != 0:
		return ErrnoName(r.Errno)
	}
	switch op.Call {
	case CallOpen, CallDup:
		return "= fd " + strconv.FormatInt(r.N, 10)
	case CallStat, CallLstat, CallFstat:
		return fmt.Sprintf("inode %d, %d bytes", r.Stat.Ino, r.Stat.Size)
	case CallRead, CallPread, CallReadlink:
		return "= " + strconv.Quote(r.Data)
	case CallReaddir:
		return "= " + strings.ReplaceAll(r.Data, "\x00", " ")
	case CallWrite, CallPwrite, CallLseek, CallFork, CallStartTime:
		return "= " + strconv.FormatInt(r.N, 10)
	case CallNow:
		return "= " + time.Unix(0, r.N).UTC().Format("15:04:05.000")
	case CallKill:
		return "alive"
	case CallCellLoad:
		return "= " + cellValue(r.Value)
	case CallGetlk, CallOFDGetlk:
		return fmt.Sprintf("%s %d+%d pid %d", recordType(r.Lock.Type), r.Lock.Start, r.Lock.Len, r.Lock.Pid)
	case CallSleep, CallExit, CallWork, CallCellStore, CallCellWait:
		return ""
	}
	return "ok"
}

func cellValue(v any) string {
	if v == nil {
		return "∅"
	}
	return fmt.Sprintf("%+v", v)
}

func joinWords(words ...string) string {
	kept := words[:0]
	for _, w := range words {
		if w != "" {
			kept = append(kept, w)
		}
	}
	return strings.Join(kept, " ")
}

// openFlags leaves out O_RDONLY, which is 0, and O_CLOEXEC, which is always there.
func openFlags(f int) string {
	var names []string
	switch f & (os.O_WRONLY | os.O_RDWR) {
	case os.O_WRONLY:
		names = append(names, "O_WRONLY")
	case os.O_RDWR:
		names = append(names, "O_RDWR")
	}
	for _, b := range []struct {
		bit  int
		name string
	}{
		{os.O_CREATE, "O_CREAT"}, {os.O_EXCL, "O_EXCL"}, {os.O_TRUNC, "O_TRUNC"}, {os.O_APPEND, "O_APPEND"},
		{O_NOFOLLOW, "O_NOFOLLOW"},
	} {
		if f&b.bit != 0 {
			names = append(names, b.name)
		}
	}
	switch {
	case f&O_TMPFILE == O_TMPFILE:
		names = append(names, "O_TMPFILE")
	case f&O_DIRECTORY != 0:
		names = append(names, "O_DIRECTORY")
	}
	return strings.Join(names, "|")
}

func flockFlags(f int) string {
	s := map[int]string{LOCK_SH: "LOCK_SH", LOCK_EX: "LOCK_EX", LOCK_UN: "LOCK_UN"}[f&^LOCK_NB]
	if f&LOCK_NB != 0 {
		s += "|LOCK_NB"
	}
	return s
}

func renameFlags(f int) string {
	switch f {
	case 0:
		return ""
	case RENAME_NOREPLACE:
		return "RENAME_NOREPLACE"
	case RENAME_EXCHANGE:
		return "RENAME_EXCHANGE"
	}
	return "flags " + strconv.Itoa(f)
}

func recordType(t int) string {
	switch t {
	case F_RDLCK:
		return "F_RDLCK"
	case F_WRLCK:
		return "F_WRLCK"
	case F_UNLCK:
		return "F_UNLCK"
	}
	return "type " + strconv.Itoa(t)
}

// ErrnoName returns the symbolic name of an errno, such as "ENOENT".
func ErrnoName(e syscall.Errno) string {
	for _, n := range errnoNames {
		if n.errno == e {
			return n.name
		}
	}
	return "errno " + strconv.Itoa(int(e))
}

type errnoName struct {
	errno syscall.Errno
	name  string
}

var errnoNames = [...]errnoName{
	{syscall.EPERM, "EPERM"}, {syscall.ENOENT, "ENOENT"}, {syscall.ESRCH, "ESRCH"}, {syscall.EINTR, "EINTR"},
	{syscall.EIO, "EIO"}, {syscall.EBADF, "EBADF"}, {syscall.EAGAIN, "EWOULDBLOCK"}, {syscall.ENOMEM, "ENOMEM"},
	{syscall.EACCES, "EACCES"}, {syscall.EBUSY, "EBUSY"}, {syscall.EEXIST, "EEXIST"}, {syscall.EXDEV, "EXDEV"},
	{syscall.ENOTDIR, "ENOTDIR"}, {syscall.EISDIR, "EISDIR"}, {syscall.EINVAL, "EINVAL"}, {syscall.ENFILE, "ENFILE"},
	{syscall.EMFILE, "EMFILE"}, {syscall.EFBIG, "EFBIG"}, {syscall.ENOSPC, "ENOSPC"}, {syscall.ESPIPE, "ESPIPE"},
	{syscall.EROFS, "EROFS"}, {syscall.EMLINK, "EMLINK"}, {syscall.EDEADLK, "EDEADLK"}, {syscall.ENAMETOOLONG, "ENAMETOOLONG"},
	{syscall.ENOLCK, "ENOLCK"}, {syscall.ENOSYS, "ENOSYS"}, {syscall.ENOTEMPTY, "ENOTEMPTY"}, {syscall.ELOOP, "ELOOP"},
	{syscall.EOVERFLOW, "EOVERFLOW"}, {syscall.ECHILD, "ECHILD"},
}
