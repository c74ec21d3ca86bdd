// Package osfs is package os as an interface, [FS], with two implementations: [OS] is
// the real one, and [On] is a simulated process. Code that takes an FS runs unchanged
// in production and under lockpick, where each of its calls is a scheduling point.
//
//	func Acquire(sys osfs.FS, name string) error {
//		f, err := sys.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
//		…
//	}
//
// To port code, add the parameter and rename os, time and syscall to it: every method
// has the name, the signature and the system calls of the function it stands for.
//
// # What it knows, and what it must not
//
// It knows package os and package fsfake, and how their files differ. It must not know
// any protocol, schedule or scenario.
//
// # Limits
//
// What a Proc cannot do is absent: reading a directory gives names without types
// ([File.Readdirnames]; there is no ReadDir), and there is no Getppid, no environment, no
// signal but the question whether a process exists ([FS.Kill]). Temporary names hold the
// pid and a count where those of package os hold random digits. Flock on a real file needs
// a Unix system, and record locks need [fsfake.File] or package syscall.
//
// A loop that waits for somebody else must say where its rounds begin, or a search has
// no end: see [Retry].
package osfs
