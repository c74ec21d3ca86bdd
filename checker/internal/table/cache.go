package table

// A Cache maps 64-bit keys to small values by open addressing. It is the cache in
// front of everything that the exploration knows already, where a Go map's generality
// would cost most of the time. The zero value is empty.
type Cache[V any] struct {
	entries []u64entry[V] // key and value side by side: one place in memory to look at
	n       int
}

type u64entry[V any] struct {
	key uint64 // key+1; 0 is free
	val V
}

// hash tells where an entry belongs, and whether there is one.
func (e *u64entry[V]) hash() (uint64, bool) { return hash64(e.key - 1), e.key != 0 }

func hash64(x uint64) uint64 {
	x ^= x >> 32
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 29
	return x
}

// Get returns the value of a key, and whether there is one.
func (t *Cache[V]) Get(key uint64) (V, bool) {
	if t.n == 0 {
		var zero V
		return zero, false
	}
	mask := uint64(len(t.entries) - 1)
	for i := hash64(key) & mask; ; i = (i + 1) & mask {
		switch e := &t.entries[i]; e.key {
		case key + 1:
			return e.val, true
		case 0:
			var zero V
			return zero, false
		}
	}
}

// Put enters a value.
func (t *Cache[V]) Put(key uint64, v V) {
	if 4*(t.n+1) > 3*len(t.entries) {
		t.entries = grow(t.entries, 64, (*u64entry[V]).hash, func(to, from *u64entry[V]) { *to = *from })
	}
	mask := uint64(len(t.entries) - 1)
	i := hash64(key) & mask
	for t.entries[i].key != 0 && t.entries[i].key != key+1 {
		i = (i + 1) & mask
	}
	if t.entries[i].key == 0 {
		t.n++
	}
	t.entries[i] = u64entry[V]{key + 1, v}
}
