package fsfake_test

import (
	"fmt"
	"strings"
	"testing"

	"lockpick/fsfake"
)

// A tried call is what the tests know of a call: how it is written in a script, how it is
// drawn for the comparison with the kernel, what its manual page says that can go wrong,
// and what its answer holds.
type tried struct {
	// words are the call's operands as they are written after its name, in the order of the
	// manual page; see vocabulary.
	words string
	// weight is how often it is drawn; instead, life is how often of sixty lines when
	// processes come and go.
	weight, life int
	// draw draws all operands at once, where they depend on each other.
	draw func(*drawer) fsfake.Op
	// answer is what a success holds.
	answer answerKind
	// manual lists the errnos of the manual page; "none" when it has none.
	manual string
	// example is a sequence that shows the call succeed, when no file in testdata/kernel has
	// one.
	example string
	// not says why the call is not compared with the kernel, and so not drawn.
	not string
}

// An answerKind is which part of a Result a success fills in.
type answerKind uint8

const (
	holdsNothing answerKind = iota
	holdsNumber             // N
	holdsData               // Data, and N its length
	holdsNames              // Data, separated by NUL, and N how many
	holdsStat               // Stat
	holdsLock               // Lock
	holdsValue              // Value
)

// callTable has a row for every call.
var callTable = [...]tried{
	fsfake.CallOpen: {
		words: "path open mode", weight: 20, draw: (*drawer).open, answer: holdsNumber,
		manual: "EACCES EBADF EBUSY EDQUOT EEXIST EFAULT EFBIG EINTR EINVAL EISDIR ELOOP EMFILE ENAMETOOLONG ENFILE ENODEV ENOENT ENOMEM ENOSPC ENOTDIR ENXIO EOPNOTSUPP EOVERFLOW EPERM EROFS ETXTBSY EWOULDBLOCK",
	},
	fsfake.CallStat: {
		words: "path look", weight: 3, answer: holdsStat,
		manual: "EACCES EBADF EFAULT EINVAL ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EOVERFLOW",
	},
	fsfake.CallLstat: {
		words: "path look", weight: 2, answer: holdsStat,
		manual: "EACCES EBADF EFAULT EINVAL ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EOVERFLOW",
	},
	fsfake.CallUnlink: {
		words: "path", weight: 7,
		manual: "EACCES EBADF EBUSY EFAULT EINVAL EIO EISDIR ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EPERM EROFS",
	},
	fsfake.CallRename: {
		words: "path to rename", weight: 12,
		manual: "EACCES EBADF EBUSY EDQUOT EEXIST EFAULT EINVAL EIO EISDIR ELOOP EMLINK ENAMETOOLONG ENOENT ENOMEM ENOSPC ENOTDIR ENOTEMPTY EPERM EROFS EXDEV",
	},
	fsfake.CallLink: {
		words: "path name follow", weight: 5,
		manual: "EACCES EBADF EDQUOT EEXIST EFAULT EINVAL EIO ELOOP EMLINK ENAMETOOLONG ENOENT ENOMEM ENOSPC ENOTDIR EPERM EROFS EXDEV",
	},
	fsfake.CallSymlink: {
		words: "target new", weight: 4,
		manual: "EACCES EBADF EDQUOT EEXIST EFAULT EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOSPC ENOTDIR EPERM EROFS",
	},
	fsfake.CallReadlink: {
		words: "path", weight: 2, answer: holdsData,
		manual: "EACCES EBADF EFAULT EINVAL EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR",
	},
	fsfake.CallMkdir: {
		words: "new mode", weight: 6,
		manual: "EACCES EBADF EDQUOT EEXIST EFAULT EINVAL ELOOP EMLINK ENAMETOOLONG ENOENT ENOMEM ENOSPC ENOTDIR EPERM EROFS",
	},
	fsfake.CallRmdir: {
		words: "path", weight: 4,
		manual: "EACCES EBUSY EFAULT EINVAL ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR ENOTEMPTY EPERM EROFS",
	},
	fsfake.CallMknod: {
		words: "new node mode", weight: 3,
		manual: "EACCES EBADF EDQUOT EEXIST EFAULT EINVAL ELOOP ENAMETOOLONG ENOENT ENOMEM ENOSPC ENOTDIR EPERM EROFS",
	},
	fsfake.CallBind: {
		words: "new mode said", weight: 3, answer: holdsNumber,
		manual: "EACCES EADDRINUSE EADDRNOTAVAIL EBADF EFAULT EINVAL ELOOP EMFILE ENAMETOOLONG " +
			"ENOENT ENOMEM ENOTDIR ENOTSOCK EROFS",
	},
	fsfake.CallConnect: {
		words: "path", weight: 3,
		manual: "EACCES ECONNREFUSED EFAULT ELOOP ENAMETOOLONG ENOENT ENOTDIR EPROTOTYPE EWOULDBLOCK",
	},
	fsfake.CallListen: {
		words: "fd count", weight: 3, manual: "EADDRINUSE EBADF ENOTSOCK EOPNOTSUPP",
	},
	fsfake.CallTruncate: {
		words: "path size", weight: 2,
		manual: "EACCES EFAULT EFBIG EINTR EINVAL EIO EISDIR ELOOP ENAMETOOLONG ENOENT ENOTDIR EPERM EROFS ETXTBSY",
	},
	fsfake.CallUtimes: {
		words: "path atime mtime", weight: 2,
		manual: "EACCES EBADF EFAULT EINVAL ELOOP ENAMETOOLONG ENOENT ENOTDIR EPERM EROFS ESRCH",
	},
	fsfake.CallLutimes: {
		words: "path atime mtime", weight: 1,
		manual: "EACCES EBADF EFAULT EINVAL ELOOP ENAMETOOLONG ENOENT ENOTDIR EPERM EROFS ESRCH",
	},
	fsfake.CallChmod: {
		words: "path mode", weight: 3,
		manual: "EACCES EBADF EFAULT EINVAL EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EPERM EROFS",
	},
	fsfake.CallChown: {
		words: "path uid gid", weight: 2,
		manual: "EACCES EBADF EFAULT EINVAL EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EPERM EROFS",
	},
	fsfake.CallLchown: {
		words: "path uid gid", weight: 1,
		manual: "EACCES EBADF EFAULT EINVAL EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR EPERM EROFS",
	},
	fsfake.CallChdir: {
		words: "path", weight: 3,
		manual: "EACCES EBADF EFAULT EIO ELOOP ENAMETOOLONG ENOENT ENOMEM ENOTDIR",
	},

	fsfake.CallRead: {
		words: "fd count", weight: 3, answer: holdsData,
		manual: "EBADF EFAULT EINTR EINVAL EIO EISDIR EWOULDBLOCK",
	},
	fsfake.CallPread: {
		words: "fd count at shares", weight: 1, answer: holdsData,
		manual: "EBADF EFAULT EINTR EINVAL EIO EISDIR ENXIO EOVERFLOW ESPIPE EWOULDBLOCK",
	},
	fsfake.CallOpenFIFO: {words: "fd wait", not: "a FIFO takes two processes, whose calls TestKernelFIFO compares"},
	fsfake.CallTake: {
		words: "fd count wait", answer: holdsData,
		not: "a FIFO takes two processes, whose calls TestKernelFIFO compares",
	},
	fsfake.CallWrite: {
		words: "fd data", weight: 5, answer: holdsNumber,
		manual: "EBADF EDESTADDRREQ EDQUOT EFAULT EFBIG EINTR EINVAL EIO ENOSPC EPERM EPIPE EWOULDBLOCK",
	},
	fsfake.CallPwrite: {
		words: "fd data at", weight: 2, answer: holdsNumber,
		manual: "EBADF EDESTADDRREQ EDQUOT EFAULT EFBIG EINTR EINVAL EIO ENOSPC ENXIO EOVERFLOW EPERM EPIPE ESPIPE EWOULDBLOCK",
	},
	fsfake.CallLseek: {
		words: "fd by whence", weight: 3, answer: holdsNumber,
		manual: "EBADF EINVAL ENXIO EOVERFLOW ESPIPE",
	},
	fsfake.CallClose: {words: "fd", weight: 8, manual: "EBADF EDQUOT EINTR EIO ENOSPC"},
	fsfake.CallDup: {
		words: "fd lowest cloexec", weight: 4, answer: holdsNumber,
		manual: "EBADF EINVAL EMFILE ENOMEM",
	},
	fsfake.CallDup2: {
		words: "fd newfd", weight: 3, answer: holdsNumber, manual: "EBADF EBUSY EINTR EMFILE ENOMEM",
	},
	fsfake.CallDup3: {
		words: "fd newfd cloexec", weight: 2, answer: holdsNumber, manual: "EBADF EBUSY EINTR EINVAL EMFILE ENOMEM",
	},
	fsfake.CallGetfd: {words: "fd", weight: 1, answer: holdsNumber, manual: "EBADF"},
	fsfake.CallSetfd: {words: "fd fdflags", weight: 1, manual: "EBADF"},
	fsfake.CallGetfl: {words: "fd", weight: 1, answer: holdsNumber, manual: "EBADF"},
	fsfake.CallSetfl: {words: "fd status", weight: 2, manual: "EBADF EINVAL EPERM EWOULDBLOCK"},
	fsfake.CallFstat: {words: "fd look", weight: 3, answer: holdsStat, manual: "EBADF EFAULT ENOMEM EOVERFLOW"},
	fsfake.CallFtruncate: {
		words: "fd size at-least", weight: 2,
		manual: "EBADF EFBIG EINTR EINVAL EIO EPERM EROFS ETXTBSY",
	},
	fsfake.CallFutimes: {words: "fd atime mtime", weight: 1, manual: "EACCES EBADF EFAULT EINVAL EPERM EROFS"},
	fsfake.CallFchmod:  {words: "fd mode", weight: 2, manual: "EBADF EIO EPERM EROFS"},
	fsfake.CallFchown:  {words: "fd uid gid", weight: 1, manual: "EBADF EIO EPERM EROFS"},
	fsfake.CallFsync:   {words: "fd sync", weight: 1, manual: "EBADF EDQUOT EINTR EINVAL EIO ENOSPC EROFS"},
	fsfake.CallReaddir: {words: "fd look", weight: 2, answer: holdsNames, manual: "EBADF EFAULT EINVAL ENOENT ENOTDIR"},
	fsfake.CallFlock:   {words: "fd flock", weight: 14, manual: "EBADF EINTR EINVAL ENOLCK EWOULDBLOCK"},
	fsfake.CallSetlk: {
		words: "fd type start range wait", weight: 14,
		manual: "EBADF EDEADLK EFAULT EINTR EINVAL ENOLCK EOVERFLOW EWOULDBLOCK",
	},
	fsfake.CallGetlk: {
		words: "fd type start range", weight: 3, answer: holdsLock,
		manual: "EBADF EFAULT EINVAL EOVERFLOW",
	},
	fsfake.CallOFDSetlk: {
		words: "fd type start range wait", weight: 9,
		manual: "EBADF EDEADLK EFAULT EINTR EINVAL ENOLCK EOVERFLOW EWOULDBLOCK",
	},
	fsfake.CallOFDGetlk: {
		words: "fd type start range", weight: 2, answer: holdsLock,
		manual: "EBADF EFAULT EINVAL EOVERFLOW",
	},
	fsfake.CallLinkFD: {
		words: "fd name", weight: 2,
		manual: "EACCES EBADF EDQUOT EEXIST EFAULT EINVAL EIO ELOOP EMLINK ENAMETOOLONG ENOENT ENOMEM ENOSPC ENOTDIR EPERM EROFS EXDEV",
	},

	fsfake.CallKill: {words: "pid signal", weight: 1, manual: "EINVAL EPERM ESRCH"},
	fsfake.CallFork: {life: 3, answer: holdsNumber, manual: "ENOMEM ENOSYS EWOULDBLOCK"},
	fsfake.CallExec: {
		life:   1,
		manual: "E2BIG EACCES EFAULT EINVAL EIO EISDIR ELIBBAD ELOOP EMFILE ENAMETOOLONG ENFILE ENOENT ENOEXEC ENOMEM ENOTDIR EPERM ETXTBSY EWOULDBLOCK",
	},
	fsfake.CallExit: {life: 1, manual: "none"},

	fsfake.CallForkAs: {words: "pid", answer: holdsNumber, not: "the kernel chooses pids itself"},
	fsfake.CallEnd:    {words: "ending data", not: "it is exit, and a note that no program sees"},

	fsfake.CallStartTime: {words: "pid", answer: holdsNumber, not: "real processes started when the test did"},
	fsfake.CallProcs:     {answer: holdsNames, not: "the real machine has other processes"},
	fsfake.CallGetcwd:    {weight: 2, answer: holdsData, manual: "EACCES EFAULT EINVAL ENAMETOOLONG ENOENT ENOMEM ERANGE"},

	fsfake.CallNow:       {answer: holdsNumber, not: "the virtual clock is the fake's"},
	fsfake.CallSleep:     {words: "atime", not: "time passes on the virtual clock only"},
	fsfake.CallWork:      {not: "it is no system call"},
	fsfake.CallChoose:    {words: "at size data", answer: holdsNumber, not: "it is no system call"},
	fsfake.CallCellLoad:  {words: "cell", answer: holdsValue, not: "cells are the memory of the program"},
	fsfake.CallCellStore: {words: "cell value", not: "cells are the memory of the program"},
	fsfake.CallCellWait:  {words: "cell value", not: "cells are the memory of the program"},
	fsfake.CallStart:     {words: "size", not: "it is no system call"},
	fsfake.CallCellCAS:   {words: "cell swap", answer: holdsNumber, not: "cells are the memory of the program"},
}

// row returns what the tests know of a call.
func rowOf(c fsfake.Call) *tried {
	if int(c) < len(callTable) {
		return &callTable[c]
	}
	return &tried{}
}

// TestEveryCallIsTried: what is missing is named.
func TestEveryCallIsTried(t *testing.T) {
	for _, c := range fsfake.Calls() {
		r := rowOf(c)
		lacks := func(format string, args ...any) {
			t.Errorf("the row of %s in fsfake/calltable_test.go lacks "+format, append([]any{c}, args...)...)
		}
		var covered fsfake.Operand
		for _, w := range strings.Fields(r.words) {
			v, ok := vocabulary[w]
			if !ok {
				lacks("a known word in place of %q", w)
			}
			covered |= v.operand
			if r.not == "" && r.draw == nil && v.draw == nil {
				lacks("a word in place of %q that can be drawn", w)
			}
		}
		for i := range 16 {
			o := fsfake.Operand(1) << i
			if c.Uses(o) && covered&o == 0 {
				lacks("a word for the operand %s", o)
			}
			if !c.Uses(o) && covered&o != 0 {
				t.Errorf("the row of %s in fsfake/calltable_test.go has a word for %s, which the call does not use", c, o)
			}
		}
		if r.not != "" {
			continue
		}
		if r.weight+r.life == 0 {
			lacks("weight (how often it is drawn to compare it with the kernel) or not (why it is not)")
		}
		if r.manual == "" {
			lacks("manual (the errnos of its manual page)")
		}
	}
}

// A word is an operand as it is written and drawn.
type word struct {
	operand  fsfake.Operand
	text     func(*fsfake.Op) string // empty: left out
	parse    func(*fsfake.Op, string) error
	draw     func(*drawer, int, *fsfake.Op) // of the process given; nil for what is not drawn
	optional bool                           // it may be missing at the end
}

// vocabulary has the words of callTable.
var vocabulary = map[string]word{
	"path":   pathWord(func(d *drawer) string { return d.path(true) }),
	"new":    pathWord(func(d *drawer) string { return d.path(false) }),
	"to":     path2Word(func(d *drawer) string { return d.path(d.n(3) == 0) }),
	"name":   path2Word(func(d *drawer) string { return d.path(false) }),
	"target": path2Word(func(d *drawer) string { return pick(d, targets...) }),
	"data": {
		operand: fsfake.OperandData,
		text:    func(o *fsfake.Op) string { return quote(o.Data) },
		parse:   func(o *fsfake.Op, w string) error { o.Data = unquote(w); return nil },
		draw: func(d *drawer, _ int, o *fsfake.Op) {
			o.Data = pick(d, "x", "hello", "ab", "0123456789", "")
		},
	},
	"said": { // getpeername(2) of the kernel would tell a name of the test's own directory
		operand: fsfake.OperandData, optional: true,
		text:  func(*fsfake.Op) string { return "" },
		parse: func(*fsfake.Op, string) error { return nil },
		draw:  func(*drawer, int, *fsfake.Op) {},
	},
	"open":   bitsWord(openBits, nil),
	"rename": bitsWord(renameBits, []int{0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 2, 2, 2, 3, 8}),
	"node": bitsWord([]bit{
		{"plain", 0}, {"sock", fsfake.S_IFSOCK}, {"reg", fsfake.S_IFREG}, {"dir", fsfake.S_IFDIR},
		{"fifo", fsfake.S_IFIFO}, {"odd", 0o030000},
	}, []int{
		fsfake.S_IFIFO, fsfake.S_IFIFO, fsfake.S_IFIFO, fsfake.S_IFSOCK, fsfake.S_IFREG, 0, fsfake.S_IFDIR, 0o030000,
	}),
	"follow": optional(bitsWord([]bit{{"follow", fsfake.AT_SYMLINK_FOLLOW}}, []int{0, 0, fsfake.AT_SYMLINK_FOLLOW})),
	"flock":  bitsWord(flockBits, flockDraws),
	"type":   valuesWord(lockTypes, []int{0, 1, 1, 1, 2}, []int{3, 7, -1}, 60),
	"whence": valuesWord([]string{"set", "cur", "end", "data", "hole"}, []int{0, 0, 1, 1, 2, 2, 3, 4}, []int{7, -1}, 40),
	"mode": {
		operand: fsfake.OperandMode,
		text:    func(o *fsfake.Op) string { return fmt.Sprintf("%#o", o.Mode) },
		parse:   func(o *fsfake.Op, w string) (err error) { o.Mode, err = parseMode(w); return err },
		draw:    func(d *drawer, _ int, o *fsfake.Op) { o.Mode = d.mode() },
	},
	"fd": {
		operand: fsfake.OperandFD,
		text:    func(o *fsfake.Op) string { return fmt.Sprint(o.FD) },
		parse:   func(o *fsfake.Op, w string) error { return parseInt(&o.FD, w) },
		draw:    func(d *drawer, pid int, o *fsfake.Op) { o.FD = d.fd(pid) },
	},
	"ending": {
		operand: fsfake.OperandFlags,
		text:    func(o *fsfake.Op) string { return fmt.Sprint(o.Flags) },
		parse:   func(o *fsfake.Op, w string) error { return parseInt(&o.Flags, w) },
	},
	"newfd": {
		operand: fsfake.OperandFD2,
		text:    func(o *fsfake.Op) string { return fmt.Sprint(o.FD2) },
		parse:   func(o *fsfake.Op, w string) error { return parseInt(&o.FD2, w) },
		draw: func(d *drawer, pid int, o *fsfake.Op) {
			o.FD2 = pick(d, 0, 1, 2, 3, 4, 5, 6, 7, 12)
			if d.n(20) == 0 {
				o.FD2 = pick(d, -1, o.FD, 1024, 5000)
			}
		},
	},
	"lowest": {
		operand: fsfake.OperandFD2, optional: true,
		text: func(o *fsfake.Op) string {
			if o.FD2 == 0 && o.Flags == 0 {
				return ""
			}
			return fmt.Sprint(o.FD2)
		},
		parse: func(o *fsfake.Op, w string) error { return parseInt(&o.FD2, w) },
		draw: func(d *drawer, _ int, o *fsfake.Op) {
			if d.n(3) == 0 {
				o.FD2 = pick(d, 0, 3, 4, 7, 10, 10, -1, 1024)
			}
		},
	},
	"cloexec": optional(bitsWord([]bit{{"cloexec", fsfake.O_CLOEXEC}}, []int{0, 0, fsfake.O_CLOEXEC})),
	"fdflags": bitsWord([]bit{{"cloexec", fsfake.FD_CLOEXEC}}, []int{0, 1, 1, 2, 3}),
	"sync":    optional(bitsWord([]bit{{"data", fsfake.SyncData}}, []int{0, 0, fsfake.SyncData})),
	"status": bitsWord(openBits, []int{
		0, fsfake.O_APPEND, fsfake.O_APPEND, fsfake.O_NONBLOCK, fsfake.O_APPEND | fsfake.O_NONBLOCK, fsfake.O_NOATIME,
		fsfake.O_RDWR | fsfake.O_TRUNC, fsfake.O_SYNC, fsfake.O_PATH | fsfake.O_APPEND,
	}),
	"pid": {
		operand: fsfake.OperandPid,
		text:    func(o *fsfake.Op) string { return fmt.Sprint(o.Pid) },
		parse: func(o *fsfake.Op, w string) error {
			if len(w) == 1 && w[0] >= 'A' && w[0] <= 'Z' {
				o.Pid = firstPid + int(w[0]-'A')
				return nil
			}
			return parseInt(&o.Pid, w)
		},
		draw: func(d *drawer, _ int, o *fsfake.Op) {
			o.Pid = pick(d, firstPid, firstPid+1, firstPid+2, firstPid+3, 1, 4000)
		},
	},
	"wait": {
		operand: fsfake.OperandWait, optional: true,
		text: func(o *fsfake.Op) string {
			if o.Wait {
				return "wait"
			}
			return ""
		},
		parse: func(o *fsfake.Op, w string) error { o.Wait = w == "wait"; return nil },
		draw:  func(d *drawer, _ int, o *fsfake.Op) { o.Wait = d.n(2) == 0 },
	},
	"at-least": {
		operand: fsfake.OperandFlags, optional: true,
		text:  func(o *fsfake.Op) string { return strings.Repeat("at-least", o.Flags&fsfake.AtLeast) },
		parse: func(o *fsfake.Op, w string) error { o.Flags = len(w) / len("at-least"); return nil },
		draw: func(d *drawer, _ int, o *fsfake.Op) {
			if o.Len > 0 && d.n(2) == 0 {
				o.Flags = fsfake.AtLeast
			}
		},
	},
	"shares": { // the kernel's is a read
		operand: fsfake.OperandFlags, optional: true,
		text:  func(o *fsfake.Op) string { return strings.Repeat("shares", o.Flags&fsfake.Shares) },
		parse: func(o *fsfake.Op, w string) error { o.Flags = len(w) / len("shares"); return nil },
		draw:  func(*drawer, int, *fsfake.Op) {},
	},
	"signal": { // a real one would end the process that compares
		operand: fsfake.OperandFlags, optional: true,
		text:  func(o *fsfake.Op) string { return strings.Repeat("term", o.Flags/15) },
		parse: func(o *fsfake.Op, w string) error { o.Flags = 15; return nil },
		draw:  func(*drawer, int, *fsfake.Op) {},
	},
	"look": { // the fake's own: the kernel tells everything
		operand: fsfake.OperandFlags, optional: true,
		text: func(o *fsfake.Op) string {
			if o.Flags == 0 {
				return ""
			}
			return fmt.Sprint(o.Flags)
		},
		parse: func(o *fsfake.Op, w string) error { return parseInt(&o.Flags, w) },
		draw:  func(*drawer, int, *fsfake.Op) {},
	},
	"cell": {
		operand: fsfake.OperandCell,
		text:    func(o *fsfake.Op) string { return o.Cell },
		parse:   func(o *fsfake.Op, w string) error { o.Cell = w; return nil },
	},
	"value": {
		operand: fsfake.OperandValue,
		text:    func(o *fsfake.Op) string { return fmt.Sprint(o.Value) },
		parse:   func(o *fsfake.Op, w string) error { o.Value = w; return nil },
	},
	"swap": {
		operand: fsfake.OperandValue,
		text:    func(o *fsfake.Op) string { return fmt.Sprint(o.Value.(fsfake.Swap).New) },
		parse:   func(o *fsfake.Op, w string) error { o.Value = fsfake.Swap{New: w}; return nil },
	},

	"uid":   offWord([]int64{-1, 0, 1000, 1001}, nil, 1),
	"gid":   lenWord([]int64{-1, 0, 1000, 1001}, nil, 1),
	"at":    offWord([]int64{0, 0, 1, 3, 5, 12, -1}, nil, 1),
	"by":    offWord([]int64{0, 1, 3, 10, -1, -3}, nil, 1),
	"start": offWord([]int64{0, 0, 0, 5, 10, 15, 20, 30}, []int64{-1, 1 << 62, 1<<63 - 1}, 40),
	"range": lenWord([]int64{0, 0, 1, 5, 10, 15, 20}, []int64{-1, -5, -10, -50, 1 << 62, 1<<63 - 1}, 20),
	"count": lenWord([]int64{0, 1, 3, 100}, nil, 1),
	"size":  lenWord([]int64{0, 0, 2, 5, 12, -1}, nil, 1),
	"atime": numberWord(fsfake.OperandTime, func(o *fsfake.Op) *int64 { return &o.Time }, someTimes, nil, 1),
	"mtime": numberWord(fsfake.OperandTime2, func(o *fsfake.Op) *int64 { return &o.Time2 }, someTimes, nil, 1),
}

var (
	targets   = []string{"a", "/a", "d", "/d", "s", "/s", "d/e", "../a", ".", "no", "/d/", "/tmp/a", "a/", "..", "t", "/t"}
	someTimes = []int64{0, 1e18, 1_000_000_001, 999_999_999_999_999_999, -5_000_000_000, fsfake.UTIME_OMIT,
		fsfake.UTIME_NOW}
	lockTypes = []string{"rdlck", "wrlck", "unlck"}

	openBits = []bit{
		{"r", fsfake.O_RDONLY},
		{"tmpfile", fsfake.O_TMPFILE}, {"rw", fsfake.O_RDWR}, {"w", fsfake.O_WRONLY}, {"creat", fsfake.O_CREAT},
		{"excl", fsfake.O_EXCL}, {"trunc", fsfake.O_TRUNC}, {"append", fsfake.O_APPEND}, {"nofollow", fsfake.O_NOFOLLOW},
		{"dir", fsfake.O_DIRECTORY}, {"cloexec", fsfake.O_CLOEXEC}, {"sync", fsfake.O_SYNC}, {"nonblock", fsfake.O_NONBLOCK},
		{"path", fsfake.O_PATH}, {"noatime", fsfake.O_NOATIME},
	}
	flockBits  = []bit{{"nb", fsfake.LOCK_NB}, {"un", fsfake.LOCK_UN}, {"ex", fsfake.LOCK_EX}, {"sh", fsfake.LOCK_SH}}
	renameBits = []bit{{"noreplace", fsfake.RENAME_NOREPLACE}, {"exchange", fsfake.RENAME_EXCHANGE}}
	// Every thirtieth is no valid operation.
	flockDraws = func() []int {
		var all []int
		for range 22 {
			all = append(all, 1, 2, 1|4, 2|4, 2|4, 8, 1, 2)
		}
		return append(all, 0, 3, 4, 8|4, 1|2|4, 16)
	}()
)
