package checker

// A u64table maps 64-bit keys to small values by open addressing. It is the cache in
// front of everything that the exploration knows already, where a Go map's generality
// would cost most of the time. The zero value is empty.
type u64table[V any] struct {
	keys []uint64 // key+1; 0 is free
	vals []V
	n    int
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
	mask := uint64(len(t.keys) - 1)
	for i := hash64(key) & mask; ; i = (i + 1) & mask {
		switch t.keys[i] {
		case key + 1:
			return t.vals[i], true
		case 0:
			var zero V
			return zero, false
		}
	}
}

func (t *u64table[V]) put(key uint64, v V) {
	if 4*(t.n+1) > 3*len(t.keys) {
		t.grow()
	}
	mask := uint64(len(t.keys) - 1)
	i := hash64(key) & mask
	for t.keys[i] != 0 && t.keys[i] != key+1 {
		i = (i + 1) & mask
	}
	if t.keys[i] == 0 {
		t.n++
	}
	t.keys[i], t.vals[i] = key+1, v
}

func (t *u64table[V]) grow() {
	old := *t
	size := max(64, 2*len(old.keys))
	*t = u64table[V]{keys: make([]uint64, size), vals: make([]V, size)}
	for i, k := range old.keys {
		if k != 0 {
			t.put(k-1, old.vals[i])
		}
	}
}
