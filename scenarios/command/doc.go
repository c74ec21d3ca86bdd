// Package command makes scenarios of real programs: shell scripts, Python, node, compiled
// ones, unmodified. Each command line is a process of the scenario. It runs under
// [tracer], and every call that it makes below one virtual directory is a step on the
// fake machine, as a call of a Go function is.
//
// It knows how a program is run and what a scenario is. It must not know how a scenario
// is explored or reported: what comes out of [Spec.Scenario] is a scenario like any other,
// and commands and Go functions can stand side by side in one ([Line.Func]).
//
// # What is judged
//
// The property serializable needs no change to a program: the outcome of a run (exit statuses, what was
// printed, the files at the end with their permissions and, for the superuser, owners, and of their times those that a
// file was given and that another one had at the start, or that are before 2024) must be one that the programs leave
// behind when they run one after the other, in some order. With [Spec.Inside] the programs say
// themselves where their critical section is, and mutual exclusion is judged as for a Go protocol.
// A run that never ends leaves nothing behind to compare, so deadlock is asked as well: commands
// that poll for ever, each in vain, break it; where they read the clock, that is decided where clocks move. A command
// may deadlock alone in some orders of its own calls; one that ends in none of them is an error.
//
// With [Spec.Crashes] commands may be killed, each at any call. That ends a command's first process;
// what it has started lives on, and keeps what it has inherited, unless [scenarios.KillGroup] ends all at once. What is
// left behind must then be what one of the serial orders leaves behind in which as many are killed, each anywhere, and
// in which what a killed command has started ends before the next one begins. A command is inside its
// critical section until it leaves it, or until the last of its processes has ended, also when it was killed: then its
// mark goes, too, for it says nothing any more. Wedge is
// asked, too, of commands that are all the same: when all have ended or died, one more run of the
// command, alone and with time passing, exits 0, now or later. It is not asked of a command that
// does not exit 0 either when nobody was killed; what is assumed says so.
//
// Atomic is asked where commands may be killed, the power be lost, or a call fail: each file that was there and that
// the commands change is in the end as it was, or as a serial run of some of them leaves it. It is compared by its
// contents, a symbolic link by its target. A name that no serial run leaves is not judged (a temporary file that a
// kill leaves). A new file may be unfinished, unless an old one is gone: gzip removes its source. A database (of
// SQLite, bbolt or GDBM) is not judged; with [Spec.Read] what a command prints of it is, after [Spec.Recover] has
// run, if that is given: both run alone, on what is left, and what they do outside of the directory is not looked at.
// Of one command that is killed it is compared at once and at the end: what it has started may be killed with it, or
// live on. A command that exits 0 although a call has failed has done what it does.
//
// # On the real kernel
//
// [Spec.Carry] lets the commands carry out the steps of a run on the real kernel, in a temporary
// directory and in the same order, and compares every answer and the end. So is every command
// compared when it runs alone, before anything is explored, and every counterexample before it is
// shown. A call that waits for a lock of flock(2), or of an open file description, is tried again
// when the steps say that it gets the lock: so does the kernel when it wakes who waits, and somebody else
// may have come first. Record locks of a process the kernel gives to whoever waits as soon as they are free: a
// schedule in which somebody else takes one first cannot be forced.
//
// # Executions
//
// What commands do is recorded, for the life of a scenario: an execution with the same answers is
// not made again for another claim, a serial order or a replay. Nothing is taken from the record
// that has not really run twice and done the same, or once in each of two processes that run the
// same command. While it is learned what a command does, executions are clones of earlier ones,
// and when that is looked at again those of another start: a program that has made a hundred
// system calls leaves a snapshot behind, where it has no threads, children, pipes or shared memory, and
// writes to no real file ([tracer.Run.Clone]). What differs between two starts of a program is noticed all the
// same: a clone counts as a part of the execution that it is a clone of. And whatever clones do,
// some execution from the start, never cloned, has made the same calls on the virtual directory up
// to there, though it may have been told something else (a file of another size, say). Where that
// takes more than a hundred executions, in which clones did the same to their ends, two clones of
// different starts are enough. What would go unnoticed is a fault of the snapshots themselves that
// shows after particular answers only, in clones of both starts alike, and not on the kernel;
// [Spec.NoSnapshots] makes every execution
// from the start. Where the first process only waits for others when it is killed, and they do not look at it, one
// execution serves the kills at all of their calls. The number of runs that a verdict tells, of paths that were
// learned and looked at again, is not that of executions. A record has a bound, beyond which everything is executed.
//
// # Limits
//
// linux/amd64 with ptrace(2). What lies outside of the directory is real as long as no command changes it. An
// execution that would change it ends before it does, by an error that names it; [Spec.Extend] then shares that
// place, with what is there, and the scenario is made anew. So nothing real is changed, and a race outside of the
// directory is one like any other. A directory that all may write to, /tmp above all, is a private one: new names are
// the machine's, files that are there can be read by name, and are not listed. Another name of a shared file, a hard
// link or a bind mount, leads to the same file. With [Spec.RealOutside] all of it is real, and happens each time that
// a program is run. Where several threads or processes of one command ask at once, whose call comes first is a choice
// of the schedule. So it is for calls that wait for locks beside each other: one that would be granted at once can go
// on. A call that closes, duplicates or keeps a descriptor that nobody has locked goes first; where the description
// is locked by another process later, one order was followed. So does the start of a process, and the end of one for
// which its parent waits, unless processes may be killed, calls may fail or clocks move. A command that looks at
// processes, and children that print beside each other, could tell: then all orders are followed, or nothing holds.
// An order is followed until it meets another, in one state of the machine and of the command ([tracer.Run.State]). A
// timer that runs beside a call which does not wait goes off after it, which is assumed, and said with the verdict.
// A FIFO below the directory is one of the machine. Waiting for one in poll(2) or select(2) is an error, and so is a
// write that nobody can read.
//
// A command may send the first process of another one a signal. It comes before any of the next calls of that command,
// which then does what the kernel has it do. Signals to what a command has started are errors, for its pids come again
// here; so are signals of job control.
//
// The timers of one command go off in the order of their deadlines; where these are less than a millisecond apart, in
// every order. Whether one goes off while a call waits for a lock of flock(2), or of an open file description, or
// twice for a record lock of a process that holds none, is a choice. Who waits beside a timer does not wait for ever.
// Where several calls wait for locks, a timer goes off only while none of them would be granted. Who has an alarm
// clock and children may kill them at any call. The wakeups of a JVM's own threads are no timers. All that is given
// up, and one order is followed, where another call may wait for a lock (a record lock that a process waits for while
// it has another, a wait that a signal may end, or, where clocks move, with --inside or with calls that fail, any
// wait beside another call), where a timer runs beside 30 rounds of a loop that sleeps and finds the same each time,
// and where the command has more than 2000 orders that do not meet when it runs alone, or more than 200 where its state
// is unknown, or where it ends in several ways. Then the schedule chooses one of a few orders for each command: the
// first, one in which its processes and threads take turns, one in which the last goes first, and drawn ones, and
// schedules with few preemptions are all that is tried without faults. A scenario in which one order was followed, or a
// few, never holds (the verdict is unknown), while what a state breaks is broken, unless the commands end so when they
// run one after the other in one of 24 drawn orders of their own calls; that somebody waits for ever is not said there.
// Threads that race through memory, or for a mutex, do so in one order; that is assumed, and said with the verdict.
// Where they have more than 50 orders, their looks at what nobody changes go first, and a descriptor belongs to the
// thread that looks at it. Who maps a file sees what it held then, also when others write to it later, which is
// assumed, and said. Loops after which all processes of a command remember what they remembered after an earlier round
// are endless. Others are tried out for 100 rounds, and before a verdict holds for 2000, or 400 that start processes.
// What a command does otherwise then makes the verdict unknown; what it does later is assumed away, and said. Where
// rounds of polling come in so many orders that 300 executions are not all, a program is taken to forget a round when
// it sleeps: that is tried out, and said with the verdict. Of the processes of a command only the first is killed,
// alone or with all others. Three or more commands are compared with every serial order, also with those that real time
// rules out.
//
// # Clocks
//
// Changes of files share a time at first. Before a verdict holds, up to 8 executions of each command are repeated
// with times that rise, and that fall; up to 32 where directories are listed again then, as Python lists that of a
// script at an import. Such a listing makes a difference only if the names in it do: all that commands make or remove
// are put there, none, and each alone. Who makes other calls is decided again where no two changes share a time.
//
// At first clocks stand still, and a sleep lasts for any time. Before a verdict holds, executions are repeated with
// the same answers and with clocks that are up to 400 days ahead, at places where a command looked at the time of day.
// In up to 40 executions time passes before every look on the way, in up to 40 before one; a look that is in none of
// these makes the verdict unknown. The monotonic clock is read without a stop, so a command that reads no other one is
// tried in one execution, with time passing after every call and at three places. Of one command alone, names that are
// hashes of the time, and contents that are no text, may differ then: nobody else uses them, and the verdict says so.
//
// Where a command then makes another call, or looked at the clock in a counterexample, the question is decided where
// clocks move ([scenarios.Scenario.InTime]): each look at a clock is a call, a sleep lasts as long as it says, and
// other calls take no time. So nobody is delayed, but that a command begins late. Such a space may be too large,
// which is unknown. What holds there is tried with delays again: one that matters is told to the second, as unknown.
// With [Spec.Stalls] clocks move from the beginning, and jump up to so many times by the same, which delays all
// commands. Texts that tell the present time are not compared there.
//
// Random numbers, and the order of sets in Python and of hashes in Perl, are the same in each execution of a process.
// Before a verdict holds each command runs alone with four others, or with twelve if it is small. Where it makes other
// calls then, but for names that it draws, or no end, nothing holds; nor where it does so with another parent, for all
// have one. What it does otherwise only beside other commands is not seen.
//
// Reading changes no access time, as on a file system mounted with noatime. Before a verdict holds each command runs
// alone once more where each file that it looks at has just been read. Where it does or writes something else then,
// nothing holds.
//
// A command that looks below /proc at the name or the command line of another one's first process sees what that is at
// its first call. Where it executes another program later, nothing holds. What a child of another command executes is
// not known: a command that does something else for it is an error.
//
// Some calls are not modelled and refused. Where no kernel refuses them, or files are used by them (io_uring, io_setup,
// handles of files), nothing holds ([tracer.Run.Unlike]): what a command does where the kernel makes the call was not
// seen. Others are answered as by a kernel or a file system without them, which is assumed: extended attributes,
// fallocate, openat2, bpf, perf_event_open and userfaultfd.
package command
