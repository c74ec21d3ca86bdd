// Package real replays a schedule on the real kernel and the real file system: each
// process of the scenario is a real process, which makes one call at a time as the schedule says.
// What every call answers, and the whole disk after every step, is compared with the fake machine.
// A program is a function of what its calls answer, which was tried out before a verdict: so where
// all answers are the same, it makes these calls on the real kernel, too.
//
// # What it knows, and what it must not
//
// It knows scenarios, how a schedule is replayed on the fake (package checker), and the
// real machine (package fsfake/kernel). It judges nothing itself: the run broke the
// property on the real disk when it broke it on the fake, and call by call the real run was the same.
// Like package kernel it deals with real processes, so it is not deterministic, and nothing but
// commands and tests may import it.
//
// # What cannot be real
//
// These are not made, and counted in [Report.Emulated]:
//   - the clock: reading it, sleeping, a stall of the schedule;
//   - the start time of a process;
//   - a call that fails because the schedule says so: it is not made, but for a close, and for a
//     wait that a signal ends, which is compared like any other call;
//   - work, which is no call at all.
//
// Of what a real call has answered these are not compared: pids
// (kill asks about the real process), inode and device numbers (but which names they make one is), file
// times; and, when the driver is not root, users.
//
// A task that waits for a lock gets it from the kernel when the lock is free, while a
// schedule may have somebody else take it first. Such a schedule shows as a mismatch.
//
// # Limits
//
// Of a starvation, the way to the cycle is replayed, not the cycle. A fresh process that
// probes for a wedge makes its calls on the real kernel too.
//
// A scenario whose power may be lost is refused, and one with users or containers.
//
// Linux only. The binary must call [Worker] first.
package real
