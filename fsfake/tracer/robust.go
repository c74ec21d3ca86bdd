//go:build linux && amd64

package tracer

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Robust futexes. When a thread ends, the kernel goes through the list of the locks that it keeps (set_robust_list(2)).
// Where a word holds the thread's id, it notes that the owner has died, and wakes a thread that waits. Programs write
// the virtual id there, so the tracer puts the real one in its place just before.

// robustList is where a thread has its list, and how long the head is; 0 where it has none.
func robustList(tid int) (head, size uint64) {
	_, _, e := unix.RawSyscall(unix.SYS_GET_ROBUST_LIST, uintptr(tid), uintptr(unsafe.Pointer(&head)),
		uintptr(unsafe.Pointer(&size)))
	if e != 0 || size != 24 {
		return 0, 0
	}
	return head, size
}

// robust puts one id of the thread in place of another in the locks that it keeps.
func (t *thread) robust(from, to int) {
	const longest, owner = 2048, 1<<30 - 1 // ROBUST_LIST_LIMIT, FUTEX_TID_MASK
	head, size := robustList(t.tid)
	if head == 0 {
		return
	}
	b, err := readFull(t.tid, head, int(size))
	if err != nil {
		return
	}
	le := binary.LittleEndian
	next, offset, pending := le.Uint64(b), le.Uint64(b[8:]), le.Uint64(b[16:])
	become := func(entry uint64) {
		at := entry&^1 + offset // the lowest bit says that priority is inherited
		if w, err := readFull(t.tid, at, 4); err == nil && int(le.Uint32(w)&owner) == from {
			t.writeTid(at, to|int(le.Uint32(w)&^owner))
		}
	}
	for n := 0; next&^1 != head && n < longest && err == nil; n++ {
		become(next)
		next, err = readUint64(t.tid, next&^1)
	}
	if pending != 0 {
		become(pending)
	}
}

// bequeath makes the locks that it keeps known to the kernel as its own; keep takes that back.
func (t *thread) bequeath() { t.robust(t.vtid(), t.tid) }

func (t *thread) keep() { t.robust(t.tid, t.vtid()) }
