// Package native runs commands on the machine as it is and looks for an end that no serial order gives. It is an
// independent check of what package tracer and the fake machine say: clocks, pids, inode numbers, addresses, random
// numbers and file systems are the real ones. Calls are delayed and nothing else.
//
//	c, err := native.Open(task)      // copies the directory
//	defer c.Close()
//	report := c.Sweep(ctx, 5*time.Second)
//
// # How
//
// Each run happens in a view of its own (package view), in a process that this binary starts of itself. There the
// commands run under ptrace(2), and a seccomp filter stops them before calls on files. Calls on files of the
// directory, on files outside that a serial run has changed, on locks, signals and ends are shared; a command that
// has not its turn is held at its next shared call. A turn ends after so many shared calls, at the command's end,
// when it waits, or when it has slept longer than the run's patience.
//
// Serial runs come first ([Check.Serial]): every order, with infinite patience. A [Check.Sweep] stops each command
// after each of its shared calls while the others run to their ends, then draws schedules from a fixed seed. An end
// that no serial order has given is asked of the serial side again, with the processes of each command in drawn
// orders, before it counts. [Check.Carry] forces the order of a counterexample: it matches calls by name and path,
// because a command makes other calls under package tracer.
//
// [Check.Kill] forces a kill that was seen elsewhere, kills each command after each of its shared calls, then at
// places of drawn orders, and asks what is left, or whether one more run gets through.
//
// What is compared: the files below the directory, or what a reader prints of them ([Task.Read]), files outside that
// serial runs change alike, exit statuses, and what is printed. Pids of the run and present times are masked. Names
// that differ between two serial runs of one order are not compared; [Report.NotCompared] lists them.
//
// # What it knows, and what it must not
//
// It knows ptrace, /proc and views. It must not know package tracer, the fake machine, or how a verdict is made: what
// all of these have wrong it must be able to notice. It looks at the real clock, so nothing here is deterministic.
//
// # Limits
//
//   - linux/amd64 only. 32-bit programs are not stopped. Set-user-id programs get no privileges.
//   - What is sent through shared memory or sockets is no shared call.
//   - SIGSTOP does not stop a command.
//   - At most 5 commands.
//   - Each directory below the root is a file system of its own. Runs with a rename between two of them, which are one
//     on the machine, do not count.
//   - New content of more than 1 MiB is compared by a checksum, and not masked.
package native
