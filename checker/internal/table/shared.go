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

// Put enters a value. It may be forgotten again when others enter theirs meanwhile.
func (t *Shared) Put(key, val uint64) {
	es := t.entries.Load()
	for es == nil || 4*t.n.Load() >= int64(3*len(*es)) {
		es = t.grow(es)
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

// grow replaces the table by one twice its size and returns that. What is entered into
// the old one meanwhile is lost, and computed again.
func (t *Shared) grow(old *[]sharedEntry) *[]sharedEntry {
	t.growing.Lock()
	defer t.growing.Unlock()
	if es := t.entries.Load(); es != old {
		return es // it has grown already
	}
	var from []sharedEntry
	if old != nil {
		from = *old
	}
	n := int64(0)
	es := make([]sharedEntry, max(sharedMin, 2*len(from)))
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

// A Memo is a [Shared] that may forget what was not asked for lately.
// There are two generations: what is found in the old one goes into the young one, and when that is full,
// it is the old one, and what nobody has asked for meanwhile is forgotten. The zero value is empty.
type Memo struct {
	young, old atomic.Pointer[Shared]
	turning    sync.Mutex
}

// generation is how many values a generation holds that is full: those of half a MiB, nearly.
const generation = 3<<13 - 1

// Get returns the value of a key, or 0.
func (t *Memo) Get(key uint64) uint64 {
	young := t.young.Load()
	if young == nil {
		return 0
	}
	if v := young.Get(key); v != 0 {
		return v
	}
	old := t.old.Load()
	if old == nil {
		return 0
	}
	v := old.Get(key)
	if v != 0 && young.n.Load() < generation {
		young.Put(key, v)
	}
	return v
}

// Put enters a value; forgets tells whether others may be forgotten for it.
func (t *Memo) Put(key, val uint64, forgets bool) {
	young := t.young.Load()
	if young == nil || forgets && young.n.Load() >= generation {
		young = t.turn(young)
	}
	young.Put(key, val)
}

// turn begins the next generation, unless another has done it.
func (t *Memo) turn(full *Shared) *Shared {
	t.turning.Lock()
	defer t.turning.Unlock()
	if young := t.young.Load(); young != full {
		return young
	}
	t.old.Store(full)
	t.young.Store(&Shared{})
	return t.young.Load()
}

// Bytes is the memory that the table takes.
func (t *Memo) Bytes() int {
	b := 0
	for _, s := range []*Shared{t.young.Load(), t.old.Load()} {
		if s != nil {
			b += s.Bytes()
		}
	}
	return b
}
