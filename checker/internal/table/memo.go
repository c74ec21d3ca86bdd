package table

import (
	"sync"
	"sync/atomic"
)

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
