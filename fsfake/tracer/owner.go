//go:build linux && amd64

package tracer

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// onThreadOfItsOwn runs f on a thread that serves nothing else, and has no children that others
// wait for. The tracer takes what any child of its thread reports, so a child that os/exec has
// started on this thread before, for another goroutine, would be lost to that goroutine, and its
// end would be waited for at the end of the run. The thread ends with f.
func onThreadOfItsOwn(f func()) {
	found := make(chan struct{})
	var try func()
	try = func() {
		runtime.LockOSThread()
		if mayAdopt() || !childless() {
			// This thread is kept until another one is found, or the next goroutine gets it again.
			go try()
			<-found
			runtime.UnlockOSThread()
			return
		}
		close(found)
		f()
	}
	go try()
}

// mayAdopt reports whether this is the first thread of the process: it is given the children of
// threads that end before them.
func mayAdopt() bool { return unix.Gettid() == unix.Getpid() }

// childless reports whether nobody is waited for by this thread.
func childless() bool {
	var s unix.Siginfo
	for {
		err := unix.Waitid(unix.P_ALL, 0, &s, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|wallNoThread, nil)
		if err != unix.EINTR {
			return err == unix.ECHILD
		}
	}
}
