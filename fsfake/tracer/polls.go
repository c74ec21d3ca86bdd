//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"time"

	"golang.org/x/sys/unix"
)

// Calls that wait for others, for some time.

// poll is poll and ppoll. A file of the fake is always ready, as every regular file is.
func (t *thread) poll(ns int64, i int, none uint64) {
	n := int(uint32(t.c.args[1]))
	if n > 1<<16 {
		t.fail(unix.EINVAL)
		return
	}
	b, err := readFull(t.tid, t.c.args[0], 8*n)
	if err != nil {
		t.failErr(err)
		return
	}
	le := binary.LittleEndian
	const always = unix.POLLIN | unix.POLLOUT | 0x40 | 0x100 // POLLRDNORM, POLLWRNORM
	readyAt := map[int]uint16{}
	real := append([]byte(nil), b...)
	for k := range n {
		fd := int(int32(le.Uint32(b[8*k:])))
		if t.awaits(fd) {
			return
		}
		d := t.p.fds[fd]
		if !d.isFake() {
			continue
		}
		if d.file.fifo {
			t.unmodelled("waiting for a FIFO (%s) in another call than read(2) is not modelled", d.path)
			return
		}
		le.PutUint32(real[8*k:], ^uint32(0)) // a negative descriptor is left out
		if events := le.Uint16(b[8*k+4:]) & always; events != 0 {
			readyAt[k] = events
		}
	}
	if string(real) == string(b) || t.r.c.Through != "" {
		t.timedCall(ns, i, none, 0)
		return
	}
	if len(readyAt) == 0 {
		t.unmodelled("waiting for a file of the fake is not modelled")
		return
	}
	if err := writeMem(t.tid, t.c.args[0], real); err != nil {
		t.failErr(err)
		return
	}
	// Something is ready: look at the real ones without waiting.
	addr := t.c.args[0]
	t.instead(unix.SYS_POLL, addr, uint64(n), 0)
	t.passThen(func(ret int64) {
		now, err := readFull(t.tid, addr, 8*n)
		if err != nil || ret < 0 {
			return
		}
		for k := range n {
			copy(now[8*k:8*k+4], b[8*k:8*k+4])
			if events := readyAt[k]; events != 0 {
				le.PutUint16(now[8*k+6:], events)
				ret++
			}
		}
		_ = writeMem(t.tid, addr, now)
		t.setRax(ret)
	})
}

// selectOn is select and pselect6.
func (t *thread) selectOn(ns int64, i int, none uint64) {
	n := t.c.int(0)
	if n < 0 || n > 1<<16 {
		t.fail(unix.EINVAL)
		return
	}
	size := (n + 63) / 64 * 8
	var sets []uint64
	for _, addr := range t.c.args[1:4] {
		if addr == 0 || size == 0 {
			continue
		}
		sets = append(sets, addr)
		b, err := readFull(t.tid, addr, size)
		if err != nil {
			t.failErr(err)
			return
		}
		for fd := range n {
			if b[fd/8]&(1<<(fd%8)) == 0 {
				continue
			}
			if t.awaits(fd) {
				return
			}
			if d := t.p.fds[fd]; d.isFake() {
				t.unmodelled("waiting for a file of the fake (%s) is not modelled", d.path)
				return
			}
		}
	}
	t.timedThen(ns, i, none, func() {
		for _, addr := range sets {
			_ = writeMem(t.tid, addr, make([]byte, size))
		}
		t.result(0)
	}, nil)
}

// Operations of futex(2).
const (
	futexWait       = 0
	futexWaitBitset = 9
	futexRealtime   = 256
)

func (t *thread) futex(c *call) {
	op := c.int(1)
	switch op & 0x7f {
	case futexWait, futexWaitBitset:
	case 6, 7, 8, 11, 12, 13:
		t.unmodelled("mutexes with priority inheritance are not handled")
		return
	default:
		t.pass()
		return
	}
	if c.args[3] == 0 {
		t.passWaiting(nil)
		return
	}
	ns, ok := t.timespec(c.args[3])
	if !ok {
		return
	}
	if op&0x7f == futexWaitBitset { // absolute
		if op&futexRealtime != 0 {
			ns -= t.r.now + t.p.ahead
		} else {
			ns -= t.p.monotonic()
		}
	}
	if ns <= 0 {
		b, err := readFull(t.tid, c.args[0], 4)
		switch {
		case err != nil:
			t.failErr(err)
		case binary.LittleEndian.Uint32(b) != uint32(c.args[2]):
			t.fail(unix.EAGAIN)
		default:
			t.fail(unix.ETIMEDOUT)
		}
		return
	}
	t.timedCall(ns, 3, 0, -int64(unix.ETIMEDOUT))
}

// forever is the timeout that is none.
const forever = int64(-1)

func millis(ms int) int64 {
	if ms < 0 {
		return forever
	}
	return int64(ms) * int64(time.Millisecond)
}

// waitSpec calls f with the timeout in the struct timespec that argument i points to, and with
// how to say that there is none.
func (t *thread) waitSpec(i int, f func(ns int64, i int, none uint64)) {
	if t.c.args[i] == 0 {
		f(forever, i, 0)
		return
	}
	if ns, ok := t.timespec(t.c.args[i]); ok {
		f(ns, i, 0)
	}
}

// waitVal is waitSpec for a struct timeval.
func (t *thread) waitVal(i int, f func(ns int64, i int, none uint64)) {
	if t.c.args[i] == 0 {
		f(forever, i, 0)
		return
	}
	b, err := readFull(t.tid, t.c.args[i], 16)
	if err != nil {
		t.failErr(err)
		return
	}
	sec, usec := int64(binary.LittleEndian.Uint64(b)), int64(binary.LittleEndian.Uint64(b[8:]))
	if sec < 0 || usec < 0 {
		t.fail(unix.EINVAL)
		return
	}
	f(min(sec, int64(1<<33))*1e9+usec*1e3, i, 0)
}

// timedCall makes a call that may wait for ns nanoseconds, with argument i set to none, which
// is forever; it returns ret when its time has come.
func (t *thread) timedCall(ns int64, i int, none uint64, ret int64) {
	t.timedThen(ns, i, none, func() { t.result(ret) }, nil)
}

func (t *thread) timedThen(ns int64, i int, none uint64, expired func(), after func(int64)) {
	switch {
	case ns == 0:
		t.polls++
		t.passThen(after)
	case ns < 0:
		t.passWaiting(after)
	default:
		args := t.c.args
		args[i] = none
		t.instead(t.c.nr, args[:]...)
		t.timed, t.deadline, t.expired = true, t.p.mono+ns, expired
		t.passWaiting(after)
	}
}
