package table

import (
	"sync"
	"sync/atomic"

	"lockpick/checker/internal/parallel"
)

// A Shared is what all workers share of what any of them has computed. It maps
// 64-bit keys to values that are not 0. Nobody waits to read it: whoever does not find what
// another is just entering computes it again, with the same result. The zero value is empty.
type Shared struct {
	entries atomic.Pointer[[]sharedEntry]
	_       [parallel.CacheLine]byte // everybody reads entries all the time, and n is written with each entry
	n       atomic.Int64
	growing sync.Mutex
}

type sharedEntry struct {
	key atomic.Uint64 // key+1; 0 is free
	val atomic.Uint64 // 0: on its way
}

func hash64(x uint64) uint64 {
	x ^= x >> 32
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 29
	return x
}

// near tells where a key belongs. Keys with one upper half are asked for together: what each task,
// above bit 26, does to a machine by its next operation, below. So they lie side by side, sixteen
// operations together, and the others are in the cache when the first was looked at.
func near(key uint64) uint64 {
	const operation = 1<<26 - 1
	return hash64(key>>32^(key&operation)>>4<<32)<<4 | (key^key>>26)&15
}

// sharedMin is the size of the smallest table. A quarter of it stays free for those who
// have looked whether there is room and then enter at the same moment: all the workers.
const sharedMin = 8 * parallel.MaxWorkers

// Get returns the value of a key, or 0.
func (t *Shared) Get(key uint64) uint64 {
	es := t.entries.Load()
	if es == nil {
		return 0
	}
	mask := uint64(len(*es) - 1)
	for i := near(key) & mask; ; i = (i + 1) & mask {
		switch e := &(*es)[i]; e.key.Load() {
		case key + 1:
			return e.val.Load()
		case 0:
			return 0
		}
	}
}

// Put enters a value. It may be forgotten again when others enter theirs meanwhile; with forgets, others may be
// forgotten for it.
func (t *Shared) Put(key, val uint64, forgets bool) {
	es := t.entries.Load()
	for es == nil || 4*t.n.Load() >= int64(3*len(*es)) {
		es = t.grow(es, forgets)
	}
	if enter(*es, key, val) {
		t.n.Add(1)
	}
}

// enter puts a value into a table that has room, and reports whether its key is new.
func enter(es []sharedEntry, key, val uint64) bool {
	mask := uint64(len(es) - 1)
	for i := near(key) & mask; ; i = (i + 1) & mask {
		e := &es[i]
		at := e.key.Load()
		isNew := at == 0 && e.key.CompareAndSwap(0, key+1)
		if isNew || at == key+1 {
			e.val.Store(val)
			return isNew
		}
		if at == 0 && e.key.Load() == key+1 { // another was faster
			e.val.Store(val)
			return false
		}
	}
}

// enough is how large a table is that forgets what it holds in place of growing: 1 MiB.
const enough = 1 << 16

// grow replaces the table by one twice its size, or by an empty one, and returns that. What is entered into
// the old one meanwhile is lost, and computed again.
func (t *Shared) grow(old *[]sharedEntry, forgets bool) *[]sharedEntry {
	t.growing.Lock()
	defer t.growing.Unlock()
	if es := t.entries.Load(); es != old {
		return es // it has grown already
	}
	var from []sharedEntry
	size := sharedMin
	if old != nil {
		from, size = *old, 2*len(*old)
	}
	if forgets && size > enough {
		from, size = nil, enough
	}
	n := int64(0)
	es := make([]sharedEntry, size)
	for i := range from {
		if e := &from[i]; e.val.Load() != 0 { // one whose value is still on its way is none
			enter(es, e.key.Load()-1, e.val.Load())
			n++
		}
	}
	t.n.Store(n) // before others see the new table, so that it is never thought emptier than it is
	t.entries.Store(&es)
	return &es
}

// Bytes is the memory that the table takes.
func (t *Shared) Bytes() int {
	if es := t.entries.Load(); es != nil {
		return 16 * len(*es)
	}
	return 0
}
