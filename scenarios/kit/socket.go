package kit

import (
	"errors"
	"os"
	"syscall"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

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
