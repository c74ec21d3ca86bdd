package view

import (
	"errors"
	"fmt"
	"io/fs"
)

// Options say what a view shows otherwise than the machine.
type Options struct {
	// Dir, when not empty, is a directory that is replaced by a copy of the real directory From: an absolute, clean
	// path. It need not exist. From must not lie below /proc, /sys or /dev.
	Dir, From string
	// Copy is a real, empty directory that is to hold the copy of From, so that it lies on the file system of that;
	// empty means in memory. Memory never gives an inode number to a second file.
	Copy string
	// Below: the copy lies on the file system of the directory that holds Dir, and Copy is empty.
	Below bool
}

// A Change is what was done to a name.
type Change struct {
	// Path is absolute.
	Path string
	// Removed: a name of the machine is gone. Otherwise Mode is what stands there.
	Removed bool
	Mode    fs.FileMode
}

// ErrPlatform is why there are no views on other systems.
var ErrPlatform = errors.New("views of the machine can be made under Linux only")

// Reason says in a sentence why a view cannot be made here, and what to do; err is what starting the process or
// [Enter] returned.
func Reason(err error) string {
	return fmt.Sprintf("namespaces or overlays are refused here (%v): allow user namespaces "+
		"(sysctl user.max_user_namespaces, kernel.apparmor_restrict_unprivileged_userns; docker run --security-opt "+
		"seccomp=unconfined --security-opt systempaths=unconfined)", err)
}
