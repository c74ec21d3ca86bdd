//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"io"
	"runtime"

	"golang.org/x/sys/unix"

	"lockpick/fsfake"
)

// The lock calls of fcntl(2).

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

// showRealLock shows the owner of a lock of a real file.
func (t *thread) showRealLock(ret int64) {
	if b, err := readFull(t.tid, t.c.args[2], 2); ret == 0 && err == nil && b[0] != fsfake.F_UNLCK {
		t.showID(t.c.args[2] + 24)
	}
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

// onThreadOfItsOwn runs f on a thread that serves nothing else, and has no children that others
// wait for. The tracer takes what any child of its thread reports, so a child that os/exec has
// started on this thread before, for another goroutine, would be lost to that goroutine, and its
// end would be waited for at the end of the run. The thread ends with f.
func onThreadOfItsOwn(f func()) {
	found := make(chan struct{})
	var try func()
	try = func() {
		runtime.LockOSThread()
		if mayAdopt() || !childless() {
			// This thread is kept until another one is found, or the next goroutine gets it again.
			go try()
			<-found
			runtime.UnlockOSThread()
			return
		}
		close(found)
		f()
	}
	go try()
}

// mayAdopt reports whether this is the first thread of the process: it is given the children of
// threads that end before them.
func mayAdopt() bool { return unix.Gettid() == unix.Getpid() }

// childless reports whether nobody is waited for by this thread.
func childless() bool {
	var s unix.Siginfo
	for {
		err := unix.Waitid(unix.P_ALL, 0, &s, unix.WEXITED|unix.WNOHANG|unix.WNOWAIT|wallNoThread, nil)
		if err != unix.EINTR {
			return err == unix.ECHILD
		}
	}
}
