package fsfake

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"syscall"
	"time"
)

// A File is an open descriptor of a Proc, with the methods of os.File and the lock
// calls. Each method is one step.
type File struct {
	p    *Proc
	fd   int
	name string
}

// Name returns the name that was opened.
func (f *File) Name() string { return f.name }

// Fd returns the descriptor.
func (f *File) Fd() int { return f.fd }

func (f *File) do(op Op) (Result, error) {
	op.FD = f.fd
	r := f.p.port.Do(op)
	if r.Errno != 0 {
		return r, &fs.PathError{Op: op.Call.String(), Path: f.name, Err: r.Errno}
	}
	return r, nil
}

// Read is one read(2); at the end of the file io.EOF.
func (f *File) Read(b []byte) (int, error) {
	r, err := f.do(Op{Call: CallRead, Len: int64(len(b))})
	return readResult(b, r, err)
}

// ReadAt is one pread(2).
func (f *File) ReadAt(b []byte, off int64) (int, error) {
	r, err := f.do(Op{Call: CallPread, Len: int64(len(b)), Off: off})
	n, err := readResult(b, r, err)
	if err == nil && n < len(b) {
		err = io.EOF
	}
	return n, err
}

func readResult(b []byte, r Result, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	n := copy(b, r.Data)
	if n == 0 && len(b) > 0 {
		return 0, io.EOF
	}
	return n, nil
}

// Write is one write(2), at the descriptor's offset, or at the end with O_APPEND.
func (f *File) Write(b []byte) (int, error) {
	r, err := f.do(Op{Call: CallWrite, Data: string(b)})
	if err != nil {
		return 0, err
	}
	return int(r.N), nil
}

// WriteString is Write.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// WriteAt is one pwrite(2).
func (f *File) WriteAt(b []byte, off int64) (int, error) {
	r, err := f.do(Op{Call: CallPwrite, Data: string(b), Off: off})
	if err != nil {
		return 0, err
	}
	return int(r.N), nil
}

// Seek is lseek(2).
func (f *File) Seek(offset int64, whence int) (int64, error) {
	r, err := f.do(Op{Call: CallLseek, Off: offset, Flags: whence})
	if err != nil {
		return 0, err
	}
	return r.N, nil
}

// Close is close(2). It drops every POSIX record lock that the process has on the
// file, and, on the last descriptor of the description, its flock.
func (f *File) Close() error {
	_, err := f.do(Op{Call: CallClose})
	return err
}

// Dup is dup(2): another descriptor of the same open file description.
func (f *File) Dup() (*File, error) {
	r, err := f.do(Op{Call: CallDup})
	if err != nil {
		return nil, err
	}
	return &File{p: f.p, fd: int(r.N), name: f.name}, nil
}

// Stat is fstat(2).
func (f *File) Stat() (fs.FileInfo, error) {
	r, err := f.do(Op{Call: CallFstat})
	if err != nil {
		return nil, err
	}
	return fileInfo{path.Base(f.name), r.Stat}, nil
}

// Truncate is ftruncate(2). It does not move the offset.
func (f *File) Truncate(size int64) error {
	_, err := f.do(Op{Call: CallFtruncate, Len: size})
	return err
}

// Chtimes is futimens(2).
func (f *File) Chtimes(atime, mtime time.Time) error {
	_, err := f.do(Op{Call: CallFutimes, Time: atime.UnixNano(), Time2: mtime.UnixNano()})
	return err
}

// Sync is fsync(2).
func (f *File) Sync() error {
	_, err := f.do(Op{Call: CallFsync})
	return err
}

// Readdirnames reads all names of a directory in one step, sorted.
func (f *File) Readdirnames() ([]string, error) {
	r, err := f.do(Op{Call: CallReaddir})
	if err != nil || r.Data == "" {
		return nil, err
	}
	return strings.Split(r.Data, "\x00"), nil
}

// Flock is flock(2): how is LOCK_SH, LOCK_EX or LOCK_UN, with LOCK_NB for a call that
// answers EWOULDBLOCK instead of waiting. The lock belongs to the open file
// description. Converting a lock drops it first: a refused conversion loses it.
func (f *File) Flock(how int) error {
	_, err := f.do(Op{Call: CallFlock, Flags: how})
	return err
}

// FcntlLock is fcntl(F_SETLK), or F_SETLKW when wait: a POSIX record lock, owned by
// the process and the inode. lk.Pid is ignored.
func (f *File) FcntlLock(lk RecordLock, wait bool) error {
	_, err := f.do(Op{Call: CallSetlk, Flags: lk.Type, Off: lk.Start, Len: lk.Len, Wait: wait})
	return err
}

// FcntlGetLock is fcntl(F_GETLK): the first lock that conflicts with lk, or Type
// F_UNLCK when none does.
func (f *File) FcntlGetLock(lk RecordLock) (RecordLock, error) {
	r, err := f.do(Op{Call: CallGetlk, Flags: lk.Type, Off: lk.Start, Len: lk.Len})
	return r.Lock, err
}

// OFDLock is fcntl(F_OFD_SETLK), or F_OFD_SETLKW when wait: a record lock owned by the
// open file description.
func (f *File) OFDLock(lk RecordLock, wait bool) error {
	_, err := f.do(Op{Call: CallOFDSetlk, Flags: lk.Type, Off: lk.Start, Len: lk.Len, Wait: wait})
	return err
}

// OFDGetLock is fcntl(F_OFD_GETLK).
func (f *File) OFDGetLock(lk RecordLock) (RecordLock, error) {
	r, err := f.do(Op{Call: CallOFDGetlk, Flags: lk.Type, Off: lk.Start, Len: lk.Len})
	return r.Lock, err
}

// LinkTo gives a name to an O_TMPFILE file (linkat with AT_EMPTY_PATH).
func (f *File) LinkTo(newname string) error {
	op := Op{Call: CallLinkFD, FD: f.fd, Path2: newname}
	if r := f.p.port.Do(op); r.Errno != 0 {
		return &os.LinkError{Op: "linkat", Old: f.name, New: newname, Err: r.Errno}
	}
	return nil
}

// Errno returns the errno inside err, or 0 when there is none.
func Errno(err error) syscall.Errno {
	var e syscall.Errno
	if errors.As(err, &e) {
		return e
	}
	return 0
}
