//go:build linux && amd64

package tracer

import (
	"syscall"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// A copying is a call of sendfile(2) or copy_file_range(2). The kernel reads and writes one after the
// other, as many times as it takes, and others may come between: so each of these is asked for.
//
// copy_file_range looks at the size of the file first, and copies no more than there was then. Of a file that the
// program has read a part of, the model may copy more, but no more than that size. File systems that share blocks instead of
// copying do not let others come between; and that two names are of one file, into which it does not copy, is not seen.
type copying struct {
	t       *thread
	in, out end
	ranges  bool  // copy_file_range
	left    int64 // to copy
	done    int64
}

// An end is one of the two files.
type end struct {
	fd   int
	d    *descriptor
	addr uint64 // of the offset in the program's memory, or 0: that of the description
	off  int64  // there, at first
}

// inPipe is how much the kernel reads before it writes: what a pipe holds.
const inPipe = 64 << 10

func (t *thread) sendfile(c *call) {
	t.copy(&copying{t: t, out: end{fd: c.fd(0)}, in: end{fd: c.fd(1), addr: c.args[2]}, left: int64(min(c.args[3], maxCount))})
}

func (t *thread) copyFileRange(c *call) {
	t.copy(&copying{
		t: t, in: end{fd: c.fd(0), addr: c.args[1]}, out: end{fd: c.fd(2), addr: c.args[3]},
		left: int64(min(c.args[4], maxCount)), ranges: true,
	})
}

// copy begins a copy. One between a file of the fake and another one is refused, and programs then read and write. So
// is one that may be of a file into itself, which copy_file_range refuses where it overlaps.
func (t *thread) copy(c *copying) {
	c.in.d, c.out.d = t.p.fds[c.in.fd], t.p.fds[c.out.fd]
	switch in, out := c.in.d.isFake(), c.out.d.isFake(); {
	case !in && !out || !t.p.open(c.in.fd) || !t.p.open(c.out.fd):
		t.passWaiting(nil)
		return
	case c.ranges && in != out: // as between two file systems
		t.refuse(unix.EXDEV)
		return
	case out && len(c.out.d.file.shown) > 0:
		t.unmodelled(fsfake.SharedChange + " is not modelled, by such a call")
		return
	case !in || !out || c.in.d.file == c.out.d.file || c.ranges && c.in.d.path == c.out.d.path:
		t.refuseUnlike(unix.EINVAL)
		return
	}
	for _, e := range []*end{&c.in, &c.out} {
		if err := e.offset(t); err != nil {
			t.failErr(err)
			return
		}
	}
	if e := c.invalid(); e != 0 || c.left == 0 {
		t.fail(e)
		return
	}
	if c.ranges {
		c.ask(&c.in, fsfake.Op{Call: fsfake.CallFstat, Flags: fsfake.LookType}, c.sized)
		return
	}
	c.read()
}

// offset reads the offset from the program's memory.
func (e *end) offset(t *thread) error {
	if e.addr == 0 {
		return nil
	}
	off, err := readUint64(t.tid, e.addr)
	e.off = int64(off)
	return err
}

// invalid is what the kernel answers before it looks at the files.
func (c *copying) invalid() syscall.Errno {
	in, out := c.in.d.file.flags, c.out.d.file.flags
	switch {
	case c.ranges && c.t.c.int(5) != 0 || c.in.off < 0 || c.out.off < 0:
		return unix.EINVAL
	case (in|out)&unix.O_PATH != 0 || in&unix.O_ACCMODE == unix.O_WRONLY || out&unix.O_ACCMODE == unix.O_RDONLY:
		return unix.EBADF
	case out&unix.O_APPEND != 0 && c.ranges:
		return unix.EBADF
	case out&unix.O_APPEND != 0:
		return unix.EINVAL
	}
	return 0
}

// sized goes on when the size of the file is known.
func (c *copying) sized(r fsfake.Result) {
	switch size := r.Stat.Size - c.in.off; {
	case r.Errno != 0:
		c.end(r.Errno)
	case r.Stat.Mode.IsDir():
		c.end(unix.EISDIR)
	case size <= 0:
		c.end(0)
	default:
		c.left = min(c.left, size)
		c.read()
	}
}

func (c *copying) read() {
	op := fsfake.Op{Call: fsfake.CallRead, Len: min(c.left, inPipe)}
	if c.in.addr != 0 {
		op.Call, op.Off = fsfake.CallPread, c.in.off+c.done
	}
	c.ask(&c.in, op, func(r fsfake.Result) {
		switch {
		case r.Errno == unix.EISDIR:
			c.end(unix.EINVAL) // a directory cannot be sent
		case r.Errno != 0 || r.N == 0:
			c.end(r.Errno)
		default:
			c.write(r.Data)
		}
	})
}

func (c *copying) write(data string) {
	op := fsfake.Op{Call: fsfake.CallWrite, Data: data}
	if c.out.addr != 0 {
		op.Call, op.Off = fsfake.CallPwrite, c.out.off+c.done
	}
	c.ask(&c.out, op, func(r fsfake.Result) {
		c.done += r.N
		c.left -= r.N
		short := int64(len(data)) - r.N
		switch {
		case short > 0 && c.in.addr == 0: // what was not written counts as not read
			back := fsfake.Op{Call: fsfake.CallLseek, Off: -short, Flags: unix.SEEK_CUR}
			c.ask(&c.in, back, func(fsfake.Result) { c.end(r.Errno) })
		case short > 0 || c.left == 0:
			c.end(r.Errno)
		default:
			c.read()
		}
	})
}

// end tells the program how much was copied, or why nothing was.
func (c *copying) end(e syscall.Errno) {
	for _, f := range []end{c.in, c.out} {
		if f.addr != 0 && c.done > 0 {
			if err := writeMem(c.t.tid, f.addr, putUint64s(uint64(f.off+c.done))); err != nil {
				e, c.done = unix.EFAULT, 0
			}
		}
	}
	if c.done > 0 {
		c.t.result(c.done)
		return
	}
	c.t.fail(e)
}

// ask asks for a step of the copy, on one of its files. When calls are let through the tracer itself makes it, by a
// duplicate of the program's descriptor: the program's own call would make all of them at once.
func (c *copying) ask(e *end, op fsfake.Op, f func(fsfake.Result)) {
	t := c.t
	op.FD = e.d.fake
	t.ask(op, func(r fsfake.Result) {
		if t.through {
			t.through, t.letting, t.itself = false, false, true
			fd, err := t.p.duplicateOf(e.fd)
			if err != nil {
				t.fault("its descriptor %d cannot be duplicated: %v", e.fd, err)
				return
			}
			r = makeStep(fd, op, r)
			t.kernel = r
			unix.Close(fd)
		}
		f(r)
	})
}

// duplicateOf is a descriptor of this process for one of the program's: position and flags are shared.
func (p *process) duplicateOf(fd int) (int, error) {
	pidfd, err := unix.PidfdOpen(p.real, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(pidfd)
	return unix.PidfdGetfd(pidfd, fd, 0)
}

// makeStep makes a step of a copy on the kernel. Of a file's status only the size is asked for.
func makeStep(fd int, op fsfake.Op, expected fsfake.Result) (r fsfake.Result) {
	var n int
	var err error
	b := make([]byte, op.Len)
	switch op.Call {
	case fsfake.CallFstat:
		var s unix.Stat_t
		err = unix.Fstat(fd, &s)
		r.Stat = expected.Stat
		r.Stat.Size = s.Size
	case fsfake.CallRead:
		n, err = unix.Read(fd, b)
	case fsfake.CallPread:
		n, err = unix.Pread(fd, b, op.Off)
	case fsfake.CallWrite:
		n, err = unix.Write(fd, []byte(op.Data))
	case fsfake.CallPwrite:
		n, err = unix.Pwrite(fd, []byte(op.Data), op.Off)
	case fsfake.CallLseek:
		r.N, err = unix.Seek(fd, op.Off, op.Flags)
		n = int(r.N)
	}
	if err != nil {
		return fsfake.Result{Errno: errnoOf(err)}
	}
	r.N, r.Data = int64(n), string(b[:min(n, len(b))])
	return r
}
