package osfs_test

import (
	"fmt"
	"os"

	"lockpick/fsfake"
	"lockpick/fsfake/osfs"
)

// acquire is code for production: it takes the system as a parameter.
func acquire(sys osfs.FS, name string) error {
	f, err := sys.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = fmt.Fprintf(f, "%d", sys.Getpid())
	return err
}

// Code that takes an FS runs on the real system with OS, and on a simulated process
// with On.
func Example() {
	m := fsfake.New(fsfake.Options{})
	m.AddProc(fsfake.ProcSpec{Pid: 101})
	m.AddProc(fsfake.ProcSpec{Pid: 102})
	fmt.Println(acquire(osfs.On(m.Proc(101)), "/tmp/lock"))
	fmt.Println(acquire(osfs.On(m.Proc(102)), "/tmp/lock"))

	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	fmt.Println(acquire(osfs.OS(), dir+"/lock"))
	// Output:
	// <nil>
	// open /tmp/lock: file exists
	// <nil>
}
