//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/sys/unix"
)

// What is asked of real things and differs from run to run: numbers and times of pipes, and what is free on a disk.

// fstat makes a call that asks about a real descriptor.
func (t *thread) fstat(fd, to int) {
	var s unix.Stat_t
	if unix.Stat(t.p.inProc(fd), &s) == nil && s.Mode&unix.S_IFMT != unix.S_IFIFO {
		t.pass()
		return
	}
	t.passThen(t.steadyPipe(to))
}

// steadyPipe returns what shows a pipe, after a call that asks about a descriptor, with a number of this run's and
// without times. Others stay as they are.
func (t *thread) steadyPipe(to int) func(ret int64) {
	addr, mode, number, times := t.c.args[to], uint64(24), uint64(8), [2]uint64{72, 120}
	if t.c.nr == unix.SYS_STATX {
		mode, number, times = 28, 32, [2]uint64{64, 128}
	}
	return func(ret int64) {
		b, err := readFull(t.tid, addr, int(times[1]))
		le := binary.LittleEndian
		if ret != 0 || err != nil || le.Uint16(b[mode:])&unix.S_IFMT != unix.S_IFIFO {
			return
		}
		n := t.r.pipes.number(le.Uint64(b[number:]))
		_ = writeMem(t.tid, addr+number, putUint64s(uint64(n)))
		_ = writeMem(t.tid, addr+times[0], make([]byte, times[1]-times[0]))
	}
}

// number is that of a pipe: 1 for the first that is met.
func (of pipes) number(ino uint64) int {
	if of[ino] == 0 {
		of[ino] = len(of) + 1
	}
	return of[ino]
}

// openSteady opens a file of /proc that tells something else each time: a text of this run's.
func (t *thread) openSteady(i int, name string) {
	if name == "/proc/loadavg" {
		t.openText(i, fmt.Sprintf("0.00 0.00 0.00 1/2 %d\n", t.p.pid))
		return
	}
	b := t.p.random(16)
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80 // version 4, of RFC 9562
	t.openText(i, fmt.Sprintf("%x-%x-%x-%x-%x\n", b[:4], b[4:6], b[6:8], b[8:10], b[10:]))
}

// steadyRoom shows half of a real file system as free: what is free for real differs from run to run.
func (t *thread) steadyRoom(ret int64) {
	at := t.c.args[1]
	if b, err := readFull(t.tid, at+16, 32); ret == 0 && err == nil {
		blocks, files := binary.LittleEndian.Uint64(b), binary.LittleEndian.Uint64(b[24:])
		_ = writeMem(t.tid, at+24, putUint64s(blocks/2, blocks/2, files, files/2))
	}
}
