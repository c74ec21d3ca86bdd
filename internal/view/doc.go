// Package view lets a process see the machine as it is and change nothing of it. The process gets
// namespaces of its own (user, mount, pid, host name and IPC), and an overlay for each top-level directory and
// each mount below one: what is written lands in memory, and is gone with the process.
//
//	cmd := exec.Command("/proc/self/exe")     // the program starts itself again, in the namespaces of
//	cmd.SysProcAttr = view.Attr()             // a view, as the first process of all in there
//	…
//	v, err := view.Enter(view.Options{Dir: dir, From: from})
//	… start commands …
//	changes, err := v.Changes()               // what they have changed, wherever it lies
//
// It works as root and as an ordinary user. Where namespaces or overlays are refused, starting the process or Enter
// fails, and [Reason] says in a sentence why and what to do.
//
// # What it knows, and what it must not
//
// It knows the system calls that make a view. It must not know what runs in one, nor what is concluded
// from its changes.
//
// # What is different in a view
//
//   - /proc shows the processes of the view only; /proc/sys, other places there that change the machine, and /sys are read-only.
//   - /dev has null, zero, full, random, urandom and tty, which can be written to and not be changed, and an empty shm.
//   - [Options].Dir is a copy, bound over its place: on a file system of its own, so that rename(2) into it fails with EXDEV.
//   - The capabilities by which a mount, a clock or another process's memory could be changed are gone.
//
// # Limits
//
//   - An ordinary user has one user id in a view: files of others belong to nobody, and chown fails.
//   - For an ordinary user / itself can be written to, where natively it cannot.
//   - The network is the machine's: what is sent is sent.
//   - A lower directory that somebody else changes meanwhile may be seen before or after the change.
//   - Hard links between a file in the copy and a name outside are cut.
package view
