package kit

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Poll is how long a round of polling sleeps. Any time will do: a sleep lasts for any
// time.
const Poll = 50 * time.Millisecond

// Excl is how a lock file is opened that must not be there: created or refused.
const Excl = os.O_WRONLY | os.O_CREATE | os.O_EXCL

// Exists reports whether a call was refused because the name is there already.
func Exists(err error) bool { return errors.Is(err, fs.ErrExist) }

// Missing reports whether a call failed because the name is not there.
func Missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }

// Locked is what a protocol returns that gives up: scenarios.ErrLocked.
func Locked() (scenarios.Hold, error) { return scenarios.Hold{}, scenarios.ErrLocked }

// Failed is what a protocol returns when a call failed that should not.
func Failed(err error) (scenarios.Hold, error) { return scenarios.Hold{}, err }

// Held is what a protocol returns that keeps its lock file open.
func Held(f *fsfake.File) (scenarios.Hold, error) { return scenarios.Hold{File: f}, nil }

// Create makes a file that must not be there, with a text: open, write, close. An empty
// text is not written.
func Create(t *scenarios.Task, name, text string) error {
	return put(t, name, Excl, text)
}

// Replace writes a text in place: open with O_TRUNC, write, close.
func Replace(t *scenarios.Task, name, text string) error {
	return put(t, name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, text)
}

func put(t *scenarios.Task, name string, flags int, text string) error {
	f, err := t.OpenFile(name, flags, 0o666)
	if err != nil {
		return err
	}
	if text != "" {
		_, err = f.WriteString(text)
	}
	return errors.Join(err, f.Close())
}

// Private makes a new file under a name that nobody else uses, and returns the name: open,
// write, close. One of one's own that is there from before is removed first: programs use
// another name each time, and an old file may still be linked elsewhere.
func Private(t *scenarios.Task, name, text string) (string, error) {
	private := PrivateName(t, name)
	err := Create(t, private, text)
	if Exists(err) {
		err = errors.Join(t.Unlink(private), Create(t, private, text))
	}
	return private, err
}

// PrivateName is a name that nobody else uses, made of a name and the pid, and for a
// further task of a process of the task's number.
func PrivateName(t *scenarios.Task, name string) string {
	private := fmt.Sprintf("%s.%d", name, t.Getpid())
	if t.Getpid() != scenarios.Pid(t.Index) {
		private += t.Process // each container has a process 1
	}
	if t.Task() > 1 {
		private += fmt.Sprintf(".%d", t.Task())
	}
	return private
}

// ReadAll reads a small file: open, read, close.
func ReadAll(t *scenarios.Task, name string) (string, error) {
	f, err := t.Open(name)
	if err != nil {
		return "", err
	}
	text, err := ReadFrom(f)
	return text, errors.Join(err, f.Close())
}

// ReadFrom reads a small file through its descriptor, with one call.
func ReadFrom(f *fsfake.File) (string, error) {
	buf := make([]byte, 256)
	n, err := f.Read(buf)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return string(buf[:n]), err
}

// PidIn is the number that a text begins with, after spaces; 0 when there is none.
func PidIn(text string) int {
	word, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	pid, _ := strconv.Atoi(word)
	return pid
}

// Me is the process's pid as a line of text.
func Me(t *scenarios.Task) string { return PidText(t.Getpid()) }

// PidText is a pid as a line of text.
func PidText(pid int) string { return strconv.Itoa(pid) + "\n" }

// Dead is the text of a lock whose owner is dead.
var Dead = strconv.Itoa(scenarios.DeadPid) + "\n"

// Gone asks kill(pid, 0) and reports whether there is no such process (ESRCH). EPERM is
// somebody else's, and alive. So is what is no pid: kill(0, 0) asks for one's own process
// group, which is there; no call is made for it.
func Gone(t *scenarios.Task, pid int) bool {
	return pid > 0 && fsfake.Errno(t.Kill(pid)) == syscall.ESRCH
}

// Older reports whether a file was changed more than d before now; the clock is read in
// a step of its own.
func Older(t *scenarios.Task, info fs.FileInfo, d time.Duration) bool {
	return t.Now().Sub(info.ModTime()) > d
}

// OpenFlock opens a lock file, creates it when it is not there, and takes a flock on it:
// how is fsfake.LOCK_EX, waiting, or with LOCK_NB.
func OpenFlock(t *scenarios.Task, name string, flags, how int) (*fsfake.File, error) {
	f, err := t.OpenFile(name, flags|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	if err := f.Flock(how); err != nil {
		return nil, errors.Join(scenarios.ErrLocked, f.Close())
	}
	return f, nil
}

// AtItsName reports whether the file behind a descriptor still stands at a name: stat of
// the name, then fstat.
func AtItsName(t *scenarios.Task, f *fsfake.File, name string) bool {
	there, err := t.Stat(name)
	if err != nil {
		return false
	}
	mine, err := f.Stat()
	return err == nil && fsfake.SameFile(there, mine)
}

// Linked reports whether the file behind a descriptor still has a name: fstat, link count.
func Linked(f *fsfake.File) bool {
	info, err := f.Stat()
	return err == nil && info.Sys().(*fsfake.Stat).Nlink > 0
}

// A socket in the file system is a name that outlives its owner, and that answers only while the owner lives. Here a
// file stands for it, with a lock that goes when its last descriptor does. A connect takes three steps, and decides at
// the second, of the file that it has found at the first.

// Bind makes a socket at a name, as bind(2) does: EADDRINUSE where something is. It answers nobody before [Listen].
func Bind(t *scenarios.Task, name string) (*fsfake.File, error) {
	f, err := t.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil, syscall.EADDRINUSE
	}
	return f, err
}

// Listen lets a socket answer from now on, until the process ends or closes it.
func Listen(socket *fsfake.File) error {
	return socket.OFDLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, false)
}

// Connect asks whether somebody answers at a name, as connect(2) does: ECONNREFUSED where nobody does.
func Connect(t *scenarios.Task, name string) error {
	f, err := t.OpenFile(name, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	lock, err := f.OFDGetLock(fsfake.RecordLock{Type: fsfake.F_RDLCK})
	if err == nil && lock.Type == fsfake.F_UNLCK {
		err = syscall.ECONNREFUSED
	}
	return errors.Join(err, f.Close())
}
