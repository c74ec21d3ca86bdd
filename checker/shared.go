package checker

import "sync"

// A sharedTable is what workers share of what they have computed: each asks it, after
// its own cache, before it does the work. It is sharded, so that they seldom wait for
// each other. A nil table is that of a worker who is alone: it remembers nothing.
type sharedTable[V any] struct {
	shards [64]sharedShard[V]
}

type sharedShard[V any] struct {
	mu    sync.Mutex
	known u64table[V]
	_     [cacheLine]byte
}

func (t *sharedTable[V]) shard(key uint64) *sharedShard[V] { return &t.shards[hash64(key)>>58] }

func (t *sharedTable[V]) get(key uint64) (V, bool) {
	if t == nil {
		var zero V
		return zero, false
	}
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known.get(key)
}

func (t *sharedTable[V]) put(key uint64, v V) {
	if t == nil {
		return
	}
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.known.put(key, v)
}
