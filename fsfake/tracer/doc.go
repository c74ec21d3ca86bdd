// Package tracer runs a program, in any language and unmodified, under ptrace(2), and turns
// every call that it makes on a file below one directory, the virtual directory, into an
// [fsfake.Op] that whoever drives the run answers. No such file need exist.
//
//	run, err := tracer.Start(tracer.Config{Argv: []string{"sh", "-c", "echo 1 > n"}, Dir: "/data", Cwd: "/data"})
//	for {
//		set, err := run.Next()            // what every thread of every process asks now
//		r := machine.Do(set[0].Task, set[0].Op)
//		run.Answer(set[0].Task, r)        // one of them goes on
//	}
//
// The package is for linux/amd64; elsewhere [Start] says so.
//
// # What it knows, and what it must not
//
// It knows the system calls of Linux, and how a call on the fake looks to a program. It knows
// no machine, no scenario and no checker: it asks and is answered. It needs no privileges.
//
// # How
//
// One locked thread of the operating system owns all processes of a run, which are pinned to
// one CPU together with it. A seccomp filter stops each call that is not known to be harmless.
// A call below the directory is never made: its answer is written into the program's memory
// and registers. A descriptor of the fake is a real descriptor of the program, of an epoll
// instance that nobody uses: close, dup, fork and exec treat it as any other, and a call that
// was forgotten fails on it instead of succeeding.
//
// Only one thread of a run is in user mode at any time, and it goes on until it asks, waits or
// ends; then the next in order may. So a program with threads is a function of its answers as
// far as its threads talk through system calls.
//
// # What else is fixed
//
// Equal answers give equal calls. Therefore pids and thread ids are virtual, addresses are not
// random but depend on the pid, getrandom(2), AT_RANDOM and /dev/urandom come from [Config.Seed] and the pid, the
// environment is a fixed one but for [Config.Env], and clocks are virtual: the time of day is
// what the driver says, the monotonic clocks of its processes move by their sleeps only. In the vDSO the
// kernel's clocks are replaced by that monotonic clock, which programs read without a stop; where
// its code is not as expected it is hidden, and each look at a clock is a stop. Nothing
// sleeps: a wait with a timeout appears in the set as an [fsfake.CallSleep] with Timer set,
// and its time has come when it is answered.
//
// The driver's machine has a process with the root's pid, user, group and working directory, and the virtual
// directory, which is its border ([fsfake.Machine.SetBorder]): a path that leads out of it through a symlink of the
// fake is then an error. The umask is applied here, for it is each process's own: the machine must not apply another
// one ([fsfake.NoUmask]).
//
// # Clones
//
// A run at rest can be cloned ([Run.Clone]): the program forks, and the second process, which is the
// tracer's child like the first, is a run of its own, with the same answers behind it. So what has
// been told the same at first need not be started anew.
//
// # For real
//
// With [Config.Through] the calls are made, in a real directory that stands for the virtual one,
// each when [Run.Let] says so. So a schedule that was found on the fake is carried out on the
// kernel, and each answer of the kernel can be compared with the fake's. Pids, clocks, random
// numbers, inode numbers and the times of files stay virtual.
//
// [Run.Where] says where in its source a program makes a call, for those that have debug
// information (package stack).
//
// # Limits
//
// The program is no prisoner: what it does outside the virtual directory and the regions that are shared is real, and
// happens each time that it runs; [Run.Outside] lists what it changes there. Under [Config.Protect] a run ends before
// it changes a real file, as far as this package sees the change: sockets, terminals and what it tells of itself below
// /proc are let through. Pipes to the outside, sockets, shared memory, files elsewhere, rdtsc and most of /proc are
// not controlled; its list of pids, stat and status of processes are. Of a process of another run these, comm, cmdline
// and environ tell what [Config.Program] says; other files about it are a fault. What tells of locks, which are the
// fake's, is refused: /proc/locks, and fdinfo of a file of the fake that somebody has asked a lock of. Threads that
// race through memory run in one order, and so do processes that race through pipes: what one writes is a part of its
// step before. Set-user-id programs get no privileges. Directories are listed sorted and without the kinds of what is
// in them. A Go program is known by its file; the rounds of its runtime's own thread come before a set is taken. A
// private mapping of a file is a copy of what the file held then ([Pending].Maps); pages that a program gives back
// (MADV_DONTNEED) or adds (mremap) are zeros there. A shared one that cannot be written to shows what is written
// through the description that was mapped; the fake refuses other changes of such a file. A path that climbs out of
// the virtual directory from an open directory below it, or from a removed one, is a fault. sendfile(2) and
// copy_file_range(2) are the reading and the writing that the kernel does, one after the other. A call that programs
// have another way for is refused as by a kernel that does not have it: fallocate(2) but to make a file longer,
// setting extended attributes, a copy from or to a file elsewhere, io_uring; [Run.Refused] lists these. What the
// tracer does not handle (an unknown call, another shared mapping of a file of the fake, a socket below the directory,
// 32-bit calls, job control, namespaces) is an [Error] with the program's name and the call. It ends the run and is
// never let through.
package tracer
