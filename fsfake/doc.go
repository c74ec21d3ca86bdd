// Package fsfake is a fake machine for testing file-lock protocols: a disk, the kernel
// above it, processes and a clock, as a value. A call is data, an [Op], and
// [Machine.Do] carries it out atomically and answers with a [Result]. A [Proc] dresses
// the calls as the functions of package os, so that porting a protocol is renaming; drawn
// sequences of them are compared with package os, in answers and in system calls (package
// osfs has the tests).
//
// # What it knows, and what it must not
//
// It knows what a local Linux file system answers to each call. It knows no scheduler,
// no test and no protocol; it has no goroutines, no state outside its values, and no
// clock but its own. Whoever drives it decides which task makes the next call.
//
// # Choices
//
// Where Linux leaves something open, or file systems differ, the fake does this:
//   - Reading changes no atime (noatime). Times are the virtual clock's; whether a change
//     shows in them, and whether inode numbers come back, [Options] say.
//   - A directory's size is 4096, or 0 once removed, and its link count 2 and its
//     subdirectories, as on ext4.
//   - read(2) of a directory is EISDIR always. (On ext4 it is EINVAL once the directory has
//     been read to its end, for that end is the largest offset there is.)
//   - truncate(2) to the size that a file has changes its times, as on ext4.
//   - What xfs, btrfs, tmpfs and an overlay do otherwise, Options.Profile says (Profile.Differs).
//   - One file system, one mount, device number 1; nothing but directories of an overlay's image is EXDEV.
//   - The fs.protected_* sysctls are off, which is the kernel's default.
//   - There are no supplementary groups, and root may do everything.
//   - A dead process is reaped at once: kill(2) says ESRCH and /proc has it no more.
//   - Waiters of a lock have no order: any of those that can be granted may come next. A
//     waiter is looked at when it makes its call again, not whenever the kernel would
//     have woken it to find that it still has to wait; but where that shows, because the
//     waiter gives up what its open file description has got meanwhile, it is a step of its
//     own, and the kernel's order is kept (queue.go).
//   - Of a process with several tasks blocked in fcntl locks, the deadlock search looks at
//     the one that began last only, as the kernel does.
//   - Reading a directory takes one step, and gives the names sorted, without "." and "..".
//   - fork(2) hands out the smallest pid above all that were ever used.
//
// What it answers is compared with the kernel, call by call: docs/kernel-coverage.md in the
// repository lists what was seen alike.
//
// # Not modelled
//
// These end a run as a harness error ([Result.Unmodelled]), never as a success:
//   - the profiles NFS, Windows and MacOS ([New] panics);
//   - open flags other than the access modes, O_CREAT, O_EXCL, O_TRUNC, O_APPEND, O_NOFOLLOW,
//     O_CLOEXEC, O_DIRECTORY, O_TMPFILE, and those that change nothing here (O_SYNC, O_DSYNC,
//     O_NONBLOCK, O_NOCTTY, O_LARGEFILE), O_PATH and O_NOATIME; in particular O_DIRECT;
//   - RENAME_WHITEOUT; flags of linkat but AT_SYMLINK_FOLLOW; SEEK_DATA and SEEK_HOLE in a file with a block of zeros; seeking in a directory but to its start;
//   - kill(2) of process groups but one's own. What a signal does, the program says that gets it ([Signalled]).
//     There are SIGKILL from outside ([Machine.KillProc]), a signal that interrupts a blocked lock call
//     ([Machine.Interrupt]), and one after which it is made anew ([Machine.TakeOut]), too;
//   - flock by two tasks that wait to lock one open file description in different modes, and,
//     unless the machine knows in time that descriptions may be shared ([ProcSpec.Tasks], or a
//     fork before there are locks), flock that shares a lock through a description that
//     another task waits to lock alone;
//   - of a process that is killed while it waits in flock and holds a lock of the same file, more than
//     one order: who waited behind its request tries again before its lock goes, never after;
//   - reading, writing or asking about a standard stream (descriptors 0 to 2 are open on them
//     at first, and may be closed, duplicated and replaced like any other);
//   - files of more than 16 MiB, offsets beyond 1 TiB;
//   - fork in a pid namespace of its own, which has one process ([ProcSpec.Inside]);
//   - a call by a process that does not run, or by a task that is blocked in another;
//   - writing to a FIFO that nobody can read from, or that has 16 KiB in it.
//
// There are no calls at all for what is absent here: pipes without names, devices, mmap, leases, extended
// attributes, ACLs, capabilities, chroot, mounts, quotas. Nothing fails for want
// of space by itself: whoever drives the machine may have calls fail ([Machine.Fail]).
//
// # Power loss
//
// fsync(2) has no effect unless the machine was made with [Options.PowerLoss]: nothing written
// is ever undone. With it, the machine knows every state that its disk may be in after a loss
// of power now ([Machine.Losses], [Machine.Lose]): of each file any prefix of its
// unsynced writes, of each directory any prefix of its unsynced changes, all independent of
// each other. fsync of a new file does not keep its name. [Options.Disk] says what real file systems
// do beyond that and what they do not. The number of an inode that may come back is not used
// again. Rules and reasons are in powerloss.go, disk.go and diskorder.go.
package fsfake
