//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Calls on files by descriptor. Those on real descriptors are made.

var byDescriptor = []spec{
	{unix.SYS_READ, "read", 3, func(t *thread, c *call) { t.read(whole, fsfake.Op{Call: fsfake.CallRead}) }},
	{unix.SYS_READV, "readv", 3, func(t *thread, c *call) { t.read(vector, fsfake.Op{Call: fsfake.CallRead}) }},
	{unix.SYS_PREAD64, "pread64", 4, func(t *thread, c *call) { t.read(whole, fsfake.Op{Call: fsfake.CallPread, Off: int64(c.args[3])}) }},
	{unix.SYS_PREADV, "preadv", 4, func(t *thread, c *call) { t.read(vector, fsfake.Op{Call: fsfake.CallPread, Off: int64(c.args[3])}) }},
	{unix.SYS_PREADV2, "preadv2", 6, func(t *thread, c *call) { t.read2() }},
	{unix.SYS_WRITE, "write", 3, func(t *thread, c *call) { t.write(whole, fsfake.Op{Call: fsfake.CallWrite}) }},
	{unix.SYS_WRITEV, "writev", 3, func(t *thread, c *call) { t.write(vector, fsfake.Op{Call: fsfake.CallWrite}) }},
	{unix.SYS_PWRITE64, "pwrite64", 4, func(t *thread, c *call) { t.write(whole, fsfake.Op{Call: fsfake.CallPwrite, Off: int64(c.args[3])}) }},
	{unix.SYS_PWRITEV, "pwritev", 4, func(t *thread, c *call) { t.write(vector, fsfake.Op{Call: fsfake.CallPwrite, Off: int64(c.args[3])}) }},
	{unix.SYS_PWRITEV2, "pwritev2", 6, func(t *thread, c *call) { t.write2() }},

	{unix.SYS_CLOSE, "close", 1, (*thread).close},
	{unix.SYS_CLOSE_RANGE, "close_range", 3, (*thread).closeRange},
	{unix.SYS_DUP, "dup", 1, func(t *thread, c *call) { t.dup(0) }},
	{unix.SYS_DUP2, "dup2", 2, func(t *thread, c *call) { t.dup2(0) }},
	{unix.SYS_DUP3, "dup3", 3, func(t *thread, c *call) { t.dup2(c.int(2)) }},
	{unix.SYS_FCNTL, "fcntl", 3, (*thread).fcntl},
	{unix.SYS_IOCTL, "ioctl", 3, (*thread).ioctl},

	{unix.SYS_FSTAT, "fstat", 2, func(t *thread, c *call) {
		if d := t.fake(0); d != nil {
			t.askStat(fsfake.Op{Call: fsfake.CallFstat, FD: d.fake}, 1)
		}
	}},
	{unix.SYS_LSEEK, "lseek", 3, (*thread).lseek},
	{unix.SYS_FTRUNCATE, "ftruncate", 2, func(t *thread, c *call) {
		t.onFake(func(d *descriptor) {
			t.askZero(fsfake.Op{Call: fsfake.CallFtruncate, FD: d.fake, Len: int64(c.args[1])})
		})
	}},
	{unix.SYS_FSYNC, "fsync", 1, syncFile},
	{unix.SYS_FDATASYNC, "fdatasync", 1, syncFile},
	{unix.SYS_SYNC_FILE_RANGE, "sync_file_range", 4, func(t *thread, c *call) { t.onFake(func(*descriptor) { t.result(0) }) }},
	{unix.SYS_SYNCFS, "syncfs", 1, syncFile},
	{unix.SYS_SYNC, "sync", 0, (*thread).passCall},
	{unix.SYS_FADVISE64, "fadvise64", 4, func(t *thread, c *call) { t.onFake(func(*descriptor) { t.result(0) }) }},
	{unix.SYS_READAHEAD, "readahead", 3, func(t *thread, c *call) { t.onFake(func(*descriptor) { t.result(0) }) }},
	{unix.SYS_GETDENTS64, "getdents64", 3, (*thread).getdents},
	{unix.SYS_GETDENTS, "getdents", 3, realOnly},
	{unix.SYS_FLOCK, "flock", 2, func(t *thread, c *call) {
		if d := t.p.fds[c.fd(0)]; d != nil && d.fake >= 0 {
			t.askZero(fsfake.Op{Call: fsfake.CallFlock, FD: d.fake, Flags: c.int(1)})
			return
		}
		t.passWaiting(nil)
	}},

	{unix.SYS_FCHMOD, "fchmod", 2, realOnly},
	{unix.SYS_FCHOWN, "fchown", 3, realOnly},
	{unix.SYS_FSTATFS, "fstatfs", 2, func(t *thread, c *call) { t.onFake(func(*descriptor) { t.put(c.args[1], fileSystem(), 0) }) }},
	{unix.SYS_FALLOCATE, "fallocate", 4, func(t *thread, c *call) {
		t.onFake(func(*descriptor) { t.fail(unix.EOPNOTSUPP) }) // programs write zeros instead
	}},
	{unix.SYS_FSETXATTR, "fsetxattr", 5, noAttributesOf},
	{unix.SYS_FGETXATTR, "fgetxattr", 4, noAttributesOf},
	{unix.SYS_FLISTXATTR, "flistxattr", 3, noAttributesOf},
	{unix.SYS_FREMOVEXATTR, "fremovexattr", 2, noAttributesOf},
	{unix.SYS_MMAP, "mmap", 6, (*thread).mmap},
	{unix.SYS_SENDFILE, "sendfile", 4, copyBetween(0, 1)},
	{unix.SYS_SPLICE, "splice", 6, noneFake(0, 2)},
	{unix.SYS_TEE, "tee", 4, noneFake(0, 1)},
	{unix.SYS_VMSPLICE, "vmsplice", 4, noneFake(0)},
	{unix.SYS_COPY_FILE_RANGE, "copy_file_range", 6, copyBetween(0, 2)},
	{unix.SYS_INOTIFY_RM_WATCH, "inotify_rm_watch", 2, realOnly},
	{unix.SYS_INOTIFY_ADD_WATCH, "inotify_add_watch", 3, notInside(1)},
	{unix.SYS_SIGNALFD4, "signalfd4", 4, realOnly},
	{unix.SYS_TIMERFD_CREATE, "timerfd_create", 2, fault("timers as descriptors are not handled")},
}

func syncFile(t *thread, c *call) {
	t.onFake(func(d *descriptor) { t.askZero(fsfake.Op{Call: fsfake.CallFsync, FD: d.fake}) })
}

func (t *thread) passCall(*call) { t.pass() }

func fault(why string) func(*thread, *call) {
	return func(t *thread, _ *call) { t.fault("%s", why) }
}

// fake returns the descriptor that argument i names, when it is of the fake; else the call is
// made.
func (t *thread) fake(i int) *descriptor {
	if d := t.p.fds[t.c.fd(i)]; d != nil && d.fake >= 0 {
		return d
	}
	t.pass()
	return nil
}

// onFake is fake for argument 0, with what is to be done.
func (t *thread) onFake(f func(*descriptor)) {
	if d := t.fake(0); d != nil {
		f(d)
	}
}

// realOnly is a call that is not handled on a descriptor of the fake.
func realOnly(t *thread, _ *call) {
	t.onFake(func(d *descriptor) { t.fault("on a file of the fake (%s) it is not modelled", d.path) })
}

func noAttributesOf(t *thread, _ *call) {
	t.onFake(func(*descriptor) { t.fail(unix.EOPNOTSUPP) })
}

// noneFake is a call with several descriptors, none of which may be of the fake.
func noneFake(which ...int) func(*thread, *call) {
	return func(t *thread, c *call) {
		for _, i := range which {
			if d := t.p.fds[c.fd(i)]; d != nil && d.fake >= 0 {
				t.fault("on a file of the fake (%s) it is not modelled", d.path)
				return
			}
		}
		t.passWaiting(nil)
	}
}

// copyBetween is a call that copies without the program's memory. With a file of the fake it is
// refused as by a file system that cannot do it: programs then read and write.
func copyBetween(which ...int) func(*thread, *call) {
	return func(t *thread, c *call) {
		for _, i := range which {
			if d := t.p.fds[c.fd(i)]; d != nil && d.fake >= 0 {
				t.fail(unix.EINVAL)
				return
			}
		}
		t.passWaiting(nil)
	}
}

// A kind is what a real descriptor is, as far as waiting goes.
type kind uint8

const (
	kindUnknown kind = iota
	kindPlain        // reading and writing do not wait: a file, a directory, /dev/null
	kindWaits
)

// waits reports whether reading or writing a real descriptor may wait for somebody.
func (p *process) waits(fd int) bool {
	d := p.fds[fd]
	if d == nil {
		d = &descriptor{fake: -1}
		p.fds[fd] = d
	}
	if d.kind == kindUnknown {
		d.kind = kindWaits
		if fi, err := os.Stat("/proc/" + strconv.Itoa(p.real) + "/fd/" + strconv.Itoa(fd)); err == nil {
			if s := fi.Sys().(*unixStat); fi.Mode().IsRegular() || fi.IsDir() || s.Rdev == unix.Mkdev(1, 3) || s.Rdev == unix.Mkdev(1, 5) {
				d.kind = kindPlain
			}
		}
	}
	return d.kind == kindWaits
}

// A shape is how the arguments of a call describe memory.
type shape bool

const (
	whole  shape = false // address and length
	vector shape = true  // an array of struct iovec and its length
)

type piece struct {
	addr uint64
	n    int
}

const maxTransfer = 32 << 20

// pieces returns the memory that arguments 1 and 2 describe.
func (t *thread) pieces(s shape) ([]piece, int, bool) {
	if s == whole {
		n := int(min(t.c.args[2], 0x7ffff000))
		return []piece{{t.c.args[1], n}}, n, true
	}
	count := t.c.int(2)
	if count < 0 || count > 1024 {
		t.fail(unix.EINVAL)
		return nil, 0, false
	}
	b, err := readFull(t.tid, t.c.args[1], 16*count)
	if err != nil {
		t.failErr(err)
		return nil, 0, false
	}
	var ps []piece
	total := 0
	for i := range count {
		p := piece{binary.LittleEndian.Uint64(b[16*i:]), int(binary.LittleEndian.Uint64(b[16*i+8:]))}
		if p.n < 0 || total+p.n < 0 {
			t.fail(unix.EINVAL)
			return nil, 0, false
		}
		ps = append(ps, p)
		total += p.n
	}
	return ps, total, true
}

func (t *thread) read(s shape, op fsfake.Op) {
	fd := t.c.fd(0)
	d := t.p.fds[fd]
	switch {
	case d != nil && d.random:
		t.readRandom(s)
	case d == nil || d.fake < 0:
		t.transferReal(fd)
	default:
		ps, n, ok := t.pieces(s)
		if !ok {
			return
		}
		op.FD, op.Len = d.fake, int64(n)
		t.askThen(op, func(r fsfake.Result) { t.scatter(ps, []byte(r.Data)) })
	}
}

// scatter writes data to pieces of memory and returns how much there was.
func (t *thread) scatter(ps []piece, data []byte) {
	if t.through {
		t.really(func(ret int64) { t.kernel.Data = t.gather(ps, int(ret)) })
		return
	}
	n := int64(len(data))
	for _, p := range ps {
		k := min(p.n, len(data))
		if k > 0 {
			if err := writeMem(t.tid, p.addr, data[:k]); err != nil {
				t.fail(unix.EFAULT)
				return
			}
		}
		data = data[k:]
	}
	t.result(n)
}

// gather reads n bytes from pieces of memory.
func (t *thread) gather(ps []piece, n int) string {
	var data strings.Builder
	for _, p := range ps {
		b, err := readFull(t.tid, p.addr, min(p.n, n-data.Len()))
		if err != nil {
			break
		}
		data.Write(b)
	}
	return data.String()
}

func (t *thread) readRandom(s shape) {
	ps, n, ok := t.pieces(s)
	if ok {
		t.scatter(ps, t.p.random(min(n, maxTransfer)))
	}
}

// transferReal makes a call that reads or writes a real descriptor.
func (t *thread) transferReal(fd int) {
	if t.p.waits(fd) {
		t.passWaiting(nil)
		return
	}
	t.pass()
}

func (t *thread) write(s shape, op fsfake.Op) {
	fd := t.c.fd(0)
	d := t.p.fds[fd]
	if d == nil || d.fake < 0 {
		t.transferReal(fd)
		return
	}
	ps, n, ok := t.pieces(s)
	if !ok {
		return
	}
	if n > maxTransfer {
		t.fault("a write of more than %d MiB is not modelled", maxTransfer>>20)
		return
	}
	var data strings.Builder
	for _, p := range ps {
		b, err := readFull(t.tid, p.addr, p.n)
		if err != nil {
			t.failErr(err)
			return
		}
		data.Write(b)
	}
	op.FD, op.Data = d.fake, data.String()
	t.askNumber(op)
}

func (t *thread) read2() {
	if op, ok := t.second(fsfake.CallRead, fsfake.CallPread); ok {
		t.read(vector, op)
	}
}

func (t *thread) write2() {
	if op, ok := t.second(fsfake.CallWrite, fsfake.CallPwrite); ok {
		t.write(vector, op)
	}
}

// second is the call that preadv2 or pwritev2 makes: with offset -1 that at the description's.
func (t *thread) second(plain, at fsfake.Call) (fsfake.Op, bool) {
	if d := t.p.fds[t.c.fd(0)]; d != nil && d.fake >= 0 && t.c.int(5) != 0 {
		t.fault("with flags it is not modelled")
		return fsfake.Op{}, false
	}
	if off := int64(t.c.args[3]); off != -1 {
		return fsfake.Op{Call: at, Off: off}, true
	}
	return fsfake.Op{Call: plain}, true
}

func (t *thread) close(c *call) {
	fd := c.fd(0)
	d := t.p.fds[fd]
	if d == nil || d.fake < 0 {
		delete(t.p.fds, fd)
		t.pass()
		return
	}
	t.askThen(fsfake.Op{Call: fsfake.CallClose, FD: d.fake}, func(fsfake.Result) {
		delete(t.p.fds, fd)
		t.pass()
	})
}

// closeRange closes descriptors of the fake one after the other, then all.
func (t *thread) closeRange(c *call) {
	first, last, flags := uint32(c.args[0]), uint32(c.args[1]), c.int(2)
	if flags != 0 {
		for fd, d := range t.p.fds { // order does not matter: it asks whether there is one
			if d.fake >= 0 && uint32(fd) >= first && uint32(fd) <= last {
				t.fault("with flags it is not modelled on descriptors of the fake")
				return
			}
		}
		t.pass()
		return
	}
	at := -1
	for fd, d := range t.p.fds { // order does not matter: it looks for the smallest
		switch {
		case uint32(fd) < first || uint32(fd) > last:
		case d.fake < 0:
			delete(t.p.fds, fd)
		case at < 0 || fd < at:
			at = fd
		}
	}
	if at < 0 {
		t.pass()
		return
	}
	t.ask(fsfake.Op{Call: fsfake.CallClose, FD: t.p.fds[at].fake}, func(fsfake.Result) {
		delete(t.p.fds, at)
		t.closeRange(c)
	})
}

// dup is dup(2) and F_DUPFD: the duplicate is one in the fake, too.
func (t *thread) dup(flags int) {
	d := t.p.fds[t.c.fd(0)]
	switch {
	case d == nil:
		t.pass()
	case d.fake < 0:
		t.passThen(func(ret int64) { t.p.copyFD(d, d.fake, int(ret)) })
	default:
		t.askThen(fsfake.Op{Call: fsfake.CallDup, FD: d.fake}, func(r fsfake.Result) {
			t.passThen(func(ret int64) {
				if ret < 0 {
					t.fault("there is no real descriptor for it: error %d", -ret)
					return
				}
				t.p.copyFD(d, int(r.N), int(ret))
			})
		})
	}
}

func (p *process) copyFD(d *descriptor, fake, fd int) {
	if fd >= 0 {
		copied := *d
		copied.fake, copied.cloexec = fake, false
		p.fds[fd] = &copied
	}
}

// dup2 is dup2 and dup3.
func (t *thread) dup2(flags int) {
	oldFD, newFD := t.c.fd(0), t.c.fd(1)
	d, n := t.p.fds[oldFD], t.p.fds[newFD]
	fake := d != nil && d.fake >= 0
	switch {
	case oldFD == newFD || newFD < 0:
		t.pass()
	case n != nil && n.fake >= 0:
		t.ask(fsfake.Op{Call: fsfake.CallClose, FD: n.fake}, func(fsfake.Result) {
			delete(t.p.fds, newFD)
			t.dup2(flags)
		})
	case fake:
		t.askThen(fsfake.Op{Call: fsfake.CallDup, FD: d.fake}, func(r fsfake.Result) {
			t.passThen(func(ret int64) {
				if ret < 0 {
					t.fault("there is no real descriptor for it: error %d", -ret)
					return
				}
				t.p.copyFD(d, int(r.N), newFD)
			})
		})
	default:
		t.passThen(func(ret int64) {
			if ret >= 0 {
				delete(t.p.fds, newFD)
				if d != nil {
					t.p.copyFD(d, d.fake, newFD)
				}
			}
		})
	}
}

// Requests of fcntl(2) and ioctl(2) that package unix has no names for.
const (
	fGetRWHint = 1035
	fioNRead   = 0x541b
	fioNBIO    = 0x5421
	fioNClEx   = 0x5450
	fioClEx    = 0x5451
)

func (t *thread) fcntl(c *call) {
	d := t.p.fds[c.fd(0)]
	fake := d != nil && d.fake >= 0
	switch cmd := c.int(1); cmd {
	case unix.F_DUPFD, unix.F_DUPFD_CLOEXEC:
		t.dup(cmd)
	case unix.F_GETFD:
		t.pass()
	case unix.F_SETFD:
		if fake && d.cloexec && c.int(2)&unix.FD_CLOEXEC == 0 {
			t.fault("clearing FD_CLOEXEC of a file of the fake (%s) is not modelled yet", d.path)
			return
		}
		t.pass()
	case unix.F_GETFL:
		if !fake {
			t.pass()
			return
		}
		t.result(int64(d.flags&^(unix.O_CREAT|unix.O_EXCL|unix.O_TRUNC|unix.O_NOCTTY|unix.O_CLOEXEC) | 0x8000))
	case unix.F_SETFL:
		const changes = unix.O_APPEND | unix.O_DIRECT | unix.O_NOATIME
		if fake && c.int(2)&changes != d.flags&changes {
			t.fault("changing O_APPEND, O_DIRECT or O_NOATIME is not modelled yet")
			return
		}
		if fake {
			d.flags = d.flags&^unix.O_NONBLOCK | c.int(2)&unix.O_NONBLOCK
			t.result(0)
			return
		}
		t.pass()
	case unix.F_GETLK, unix.F_SETLK, unix.F_SETLKW, unix.F_OFD_GETLK, unix.F_OFD_SETLK, unix.F_OFD_SETLKW:
		if !fake {
			t.passWaiting(nil)
			return
		}
		t.recordLock(d, cmd)
	case fGetRWHint, unix.F_ADD_SEALS, unix.F_GET_SEALS:
		if fake {
			t.fail(unix.EINVAL)
			return
		}
		t.pass()
	default:
		if fake {
			t.fault("on a file of the fake (%s) it is not modelled", d.path)
			return
		}
		t.pass()
	}
}

// recordLock is the lock calls of fcntl(2). Ranges from the offset or the end are made
// absolute first, as the kernel does.
func (t *thread) recordLock(d *descriptor, cmd int) {
	b, err := readFull(t.tid, t.c.args[2], 32)
	if err != nil {
		t.failErr(err)
		return
	}
	le := binary.LittleEndian
	typ, whence := int(int16(le.Uint16(b))), int(int16(le.Uint16(b[2:])))
	op := fsfake.Op{
		FD: d.fake, Flags: typ, Off: int64(le.Uint64(b[8:])), Len: int64(le.Uint64(b[16:])),
		Wait: cmd == unix.F_SETLKW || cmd == unix.F_OFD_SETLKW,
	}
	ofd := cmd == unix.F_OFD_GETLK || cmd == unix.F_OFD_SETLK || cmd == unix.F_OFD_SETLKW
	if ofd && le.Uint32(b[24:]) != 0 {
		t.fail(unix.EINVAL)
		return
	}
	switch cmd {
	case unix.F_GETLK:
		op.Call = fsfake.CallGetlk
	case unix.F_OFD_GETLK:
		op.Call = fsfake.CallOFDGetlk
	case unix.F_SETLK, unix.F_SETLKW:
		op.Call = fsfake.CallSetlk
	default:
		op.Call = fsfake.CallOFDSetlk
	}
	switch whence {
	case io.SeekStart:
		t.lockRange(op)
	case io.SeekCurrent:
		t.askThen(fsfake.Op{Call: fsfake.CallLseek, FD: d.fake, Flags: io.SeekCurrent}, func(r fsfake.Result) {
			op.Off += r.N
			t.lockRange(op)
		})
	case io.SeekEnd:
		t.askThen(fsfake.Op{Call: fsfake.CallFstat, FD: d.fake}, func(r fsfake.Result) {
			op.Off += r.Stat.Size
			t.lockRange(op)
		})
	default:
		t.fail(unix.EINVAL)
	}
}

func (t *thread) lockRange(op fsfake.Op) {
	if op.Call != fsfake.CallGetlk && op.Call != fsfake.CallOFDGetlk {
		t.askZero(op)
		return
	}
	addr := t.c.args[2]
	t.askThen(op, func(r fsfake.Result) {
		if t.through {
			t.really(func(int64) { t.showLock(addr, r.Lock.Pid) })
			return
		}
		if r.Lock.Type == fsfake.F_UNLCK { // nothing but the type is written
			t.put(addr, []byte{fsfake.F_UNLCK, 0}, 0)
			return
		}
		b := []byte{byte(r.Lock.Type), 0, 0, 0, 0, 0, 0, 0}
		b = append(b, putUint64s(uint64(r.Lock.Start), uint64(r.Lock.Len))...)
		b = binary.LittleEndian.AppendUint32(b, uint32(r.Lock.Pid))
		t.put(addr, b, 0)
	})
}

// showLock writes the virtual pid of a lock's owner over its real one.
func (t *thread) showLock(addr uint64, pid int) {
	b, err := readFull(t.tid, addr, 32)
	if err != nil {
		return
	}
	t.kernel.Lock.Type = int(binary.LittleEndian.Uint16(b))
	if t.kernel.Lock.Type != fsfake.F_UNLCK {
		_ = writeMem(t.tid, addr+24, binary.LittleEndian.AppendUint32(nil, uint32(pid)))
	}
}

// ioctl on a file of the fake is that of a file that has none, as programs ask to find out
// whether they talk to a terminal.
func (t *thread) ioctl(c *call) {
	d := t.p.fds[c.fd(0)]
	if d == nil || d.fake < 0 {
		t.pass()
		return
	}
	switch req := uint32(c.args[1]); {
	case req == fioClEx, req == fioNClEx && !d.cloexec: // as F_SETFD
		t.pass()
	case req>>8 == 0x54 && req != fioNRead && req != fioClEx && req != fioNClEx && req != fioNBIO:
		t.fail(unix.ENOTTY)
	case req == unix.FS_IOC_GETFLAGS:
		t.fail(unix.ENOTTY)
	case req == unix.FICLONE || req == unix.FICLONERANGE:
		t.fail(unix.EOPNOTSUPP)
	default:
		t.fault("on a file of the fake (%s) it is not modelled", d.path)
	}
}

func (t *thread) lseek(c *call) {
	d := t.fake(0)
	if d == nil {
		return
	}
	op := fsfake.Op{Call: fsfake.CallLseek, FD: d.fake, Off: int64(c.args[1]), Flags: c.int(2)}
	t.askThen(op, func(r fsfake.Result) {
		if d.dir != nil {
			*d.dir = listing{}
		}
		t.result(r.N)
	})
}

// A listing is what a description of a directory has still to give.
type listing struct {
	names []string
	read  bool // the fake has given them
	given int
}

// getdents gives the names of a directory, which the fake reads in one step, in pieces.
func (t *thread) getdents(c *call) {
	d := t.fake(0)
	if d == nil {
		return
	}
	if d.dir != nil && d.dir.read && d.dir.given < len(d.dir.names) {
		t.giveNames(d.dir)
		return
	}
	t.askThen(fsfake.Op{Call: fsfake.CallReaddir, FD: d.fake}, func(r fsfake.Result) {
		if d.dir == nil {
			d.dir = &listing{}
		}
		if d.dir.read {
			t.result(0)
			return
		}
		names := []string{".", ".."}
		if r.Data != "" {
			names = append(names, strings.Split(r.Data, "\x00")...)
		}
		*d.dir = listing{names: names, read: true}
		t.giveNames(d.dir)
	})
}

// giveNames writes as many struct linux_dirent64 as fit.
func (t *thread) giveNames(l *listing) {
	size := t.c.int(2)
	var b []byte
	for l.given < len(l.names) {
		name := l.names[l.given]
		n := (19 + len(name) + 1 + 7) &^ 7
		if len(b)+n > size {
			break
		}
		e := putUint64s(1, uint64(l.given+1))
		e = binary.LittleEndian.AppendUint16(e, uint16(n))
		e = append(e, unix.DT_UNKNOWN)
		if l.given < 2 {
			e[18] = unix.DT_DIR
		}
		e = append(e, name...)
		b = append(b, append(e, make([]byte, n-len(e))...)...)
		l.given++
	}
	if len(b) == 0 {
		t.fail(unix.EINVAL)
		return
	}
	t.put(t.c.args[1], b, int64(len(b)))
}

// mmap of a file of the fake, private, is a copy that one atomic read makes. What others write
// later does not show in it, which they might see in a real one; see the limits.
func (t *thread) mmap(c *call) {
	if c.int(3)&unix.MAP_ANONYMOUS != 0 {
		t.pass()
		return
	}
	d := t.p.fds[c.fd(4)]
	if d == nil || d.fake < 0 {
		t.pass()
		return
	}
	if c.int(3)&unix.MAP_TYPE != unix.MAP_PRIVATE {
		t.fault("a shared mapping of a file of the fake (%s) is not modelled", d.path)
		return
	}
	args := c.args
	t.askThen(fsfake.Op{Call: fsfake.CallPread, FD: d.fake, Len: int64(args[1]), Off: int64(args[5])}, func(r fsfake.Result) {
		if t.through {
			t.really(func(ret int64) {
				b, _ := readMem(t.tid, uint64(ret), len(r.Data))
				t.kernel.Data, t.kernel.N = string(b), int64(len(b))
			})
			return
		}
		t.instead(unix.SYS_MMAP, args[0], args[1], args[2], args[3]|unix.MAP_ANONYMOUS, ^uint64(0), 0)
		t.passThen(func(ret int64) {
			if ret < 0 && ret > -4096 || r.Data == "" {
				return
			}
			// Through /proc, for the pages may be read-only.
			mem, err := os.OpenFile("/proc/"+strconv.Itoa(t.p.real)+"/mem", os.O_WRONLY, 0)
			if err == nil {
				_, err = mem.WriteAt([]byte(r.Data), ret)
				mem.Close()
			}
			if err != nil {
				t.fault("the mapping cannot be filled: %v", err)
			}
		})
	})
}
