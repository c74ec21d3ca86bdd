package checker

// A u64table maps 64-bit keys to small values by open addressing. It is the cache in
// front of everything that the exploration knows already, where a Go map's generality
// would cost most of the time. The zero value is empty.
type u64table[V any] struct {
	entries []u64entry[V] // key and value side by side: one place in memory to look at
	n       int
}

type u64entry[V any] struct {
	key uint64 // key+1; 0 is free
	val V
}

func hash64(x uint64) uint64 {
	x ^= x >> 32
	x *= 0x9e3779b97f4a7c15
	x ^= x >> 29
	return x
}

func (t *u64table[V]) get(key uint64) (V, bool) {
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

func (t *u64table[V]) put(key uint64, v V) {
	if 4*(t.n+1) > 3*len(t.entries) {
		t.grow()
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

func (t *u64table[V]) grow() {
	old := t.entries
	*t = u64table[V]{entries: make([]u64entry[V], max(64, 2*len(old)))}
	for i := range old {
		if old[i].key != 0 {
			t.put(old[i].key-1, old[i].val)
		}
	}
}
