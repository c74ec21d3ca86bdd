// Package agentwire is the session lock of agentwire, and the race in which a waiter
// unlinks the lock file of a dead holder:
// https://github.com/dotdevdotdev/agentwire-dev/issues/491
//
// The lock is flock(2) on a file "<session>.lock" that also tells the holder's pid. A
// run with --wait-lock polls the lock; while it is taken it looks at the pid, and when
// that process is dead it unlinks the file and starts over with a new one. But the lock
// of a dead process is free anyway, and whoever has the old file open still locks that.
//
// The steps have the numbers of session_lock in locking.py: 1 make the directory, 2 open,
// 3 try the lock, 4 who holds it, 5 unlink the file of a dead holder, 6 write the pid,
// 7 unlock. Each system call is a step.
//
// Left out:
//   - exists() right before a call that answers ENOENT itself: it changes nothing, and
//     the call after it says the same;
//   - mkdir -p of the directory, which exists, is one stat;
//   - the timeout of --wait-lock: a run waits for ever;
//   - pids that belong to another user: there is only one user here.
//
// A run ends with its process: the pid that it left in the file is dead from then on.
// So a lock file of a "dead holder" needs no crash.
package agentwire

import "embed"

// The files of this package are shown in reports.
//
//go:embed *.go
var files embed.FS
