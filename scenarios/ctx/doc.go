// Package ctx holds the lock of `ctx connect sync`, as reported, as merged, and as
// discussed.
//
// # The system
//
// ctx keeps a project's shared entries in the directory .context/hub. `ctx connect
// sync` reads a cursor from .sync-state.json, fetches the entries after it, appends
// them to markdown files, and writes the cursor back. The file .sync.lock is to keep
// a second sync out meanwhile: one started by a hook and one by hand, say.
//
// The report is https://github.com/ActiveMemory/ctx/issues/93: the lock looks with
// stat and then writes, so two syncs can both find it free. It discusses create-or-
// fail (option A, with a pid and kill(pid, 0) against the locks of the dead) and
// flock (option B). https://github.com/ActiveMemory/ctx/pull/113 merged create-or-fail
// with an empty file and without any recovery.
//
// # What is modelled
//
// Each variant's file is the protocol, call for call. The body is the same for all:
// read the cursor, fetch, append one line per entry, write the cursor in place. Every
// process runs one sync; who is told "locked" gives up, as the command does.
//
//	stat-then-write        as reported
//	excl                   as merged: open(O_CREAT|O_EXCL), unlink
//	excl-cursor            as merged, and after a death the lock is cleared by hand
//	pid-cleanup            option A: the pid inside, the lock of a dead pid is unlinked
//	pid-cleanup-empty-stale the same, and an empty file counts as a dead owner's
//	flock                  option B: flock on a file that is never removed
//
// # What is left out
//
// Fetching is no step: the hub is another machine and has one entry, number 1. One
// file takes the entries, where the real command has one per type. The cursor is a
// bare number, not JSON; an empty file means 0, as it does there. Calls that can
// interfere with nobody are left out (the fstat of a ReadFile, the read that finds
// the end of a file). `ctx connect listen`, which appends without taking the lock at
// all, is left out: no lock can help there. There are no timeouts: who waits, waits
// for ever.
package ctx

import "embed"

// The files of this package are shown in reports.
//
//go:embed *.go
var files embed.FS
