package fsfake

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"syscall"
	"time"
)

// A File is an open descriptor of a Proc, with the methods of os.File and the lock calls.
// It answers as an os.File does: once closed it makes no more calls, for its descriptor
// may be another file's by then, and a nil *File answers os.ErrInvalid.
type File struct {
	p      *Proc
	fd     int
	name   string
	append bool // opened with O_APPEND
	closed bool
	names  []string // of a directory: read, and not handed out yet
}

// Name returns the name that was opened.
func (f *File) Name() string { return f.name }

// Fd returns the descriptor, or -1 when the file is closed or nil. Unlike os.File.Fd it is
// an int, so that a descriptor of the machine is not taken for one of the real process.
func (f *File) Fd() int {
	if f == nil || f.closed {
		return -1
	}
	return f.fd
}

// usable returns what a method with that name answers without making a call, or nil.
func (f *File) usable(op string) error {
	switch {
	case f == nil:
		return fs.ErrInvalid
	case f.closed:
		return &fs.PathError{Op: op, Path: f.name, Err: fs.ErrClosed}
	}
	return nil
}

// call makes a call on the descriptor. An error names op.
func (f *File) call(op string, c Op) (Result, error) {
	if err := f.usable(op); err != nil {
		return Result{}, err
	}
	c.FD = f.fd
	r := f.p.port.Do(c)
	if r.Errno != 0 {
		return r, &fs.PathError{Op: op, Path: f.name, Err: r.Errno}
	}
	return r, nil
}

// Read is one read(2), and none for no bytes; at the end of the file io.EOF.
func (f *File) Read(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, f.usable("read")
	}
	return f.read(b, Op{Call: CallRead})
}

func (f *File) read(b []byte, c Op) (int, error) {
	c.Len = int64(len(b))
	r, err := f.call("read", c)
	if err != nil {
		return 0, err
	}
	if r.Data == "" {
		return 0, io.EOF
	}
	return copy(b, r.Data), nil
}

// ReadAt makes calls of pread(2) until b is full or the file ends, which is io.EOF.
func (f *File) ReadAt(b []byte, off int64) (n int, err error) {
	switch {
	case f == nil:
		return 0, fs.ErrInvalid
	case off < 0:
		return 0, &fs.PathError{Op: "readat", Path: f.name, Err: errNegativeOffset}
	}
	for n < len(b) && err == nil {
		var m int
		m, err = f.read(b[n:], Op{Call: CallPread, Off: off + int64(n)})
		n += m
	}
	return n, err
}

var (
	errNegativeOffset = errors.New("negative offset")
	errAppend         = errors.New("os: invalid use of WriteAt on file opened with O_APPEND")
	errDirClosed      = errors.New("use of closed file") // not os.ErrClosed, in package os neither
)

// Write is one write(2), at the descriptor's offset, or at the end with O_APPEND.
func (f *File) Write(b []byte) (int, error) {
	r, err := f.call("write", Op{Call: CallWrite, Data: string(b)})
	if err != nil {
		return 0, err
	}
	return int(r.N), nil
}

// WriteString is Write.
func (f *File) WriteString(s string) (int, error) { return f.Write([]byte(s)) }

// WriteAt is one pwrite(2), and none for no bytes. It is refused when the file was opened
// with O_APPEND.
func (f *File) WriteAt(b []byte, off int64) (int, error) {
	switch {
	case f == nil:
		return 0, fs.ErrInvalid
	case f.append:
		return 0, errAppend
	case off < 0:
		return 0, &fs.PathError{Op: "writeat", Path: f.name, Err: errNegativeOffset}
	case len(b) == 0:
		return 0, nil
	}
	r, err := f.call("write", Op{Call: CallPwrite, Data: string(b), Off: off})
	if err != nil {
		return 0, err
	}
	return int(r.N), nil
}

// Seek is lseek(2).
func (f *File) Seek(offset int64, whence int) (int64, error) {
	if f != nil {
		f.names = nil
	}
	r, err := f.call("seek", Op{Call: CallLseek, Off: offset, Flags: whence})
	if err != nil {
		return 0, err
	}
	return r.N, nil
}

// Close is close(2). It drops every POSIX record lock that the process has on the
// file, and, on the last descriptor of the description, its flock.
func (f *File) Close() error {
	if err := f.usable("close"); err != nil {
		return err
	}
	_, err := f.call("close", Op{Call: CallClose})
	f.closed, f.names = true, nil
	return err
}

// Dup is dup(2): another descriptor of the same open file description.
func (f *File) Dup() (*File, error) {
	r, err := f.call("dup", Op{Call: CallDup})
	if err != nil {
		return nil, err
	}
	return &File{p: f.p, fd: int(r.N), name: f.name, append: f.append}, nil
}

// Stat is fstat(2).
func (f *File) Stat() (fs.FileInfo, error) {
	r, err := f.call("stat", Op{Call: CallFstat})
	if err != nil {
		return nil, err
	}
	return fileInfo{f.p, path.Base(f.name), r.Stat}, nil
}

// Truncate is ftruncate(2). It does not move the offset.
func (f *File) Truncate(size int64) error {
	_, err := f.call("truncate", Op{Call: CallFtruncate, Len: size})
	return err
}

// Chmod is fchmod(2).
func (f *File) Chmod(mode fs.FileMode) error {
	_, err := f.call("chmod", Op{Call: CallFchmod, Mode: modeBits(mode)})
	return err
}

// Chown is fchown(2); -1 leaves the user or the group as it is.
func (f *File) Chown(uid, gid int) error {
	_, err := f.call("chown", Op{Call: CallFchown, Off: int64(uid), Len: int64(gid)})
	return err
}

// Chtimes is futimens(2). A zero time leaves the file's as it is.
func (f *File) Chtimes(atime, mtime time.Time) error {
	_, err := f.call("chtimes", Op{Call: CallFutimes, Time: timeArg(atime), Time2: timeArg(mtime)})
	return err
}

// Sync is fsync(2).
func (f *File) Sync() error {
	_, err := f.call("sync", Op{Call: CallFsync})
	return err
}

// Flock is flock(2): how is LOCK_SH, LOCK_EX or LOCK_UN, with LOCK_NB for a call that
// answers EWOULDBLOCK instead of waiting. The lock belongs to the open file
// description. Converting a lock drops it first: a refused conversion loses it.
//
// Its errors, and those of the calls on record locks, are the bare syscall.Errno, as
// those of package syscall are: programs compare them with ==.
func (f *File) Flock(how int) error {
	_, err := f.lockCall("flock", Op{Call: CallFlock, Flags: how})
	return err
}

// lockCall makes a call that package os does not have: its error says no more than the errno.
func (f *File) lockCall(op string, c Op) (Result, error) {
	r, err := f.call(op, c)
	if r.Errno != 0 {
		err = r.Errno
	}
	return r, err
}

// FcntlLock is fcntl(F_SETLK), or F_SETLKW when wait: a POSIX record lock, owned by
// the process and the inode. lk.Pid is ignored.
func (f *File) FcntlLock(lk RecordLock, wait bool) error {
	_, err := f.lockCall("fcntl-setlk", Op{Call: CallSetlk, Flags: lk.Type, Off: lk.Start, Len: lk.Len, Wait: wait})
	return err
}

// FcntlGetLock is fcntl(F_GETLK): the first lock that conflicts with lk, or Type
// F_UNLCK when none does.
func (f *File) FcntlGetLock(lk RecordLock) (RecordLock, error) {
	r, err := f.lockCall("fcntl-getlk", Op{Call: CallGetlk, Flags: lk.Type, Off: lk.Start, Len: lk.Len})
	return r.Lock, err
}

// OFDLock is fcntl(F_OFD_SETLK), or F_OFD_SETLKW when wait: a record lock owned by the
// open file description.
func (f *File) OFDLock(lk RecordLock, wait bool) error {
	_, err := f.lockCall("ofd-setlk", Op{Call: CallOFDSetlk, Flags: lk.Type, Off: lk.Start, Len: lk.Len, Wait: wait})
	return err
}

// OFDGetLock is fcntl(F_OFD_GETLK).
func (f *File) OFDGetLock(lk RecordLock) (RecordLock, error) {
	r, err := f.lockCall("ofd-getlk", Op{Call: CallOFDGetlk, Flags: lk.Type, Off: lk.Start, Len: lk.Len})
	return r.Lock, err
}

// LinkTo gives a name to an O_TMPFILE file (linkat with AT_EMPTY_PATH).
func (f *File) LinkTo(newname string) error {
	_, err := f.call("linkat", Op{Call: CallLinkFD, Path2: newname})
	if e := Errno(err); e != 0 {
		return &os.LinkError{Op: "linkat", Old: f.name, New: newname, Err: e}
	}
	return err
}

// Errno returns the errno inside err, or 0 when there is none.
func Errno(err error) syscall.Errno {
	var e syscall.Errno
	if errors.As(err, &e) {
		return e
	}
	return 0
}
