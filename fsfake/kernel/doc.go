// Package kernel carries out the calls of package fsfake on the real kernel: the same
// [fsfake.Op], a real process for each simulated one, a real directory for the disk. It
// is what the fake is compared with, and what replays a counterexample for real.
//
// # How
//
// A [Machine] is the driver's side. It starts one worker process for each simulated
// process by executing the running binary once more; [MaybeWorker], called first thing in
// main or TestMain, turns that execution into a worker. The driver sends one call at a
// time over a pipe and the worker's main thread makes it, so that descriptors, record
// locks, user ids, fork, exec and exit are those of a real process. The worker keeps its
// own descriptors above [firstPrivateFD], so that the lowest free descriptor is 3, as in
// the fake. Workers run on one CPU. Workers that only
// make calls are forked by one that is kept for this: see process.go and [Options].
//
// When the driver is root, a worker lives in a chroot of the directory, and paths mean in
// it what they mean in the fake. When it is not, absolute paths are rewritten, there is
// only one user, and a path must not climb out of the directory with "..": see
// [Machine.Rooted].
//
// Whether a call is blocked is read from /proc: see look.go.
//
// # What it knows, and what it must not
//
// It knows the vocabulary of package fsfake and the system calls of Linux. It must not
// know what the fake answers: it executes, others compare. It talks to real processes and
// a real clock, so nothing here is deterministic and nothing else may import it but what
// compares or replays.
//
// # Limits
//
//   - Linux only; elsewhere [MaybeWorker] does nothing and [New] fails.
//   - The virtual clock, sleeping and start times are not the kernel's: calls of that kind
//     fail with [fsfake.Result.Unmodelled].
//   - fork(2) is a fork followed by execve(2) of the same binary with every descriptor kept:
//     what a child inherits is real, its memory is not. With Options.CallsOnly it is a fork.
//   - Pids are translated: programs see the simulated ones. Those that a process in a pid namespace of its own
//     asks about are not: it is 1 there, and alone.
package kernel
