package fsfake

import (
	"strconv"
	"syscall"
)

// The table of calls. A constant without a row is not modelled: [Machine.Do] says so, and
// a test names it. What several calls have in common is in the table of
// traits. How the real kernel makes a call is in package kernel, how it is drawn
// to compare the two in the tests; both have a table of their own, keyed by Call.

// The calls that a [Machine] carries out. Each is one step.
const (
	CallNone Call = iota

	// Files by name.
	CallOpen
	CallStat
	CallLstat
	CallUnlink
	CallRename
	CallLink
	CallSymlink
	CallReadlink
	CallMkdir
	CallRmdir
	CallMknod
	CallBind    // socket(2) of a stream, and bind(2) to a path
	CallConnect // socket(2) of a stream, connect(2) to a path, and close(2)
	CallTruncate
	CallUtimes
	CallLutimes
	CallChmod
	CallChown
	CallLchown
	CallChdir

	// Files by descriptor.
	CallRead
	CallPread
	CallOpenFIFO // the rest of open(2) of a FIFO, which waits for its other end
	CallTake     // read(2) of a FIFO
	CallWrite
	CallPwrite
	CallLseek
	CallClose
	CallDup
	CallDup2
	CallDup3
	CallGetfd
	CallSetfd
	CallGetfl
	CallSetfl
	CallFstat
	CallFtruncate
	CallFutimes
	CallFchmod
	CallFchown
	CallFsync
	CallReaddir
	CallFlock
	CallSetlk
	CallGetlk
	CallOFDSetlk
	CallOFDGetlk
	CallListen
	CallLinkFD // linkat(fd, "", …, AT_EMPTY_PATH): gives an O_TMPFILE file its name

	// Processes and time.
	CallKill
	CallStartTime
	CallProcs // the pids in a listing of /proc
	CallExit
	CallEnd // exit whose status is kept
	CallFork
	CallForkAs // fork of a child whose pid is chosen
	CallExec
	CallGetcwd
	CallNow
	CallSleep
	CallWork // one visible step of work that touches no file
	// CallChoose is no call: several of a program's threads or processes ask at once, and one of
	// them goes on. Which one it is, Off, is the schedule's choice of Len; the answer tells it.
	CallChoose

	// Memory shared by the tasks of one process (see Cell).
	CallCellLoad
	CallCellStore
	CallCellWait
	// CallStart begins the task of its process with the number Len, which has not begun: whoever
	// drives the machine does that. Of the machine it is no more than a step.
	CallStart
	CallCellCAS // compare-and-swap

	numCalls
)

// A row is what is known of one call.
type row struct {
	name  string
	group Group
	// uses are the operands that the call looks at; a call with others is refused.
	uses Operand
	// first, of a call by descriptor, answers what the kernel answers before it looks at the
	// descriptor; false when it looks. nil is always false.
	first func(*Op) (syscall.Errno, bool)
	// takes is what the descriptor of a call by descriptor may be open on.
	takes reach
	// failing are the errors with which it may fail although nothing in the machine stands in its
	// way; see [Machine.Fail].
	failing []syscall.Errno
	// do carries the call out.
	do func(*Machine, *request)
	// text is how the call reads after its name, answer how its success does.
	text   func(*Op) string
	answer func(*Op, *Result) string
	// showsPid, mayBlock and contends are as the methods of Call say; nil is never.
	showsPid bool
	mayBlock func(*Op) bool
	contends func(*Result) bool
}

// A reach is what calls by descriptor work on.
type reach uint8

const (
	files    reach = iota // what is open to be used
	places                // beside that, what O_PATH only says where it is
	anything              // beside that, the standard streams, which are outside
)

// Sets of operands that several calls have.
const (
	onPath  = OperandPath
	onPaths = OperandPath | OperandPath2
	onFD    = OperandFD
	onRange = OperandFD | OperandFlags | OperandOff | OperandLen
)

var calls = [numCalls]*row{
	CallOpen: {
		name: "open", group: ByName, uses: onPath | OperandFlags | OperandMode, failing: failsToMake,
		do:   func(m *Machine, c *request) { m.open(c.p, c.op, c.r) },
		text: words(pathText, openText), answer: fdAnswer, contends: exists,
	},
	CallStat: {
		name: "stat", group: ByName, uses: onPath | OperandFlags, failing: failsByName,
		do:   func(m *Machine, c *request) { c.fails(m.stat(c.p, c.op, true, &c.r.Stat)) },
		text: pathText, answer: statAnswer, contends: notDir,
	},
	CallLstat: {
		name: "lstat", group: ByName, uses: onPath | OperandFlags, failing: failsByName,
		do:   func(m *Machine, c *request) { c.fails(m.stat(c.p, c.op, false, &c.r.Stat)) },
		text: pathText, answer: statAnswer, contends: notDir,
	},
	CallUnlink: {
		name: "unlink", group: ByName, uses: onPath, failing: failsByName,
		do:   func(m *Machine, c *request) { c.fails(m.unlink(c.p, c.op.Path)) },
		text: pathText, answer: okAnswer,
	},
	CallRename: {
		name: "rename", group: ByName, uses: onPaths | OperandFlags, failing: failsToMake,
		do:   func(m *Machine, c *request) { m.rename(c.p, c.op, c.r) },
		text: words(pathText, path2Text, renameText), answer: okAnswer, contends: exists,
	},
	CallLink: {
		name: "link", group: ByName, uses: onPaths | OperandFlags, failing: failsToMake,
		do:   func(m *Machine, c *request) { m.link(c.p, c.op, c.r) },
		text: words(pathText, path2Text, linkText), answer: okAnswer, contends: exists,
	},
	CallSymlink: {
		name: "symlink", group: ByName, uses: onPaths, failing: failsToMake,
		do:   func(m *Machine, c *request) { c.fails(m.symlink(c.p, c.op.Path2, c.op.Path)) },
		text: words(path2Text, pathText), answer: okAnswer, contends: exists,
	},
	CallReadlink: {
		name: "readlink", group: ByName, uses: onPath, failing: failsByName,
		do:   func(m *Machine, c *request) { m.readlink(c.p, c.op.Path, c.r) },
		text: pathText, answer: dataAnswer,
	},
	CallMkdir: {
		name: "mkdir", group: ByName, uses: onPath | OperandMode, failing: failsToMake,
		do:   func(m *Machine, c *request) { c.fails(m.mkdir(c.p, c.op.Path, c.op.Mode)) },
		text: pathText, answer: okAnswer, contends: exists,
	},
	CallRmdir: {
		name: "rmdir", group: ByName, uses: onPath, failing: failsByName,
		do:   func(m *Machine, c *request) { c.fails(m.rmdir(c.p, c.op.Path)) },
		text: pathText, answer: okAnswer,
	},
	CallMknod: {
		name: "mknod", group: ByName, uses: onPath | OperandFlags | OperandMode, failing: failsToMake,
		do:   (*Machine).mknod,
		text: words(pathText, nodeText), answer: okAnswer, contends: exists,
	},
	CallBind: {
		name: "bind", group: ByName, uses: onPath | OperandMode | OperandData, failing: failsToMake,
		do:   (*Machine).bind,
		text: pathText, answer: fdAnswer, contends: func(r *Result) bool { return r.Errno == EADDRINUSE },
	},
	CallConnect: {
		name: "connect", group: ByName, uses: onPath, do: (*Machine).connect,
		text: pathText, answer: okAnswer, contends: (*Result).OK,
	},
	CallTruncate: {
		name: "truncate", group: ByName, uses: onPath | OperandLen, failing: failsByName,
		do:   func(m *Machine, c *request) { m.truncate(c.p, c.op.Path, c.op.Len, c.r) },
		text: words(pathText, lenText), answer: okAnswer,
	},
	CallUtimes: {
		name: "utimes", group: ByName, uses: onPath | OperandTime | OperandTime2, failing: failsByName,
		do:   func(m *Machine, c *request) { c.fails(m.utimes(c.p, c.op, true)) },
		text: pathText, answer: okAnswer,
	},
	CallLutimes: {
		name: "lutimes", group: ByName, uses: onPath | OperandTime | OperandTime2, failing: failsByName,
		do:   func(m *Machine, c *request) { c.fails(m.utimes(c.p, c.op, false)) },
		text: pathText, answer: okAnswer,
	},
	CallChmod: {
		name: "chmod", group: ByName, uses: onPath | OperandMode, failing: failsByName,
		do:   func(m *Machine, c *request) { c.fails(m.chmod(c.p, c.op.Path, c.op.Mode)) },
		text: words(pathText, modeText), answer: okAnswer,
	},
	CallChown: {
		name: "chown", group: ByName, uses: onPath | OperandOff | OperandLen, failing: failsByName,
		do:   func(m *Machine, c *request) { c.fails(m.chown(c.p, c.op, true)) },
		text: words(pathText, ownerText), answer: okAnswer,
	},
	CallLchown: {
		name: "lchown", group: ByName, uses: onPath | OperandOff | OperandLen, failing: failsByName,
		do:   func(m *Machine, c *request) { c.fails(m.chown(c.p, c.op, false)) },
		text: words(pathText, ownerText), answer: okAnswer,
	},
	CallChdir: {
		name: "chdir", group: ByName, uses: onPath,
		do:   func(m *Machine, c *request) { c.fails(m.chdir(c.p, c.op.Path)) },
		text: pathText, answer: okAnswer,
	},

	CallRead: {
		name: "read", group: ByFD, uses: onFD | OperandLen, failing: failsByFD,
		do:   func(m *Machine, c *request) { m.read(c.d, c.op.Len, c.r) },
		text: fdText, answer: dataAnswer,
	},
	CallPread: {
		name: "pread", group: ByFD, uses: onFD | OperandLen | OperandOff | OperandFlags, first: validOffset,
		failing: failsByFD,
		do: func(m *Machine, c *request) {
			m.pread(c.d, c.op.Len, c.op.Off, c.r)
			m.share(c.d, c.op.Flags, c.r)
		},
		text: words(fdText, sharesText, atText), answer: dataAnswer,
	},
	CallOpenFIFO: {
		name: "open-fifo", group: ByFD, uses: onFD | OperandWait,
		do: (*Machine).endOpen, text: fdText, answer: okAnswer, mayBlock: waits,
	},
	CallTake: {
		name: "read-fifo", group: ByFD, uses: onFD | OperandLen | OperandWait, failing: failsByFD,
		do: (*Machine).take, text: fdText, answer: dataAnswer, mayBlock: waits,
	},
	CallWrite: {
		name: "write", group: ByFD, uses: onFD | OperandData, failing: failsToWrite,
		do:   func(m *Machine, c *request) { m.write(c.p, c.d, c.op.Data, c.r) },
		text: words(fdText, dataText), answer: numberAnswer,
	},
	CallPwrite: {
		name: "pwrite", group: ByFD, uses: onFD | OperandData | OperandOff, first: validOffset,
		failing: failsToWrite,
		do:      func(m *Machine, c *request) { m.pwrite(c.p, c.d, c.op.Data, c.op.Off, c.r) },
		text:    words(fdText, dataText, atText), answer: numberAnswer,
	},
	CallLseek: {
		name: "lseek", group: ByFD, uses: onFD | OperandOff | OperandFlags,
		do:   func(m *Machine, c *request) { m.lseek(c.d, c.op.Off, c.op.Flags, c.r) },
		text: words(fdText, offText, whenceText), answer: numberAnswer,
	},
	CallClose: {
		name: "close", group: ByFD, uses: onFD, takes: anything, failing: failsByFD,
		do:   func(m *Machine, c *request) { m.closeFD(c.p.pid, c.op.FD); m.lookInVain() },
		text: fdText, answer: okAnswer,
	},
	CallDup: {
		name: "dup", group: ByFD, uses: onFD | OperandFD2 | OperandFlags, takes: anything, do: (*Machine).dup,
		text: words(fdText, lowestText, cloexecText), answer: fdAnswer,
	},
	CallDup2: {
		name: "dup2", group: ByFD, uses: onFD | OperandFD2, first: checkDup2, takes: anything, do: (*Machine).dup2,
		text: words(fdText, toFDText), answer: fdAnswer,
	},
	CallDup3: {
		name: "dup3", group: ByFD, uses: onFD | OperandFD2 | OperandFlags, first: checkDup3, takes: anything, do: (*Machine).dup3,
		text: words(fdText, toFDText, cloexecText), answer: fdAnswer,
	},
	CallGetfd: {
		name: "fcntl-getfd", group: ByFD, uses: onFD, takes: anything, do: (*Machine).getfd,
		text: fdText, answer: func(_ *Op, r *Result) string { return "= " + descriptorFlags(int(r.N)) },
	},
	CallSetfd: {
		name: "fcntl-setfd", group: ByFD, uses: onFD | OperandFlags, takes: anything, do: (*Machine).setfd,
		text: words(fdText, func(o *Op) string { return descriptorFlags(o.Flags) }), answer: okAnswer,
	},
	CallGetfl: {
		name: "fcntl-getfl", group: ByFD, uses: onFD, takes: places,
		do:   func(m *Machine, c *request) { c.r.N = int64(c.d.flags) },
		text: fdText, answer: statusAnswer,
	},
	CallSetfl: {
		name: "fcntl-setfl", group: ByFD, uses: onFD | OperandFlags, do: (*Machine).setfl,
		text: words(fdText, openText), answer: okAnswer,
	},
	CallFstat: {
		name: "fstat", group: ByFD, uses: onFD | OperandFlags, takes: places, failing: failsByFD,
		do:   func(m *Machine, c *request) { m.statOf(c.p, c.d.inode, c.op.Flags, &c.r.Stat) },
		text: fdText, answer: statAnswer,
	},
	CallFtruncate: {
		name: "ftruncate", group: ByFD, uses: onFD | OperandLen | OperandFlags, first: validLength, failing: failsByFD,
		do:   func(m *Machine, c *request) { m.ftruncate(c.p, c.d, c.op.Len, c.op.Flags, c.r) },
		text: words(fdText, atLeastText, lenText), answer: okAnswer,
	},
	CallFutimes: {
		name: "futimes", group: ByFD, uses: onFD | OperandTime | OperandTime2, first: noTimes,
		failing: failsByFD,
		do:      func(m *Machine, c *request) { c.fails(m.setTimes(c.p, c.d.inode, c.op.Time, c.op.Time2)) },
		text:    fdText, answer: okAnswer,
	},
	CallFchmod: {
		name: "fchmod", group: ByFD, uses: onFD | OperandMode, failing: failsByFD,
		do:   func(m *Machine, c *request) { c.fails(m.setMode(c.p, c.d.inode, c.op.Mode)) },
		text: words(fdText, modeText), answer: okAnswer,
	},
	CallFchown: {
		name: "fchown", group: ByFD, uses: onFD | OperandOff | OperandLen, failing: failsByFD,
		do:   func(m *Machine, c *request) { c.fails(m.setOwner(c.p, c.d.inode, c.op.Off, c.op.Len)) },
		text: words(fdText, ownerText), answer: okAnswer,
	},
	CallFsync: {
		name: "fsync", group: ByFD, uses: onFD | OperandFlags, failing: failsToWrite, do: (*Machine).fsyncs,
		text: words(fdText, syncText), answer: okAnswer,
	},
	CallReaddir: {
		name: "readdir", group: ByFD, uses: onFD | OperandFlags, failing: failsByFD,
		do:   func(m *Machine, c *request) { m.readdir(c.p, c.d, c.op.Flags, c.r) },
		text: fdText, answer: namesAnswer,
	},
	CallFlock: {
		name: "flock", group: ByFD, uses: onFD | OperandFlags, first: validFlock, failing: failsToLock,
		do:   (*Machine).flock,
		text: words(fdText, flockText), answer: okAnswer,
		mayBlock: func(o *Op) bool { return o.Flags&(LOCK_NB|LOCK_UN) == 0 }, contends: held,
	},
	CallSetlk: {
		name: "fcntl-setlk", group: ByFD, uses: onRange | OperandWait, failing: failsToLock,
		do:   func(m *Machine, c *request) { m.setlk(c.p, c.t, c.d, c.op, c.r) },
		text: words(fdText, lockTypeText, rangeText), answer: okAnswer,
		showsPid: true, mayBlock: waits, contends: held,
	},
	CallGetlk: {
		name: "fcntl-getlk", group: ByFD, uses: onRange,
		do:   func(m *Machine, c *request) { m.getlk(c.p, c.d, c.op, c.r) },
		text: words(fdText, lockTypeText, rangeText), answer: lockAnswer, showsPid: true,
	},
	CallOFDSetlk: {
		name: "ofd-setlk", group: ByFD, uses: onRange | OperandWait, failing: failsToLock,
		do:   func(m *Machine, c *request) { m.setlk(c.p, c.t, c.d, c.op, c.r) },
		text: words(fdText, lockTypeText, rangeText), answer: okAnswer,
		mayBlock: waits, contends: held,
	},
	CallOFDGetlk: {
		name: "ofd-getlk", group: ByFD, uses: onRange,
		do:   func(m *Machine, c *request) { m.getlk(c.p, c.d, c.op, c.r) },
		text: words(fdText, lockTypeText, rangeText), answer: lockAnswer, showsPid: true,
	},
	CallListen: {
		name: "listen", group: ByFD, uses: onFD | OperandLen, do: (*Machine).listen,
		text: words(fdText, lenText), answer: okAnswer,
	},
	CallLinkFD: {
		name: "linkat", group: ByFD, uses: onFD | OperandPath2, takes: places, first: validPath2, failing: failsToMake,
		do:   func(m *Machine, c *request) { c.fails(m.linkFD(c.p, c.d, c.op.Path2)) },
		text: words(fdText, path2Text), answer: okAnswer, contends: exists,
	},

	CallKill: {
		name: "kill", group: Processes, uses: OperandPid | OperandFlags,
		do:   func(m *Machine, c *request) { m.kill(c.p, c.op.Pid, c.op.Flags, c.r) },
		text: words(pidText, signalText), answer: killAnswer, showsPid: true,
	},
	CallStartTime: {
		name: "starttime", group: Processes, uses: OperandPid,
		do:   func(m *Machine, c *request) { m.startTime(c.p, c.op.Pid, c.r) },
		text: pidText, answer: numberAnswer, showsPid: true,
	},
	CallProcs: {
		name: "procs", group: Processes,
		do:   func(m *Machine, c *request) { m.pids(c.p, c.r) },
		text: noText, answer: namesAnswer, showsPid: true,
	},
	CallExit: {
		name: "exit", group: Processes,
		do:   func(m *Machine, c *request) { m.KillProc(c.p.pid) },
		text: noText, answer: noAnswer,
	},
	CallFork: {
		name: "fork", group: Processes, do: (*Machine).forkNext,
		text: noText, answer: numberAnswer, showsPid: true,
	},
	CallForkAs: {
		name: "fork-as", group: Processes, uses: OperandPid,
		do:   func(m *Machine, c *request) { m.forkAs(c.p, c.op.Pid, c.r) },
		text: noText, answer: numberAnswer, showsPid: true,
	},
	CallEnd: {
		name: "end", group: Processes, uses: OperandFlags | OperandData,
		do:   func(m *Machine, c *request) { m.end(c.p, c.op) },
		text: endText, answer: noAnswer,
	},
	CallExec: {
		name: "exec", group: Processes,
		do:   func(m *Machine, c *request) { m.exec(c.t) },
		text: noText, answer: okAnswer,
	},
	CallGetcwd: {
		name: "getcwd", group: Processes,
		do:   func(m *Machine, c *request) { m.getcwd(c.p, c.r) },
		text: noText, answer: dataAnswer,
	},
	CallNow: {
		name: "now", group: Processes,
		do:   func(m *Machine, c *request) { c.r.N = m.clock + c.p.skew },
		text: noText, answer: timeAnswer,
	},
	CallSleep: {
		name: "sleep", group: Processes, uses: OperandTime, do: nothing,
		text: durationText, answer: noAnswer,
	},
	CallWork: {
		name: "work", group: Processes, do: nothing,
		text: noText, answer: noAnswer,
	},

	CallChoose: {
		name: "go on with", group: Processes, uses: OperandOff | OperandLen | OperandData,
		do:   func(m *Machine, c *request) { m.choose(c.op, c.r) },
		text: chosenText, answer: noAnswer,
	},

	CallCellLoad: {
		name: "load", group: Memory, uses: OperandCell,
		do:   func(m *Machine, c *request) { c.r.Value = c.p.cell(c.op.Cell) },
		text: cellText, answer: valueAnswer,
	},
	CallCellStore: {
		name: "store", group: Memory, uses: OperandCell | OperandValue,
		do:   func(m *Machine, c *request) { m.storeCell(c.p, c.op.Cell, c.op.Value) },
		text: words(cellText, storedText), answer: noAnswer,
	},
	CallCellWait: {
		name: "wait", group: Memory, uses: OperandCell | OperandValue,
		do:   func(m *Machine, c *request) { *c.r = m.waitCell(c.p, c.t, c.op) },
		text: words(cellText, awaitedText), answer: noAnswer,
		mayBlock: func(*Op) bool { return true },
	},
	CallStart: {
		name: "start", group: Memory, uses: OperandLen,
		do:   func(m *Machine, _ *request) { m.version++ }, // it is seen, by whoever is started
		text: func(o *Op) string { return "task " + strconv.FormatInt(o.Len, 10) }, answer: noAnswer,
	},
	CallCellCAS: {
		name: "compare-and-swap", group: Memory, uses: OperandCell | OperandValue,
		do:   func(m *Machine, c *request) { m.swapCell(c.p, c.op, c.r) },
		text: words(cellText, swapText), answer: swapAnswer, contends: notSwapped,
	},
}

// What the kernel answers before it looks at the descriptor.

func validOffset(o *Op) (syscall.Errno, bool) { return EINVAL, o.Off < 0 }
func validLength(o *Op) (syscall.Errno, bool) { return EINVAL, o.Len < 0 }
func validFlock(o *Op) (syscall.Errno, bool)  { return EINVAL, flockMode(o.Flags) < 0 }
func validPath2(o *Op) (syscall.Errno, bool)  { return EINVAL, hasNUL(o.Path2) }
func noTimes(o *Op) (syscall.Errno, bool)     { return 0, o.Time == UTIME_OMIT && o.Time2 == UTIME_OMIT }

// What it means that a call has met somebody else's lock.

func exists(r *Result) bool     { return r.Errno == EEXIST }
func held(r *Result) bool       { return r.Errno == EAGAIN || r.Errno == EACCES }
func notSwapped(r *Result) bool { return r.OK() && r.N == 0 }
func notDir(r *Result) bool     { return r.Errno == 0 && !r.Stat.Mode.IsDir() }

func waits(o *Op) bool { return o.Wait }

// nothing is what a call does that is but a step.
func nothing(*Machine, *request) {}
