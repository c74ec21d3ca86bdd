// Package real replays a schedule on the real kernel and the real file system: each
// process of the scenario is a real process that runs the protocol's own Go code, and is
// let go on one call at a time as the schedule says. What every call answers, and the
// whole disk after every step, is compared with the fake machine. A counterexample that is
// confirmed in this way owes nothing to the fake.
//
// # What it knows, and what it must not
//
// It knows scenarios, how a schedule is replayed on the fake (package checker), and the
// real machine (package fsfake/kernel). It judges nothing itself: the run broke the
// property on the real disk when it broke it on the fake, and call by call, note by note
// the real run was the same. Like package kernel it deals with real processes, so it is not
// deterministic, and nothing but commands and tests may import it.
//
// # What cannot be real
//
// These are answered from the fake, and counted in [Report.Emulated]:
//   - the clock: reading it, sleeping, a stall of the schedule. File times are the real
//     file system's, but the program is shown the virtual clock's; see below;
//   - the start time of a process;
//   - a call that fails because the schedule says so: it is not made, but for a close, and for a
//     wait that a signal ends, which is compared like any other call;
//   - work, which is no call at all.
//
// These are translated in what a real call has answered, after the rest was compared: pids
// (a process has the pid of the scenario wherever its program sees one; kill asks about the
// real process), inode and device numbers (compared by which names they make one), file
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
// Linux only. The worker finds the scenario by its id, so it must be among those that
// [Worker] was given, by the same binary.
package real
