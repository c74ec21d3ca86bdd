// Package openclawrelease is the session write lock of openclaw, and the race between
// releasing it and reclaiming an orphan of one's own process:
// https://github.com/openclaw/openclaw/issues/57019
//
// The lock is a file "<session>.lock", made with open("wx"), that holds the pid of its
// owner, the time of its creation and, where /proc can be read, the start time of the
// owner. The async tasks of one process share the map HELD_LOCKS, so that a second task
// joins a lock that its process holds already. A lock whose pid is one's own, without a
// start time, and that HELD_LOCKS does not know is an orphan of an earlier life: it is
// removed. But a lock that is just being released looks exactly like that.
//
// The steps have the report's names: a0 to a7 acquire, b1 to b5 look at somebody else's
// file, r0 to r5 release. Each system call is a step. HELD_LOCKS is one [fsfake.Cell];
// the code between two awaits is one turn of the event loop, separate from the call
// before it. The protocol with its variation points is in session.go, the choices of
// each variant in a file of its own.
//
// Two races are kept apart. As reported, a task enters its lock in HELD_LOCKS only
// after it has written the file, so a lock in the making looks like an orphan too (a
// review of https://github.com/openclaw/openclaw/pull/60015 describes it). The variant
// in-flight does just that. All others enter the lock right after they have created
// it, before its text is written, as @openclaw/fs-safe 0.1.1 does: whoever reads a
// complete text then finds the entry, and what breaks them is the release.
//
// Left out:
//   - what can interfere with nobody: the signal handlers and the watchdog (a0), realpath
//     (a2), readFile's fstat, and the look at the age of a file without a pid (b3): the
//     clock stands still here, so no file is ever old enough to be stale for its age.
//     For the same reason createdAt is a constant: all acquire in one millisecond, and
//     two locks of one process have the same text;
//   - mkdir -p of the directory, which exists, is one stat (a1);
//   - the timeout of 10 s: a task waits for ever;
//   - failing writes, a release called twice, and the watchdog's forced release.
package openclawrelease

import "embed"

// The files of this package are shown in reports.
//
//go:embed *.go
var files embed.FS
