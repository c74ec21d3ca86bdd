//go:build linux

package kernel

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"syscall"

	"golang.org/x/sys/unix"
	"lockpick/fsfake"
)

// A frame is a length, a kind and a body. Workers and driver are the same binary, so the
// format has no versions.
type frameKind byte

const (
	// From the driver.
	frameOp    frameKind = 'O' // make this call; answered by frameResult
	frameTask  frameKind = 'T' // start another thread, which serves a channel of its own
	frameSpawn frameKind = 'S' // to the nursery: fork a worker, which serves a channel of its own

	// From the worker.
	frameHello  frameKind = 'H' // the thread that serves the channel
	frameResult frameKind = 'R'
)

const headerSize = 5

// A channel is one end of a pair of pipes.
type channel struct {
	r, w int
	in   []byte // read and not yet used; a part of buf
	buf  []byte
	out  []byte
	enc  encoder // what the next frame is made of
}

// body returns an empty encoder for the body of the next frame.
func (c *channel) body() *encoder {
	c.enc.b = c.enc.b[:0]
	return &c.enc
}

// send writes one frame.
func (c *channel) send(k frameKind, body []byte) error {
	c.out = binary.LittleEndian.AppendUint32(c.out[:0], uint32(len(body)))
	c.out = append(c.out, byte(k))
	c.out = append(c.out, body...)
	for b := c.out; len(b) > 0; {
		n, err := rawWrite(c.w, b)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return fmt.Errorf("kernel: writing to the other side: %w", err)
		}
		b = b[n:]
	}
	return nil
}

var errHungUp = errors.New("kernel: the other side has gone")

// receive waits for one frame. The body is valid until the next receive.
func (c *channel) receive() (frameKind, []byte, error) {
	for {
		if len(c.in) >= headerSize {
			n := headerSize + int(binary.LittleEndian.Uint32(c.in))
			if len(c.in) >= n {
				k, body := frameKind(c.in[4]), c.in[headerSize:n]
				c.in = c.in[n:]
				return k, body, nil
			}
		}
		if c.buf == nil {
			c.buf = make([]byte, 4096)
		}
		// The beginning of a frame, if there is one, moves to the front.
		had := copy(c.buf, c.in)
		if had == len(c.buf) {
			c.buf = append(c.buf, make([]byte, had)...)
		}
		c.in = c.buf[:had]
		n, err := rawRead(c.r, c.buf[had:])
		switch {
		case err == unix.EINTR:
			continue
		case err != nil:
			return 0, nil, fmt.Errorf("kernel: reading from the other side: %w", err)
		case n == 0:
			return 0, nil, errHungUp
		}
		c.in = c.buf[:had+n]
	}
}

// An encoder appends values; a decoder takes them off in the same order.
type encoder struct{ b []byte }

func (e *encoder) int(v int64)     { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) uint(v uint64)   { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) string(s string) { e.uint(uint64(len(s))); e.b = append(e.b, s...) }
func (e *encoder) bool(v bool) {
	if v {
		e.b = append(e.b, 1)
	} else {
		e.b = append(e.b, 0)
	}
}

type decoder struct{ b []byte }

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	d.b = d.b[max(n, 0):]
	return v
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	d.b = d.b[max(n, 0):]
	return v
}

func (d *decoder) string() string {
	n := min(d.uint(), uint64(len(d.b)))
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}

func (d *decoder) bool() bool {
	if len(d.b) == 0 {
		return false
	}
	v := d.b[0] != 0
	d.b = d.b[1:]
	return v
}

// op encodes a call. None of those that the kernel makes is on a cell.
func (e *encoder) op(o *fsfake.Op) {
	e.b = append(e.b, byte(o.Call))
	e.int(int64(o.Flags))
	e.int(int64(o.FD))
	e.int(int64(o.FD2))
	e.uint(uint64(o.Mode))
	e.int(o.Off)
	e.int(o.Len)
	e.string(o.Path)
	e.string(o.Path2)
	e.string(o.Data)
	e.int(int64(o.Pid))
	e.int(o.Time)
	e.int(o.Time2)
	e.bool(o.Wait)
}

func (d *decoder) op() (o fsfake.Op) {
	if len(d.b) > 0 {
		o.Call = fsfake.Call(d.b[0])
		d.b = d.b[1:]
	}
	o.Flags, o.FD, o.FD2, o.Mode = int(d.int()), int(d.int()), int(d.int()), uint32(d.uint())
	o.Off, o.Len = d.int(), d.int()
	o.Path, o.Path2, o.Data = d.string(), d.string(), d.string()
	o.Pid, o.Time, o.Time2, o.Wait = int(d.int()), d.int(), d.int(), d.bool()
	return o
}

func (e *encoder) result(r *fsfake.Result) {
	e.uint(uint64(r.Errno))
	e.int(r.N)
	e.string(r.Data)
	st := &r.Stat
	for _, v := range [...]uint64{st.Ino, st.Dev, uint64(st.Nlink), uint64(st.Mode), uint64(st.UID), uint64(st.GID)} {
		e.uint(v)
	}
	for _, v := range [...]int64{st.Size, st.Atime, st.Mtime, st.Ctime, st.Btime} {
		e.int(v)
	}
	e.int(int64(r.Lock.Type))
	e.int(r.Lock.Start)
	e.int(r.Lock.Len)
	e.int(int64(r.Lock.Pid))
	e.string(r.Unmodelled)
}

func (d *decoder) result() (r fsfake.Result) {
	r.Errno, r.N, r.Data = syscall.Errno(d.uint()), d.int(), d.string()
	st := &r.Stat
	st.Ino, st.Dev, st.Nlink = d.uint(), d.uint(), uint32(d.uint())
	st.Mode, st.UID, st.GID = fs.FileMode(d.uint()), uint32(d.uint()), uint32(d.uint())
	st.Size, st.Atime, st.Mtime, st.Ctime, st.Btime = d.int(), d.int(), d.int(), d.int(), d.int()
	r.Lock = fsfake.RecordLock{Type: int(d.int()), Start: d.int(), Len: d.int(), Pid: int(d.int())}
	r.Unmodelled = d.string()
	return r
}
