//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"strings"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// Reading and writing: the memory of the program on one side, a file of the fake on the other.

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

const (
	maxTransfer = 32 << 20
	maxCount    = 0x7ffff000 // what the kernel moves in one call at most
)

// pieces returns the memory that arguments 1 and 2 describe.
func (t *thread) pieces(s shape) ([]piece, int, bool) {
	if s == whole {
		n := int(min(t.c.args[2], maxCount))
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
	case !d.isFake():
		t.transferReal(fd)
	default:
		ps, n, ok := t.pieces(s)
		if !ok {
			return
		}
		if op.FD, op.Len = d.fake, int64(n); op.Call == fsfake.CallRead && d.file.fifo {
			op.Call, op.Wait = fsfake.CallTake, d.file.flags&unix.O_NONBLOCK == 0
		}
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
		done := writeSome(t.tid, p.addr, data[:k])
		if data = data[done:]; done < k {
			t.unread(n-int64(len(data)), int64(len(data)))
			return
		}
	}
	t.result(n)
}

// unread ends a read of which the program's memory took only a part: what it did not take counts as not read.
func (t *thread) unread(taken, rest int64) {
	d, end := t.p.fds[t.c.fd(0)], func(fsfake.Result) {
		if taken > 0 {
			t.result(taken)
			return
		}
		t.fail(unix.EFAULT)
	}
	if d.isFake() && t.op.Call == fsfake.CallRead {
		t.ask(fsfake.Op{Call: fsfake.CallLseek, FD: d.fake, Off: -rest, Flags: unix.SEEK_CUR}, end)
		return
	}
	end(fsfake.Result{})
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
	if t.talks(fd) {
		return
	}
	switch {
	case !t.p.waits(fd):
		t.pass()
	case t.p.fds[fd].kind == kindSignals:
		t.passWaiting(t.showSignals)
	default:
		t.passWaiting(nil)
	}
}

func (t *thread) write(s shape, op fsfake.Op) {
	if s == whole && op.Call == fsfake.CallWrite && t.tellsLine() {
		return
	}
	fd := t.c.fd(0)
	d := t.p.fds[fd]
	if !d.isFake() {
		t.transferReal(fd)
		return
	}
	if op.Call == fsfake.CallPwrite && op.Off < 0 {
		t.fail(unix.EINVAL)
		return
	}
	ps, n, ok := t.pieces(s)
	if !ok {
		return
	}
	if n > maxTransfer {
		t.unmodelled("a write of more than %d MiB is not modelled", maxTransfer>>20)
		return
	}
	var data strings.Builder
	for _, p := range ps { // what can be read before a bad page is written
		b, _ := readMem(t.tid, p.addr, p.n)
		if data.Write(b); len(b) < p.n {
			break
		}
	}
	if n > 0 && data.Len() == 0 && d.file.flags&unix.O_PATH == 0 && d.file.flags&unix.O_ACCMODE != unix.O_RDONLY {
		t.fail(unix.EFAULT)
		return
	}
	op.FD, op.Data = d.fake, data.String()
	t.askChange(d, op)
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
	if d := t.p.fds[t.c.fd(0)]; d.isFake() && t.c.int(5) != 0 {
		t.unmodelled("with flags %#x it is not modelled", t.c.int(5))
		return fsfake.Op{}, false
	}
	if off := int64(t.c.args[3]); off != -1 {
		return fsfake.Op{Call: at, Off: off}, true
	}
	return fsfake.Op{Call: plain}, true
}

// A kind is what a real descriptor is, as far as waiting goes.
type kind uint8

const (
	kindUnknown kind = iota
	kindPlain        // reading and writing do not wait: a file, a directory, /dev/null
	kindWaits
	kindSignals // of signalfd(2)
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
		var s unix.Stat_t
		if err := unix.Stat(p.inProc(fd), &s); err == nil {
			switch kind := s.Mode & unix.S_IFMT; {
			case kind == unix.S_IFREG, kind == unix.S_IFDIR, s.Rdev == unix.Mkdev(1, 3), s.Rdev == unix.Mkdev(1, 5):
				d.kind = kindPlain
			}
		}
	}
	return d.kind != kindPlain
}
