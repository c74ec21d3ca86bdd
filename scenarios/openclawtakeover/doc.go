// Package openclawtakeover is the session write lock of openclaw as it was in February
// 2026, and the ways to take over the lock of a dead process that were proposed for it:
// https://github.com/openclaw/openclaw/pull/10283
//
// The lock is a file "<session>.lock", made with open("wx"), that holds the pid of its
// owner and the time of its creation. A contender reads the file, and when the owner is
// dead it removes the file and tries again. The steps have the names used of that
// code: a4 to a7 create the lock, b1 to b5 look at somebody else's; t1 to t5 are the
// pull request's takeover by rename, g0 to g5 the takeover under a guard of
// @openclaw/fs-safe 0.5.0. Each system call is a step.
//
// Two races are kept apart. As reported, a lock without a text counts as stale, so a
// lock is robbed between its creation and the writing of its text: that is the variant
// empty-is-stale. In rm-then-create such a lock is alive, as it became later by a grace
// period; what breaks it is that "judge, then remove by name" is two steps. The variant
// guarded never shows a lock without a text: it links a complete file to the name, so
// that a kill can leave nothing behind for ever except the guard.
//
// Left out:
//   - the map of locks held and its re-entrant fast path: each process has one task;
//   - what can interfere with nobody: mkdir -p and realpath of the directory, readFile's
//     fstat. The clock stands still, so createdAt is a constant and no lock is too old;
//   - the timeout of 10 s: a process waits for ever;
//   - failing writes, and pids that belong to another user or another pid namespace.
package openclawtakeover

import "embed"

// The files of this package are shown in reports.
//
//go:embed *.go
var files embed.FS
