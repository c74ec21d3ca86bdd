// Package gateguard holds the session state of the GateGuard hook: a set of keys that
// hooks of one session add to, each in a process of its own.
//
// # The system
//
// GateGuard runs before every tool call of a coding agent, as a fresh process. The
// first call about a file is denied until the facts are presented; the second may
// pass. What was asked already is kept in a state file, read and written back whole:
//
//	if !check(key) { mark(key); deny }
//
// The report is https://github.com/affaan-m/ECC/issues/1441: two calls at a time load
// the same set and save one after the other, and one key is lost. Its options are a
// lock around load, modify and save; a save that merges with what is on disk; a lease.
// https://github.com/affaan-m/ECC/pull/1442 proposed the merging save, and
// https://github.com/affaan-m/ECC/pull/1623 merged it.
//
// # What is modelled
//
// The state file is a set that only grows (model.Set): every process marks a key of
// its own and then asks for it, and must find it. In the hook the two are calls of two
// processes; nothing is kept in memory between them, so one process stands for both.
//
//	rmw            load, add, save by temporary file and rename, as reported
//	heartbeat      the same code; the other process only asks, and refreshes last_active
//	merge-save     as merged: save unites with the disk before it writes
//	expiry-unlink  as merged; the other process only asks, and removes an expired file
//	flock-rmw      load to save under flock on a file that is never removed
//	excl-rmw       load to save under a sentinel file, polled for
//	lease-rmw      load to save under a lease that runs out
//	key-files      no read-modify-write at all: one file per key
//
// heartbeat and expiry-unlink have two roles, so that nothing but the race named can
// lose the key: only one of the two processes ever saves a key.
//
// # What is left out
//
// The file holds "last_active" in milliseconds and one key per line, not JSON. The
// caps (500 keys) and the sweep of files older than an hour do nothing to a set this
// small and young. So does the fallback for a rename that fails because the target
// exists: only Windows does that. The random bytes in the merged temporary name tell
// apart processes with equal pids, which there are none of here. Calls that can
// interfere with nobody are left out (the fstat of a readFileSync, the read that finds
// the end of a file); mkdir -p of a directory that is there is one stat. There are no
// timeouts: who waits for a lock waits for ever.
//
// The clock stands still, or jumps when a scenario allows a stall; states that need
// an old file start with one.
package gateguard

import "embed"

// The files of this package are shown in reports.
//
//go:embed *.go
var files embed.FS
