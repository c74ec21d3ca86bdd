package checker

import "sync"

// A moveTable is what workers share of the moves they have computed: each asks it
// before it bothers a machine. It is sharded, so that they seldom wait for each other.
type moveTable struct {
	shards [64]moveShard
}

type moveShard struct {
	mu    sync.Mutex
	moves u64table[move]
	_     [64]byte
}

func (t *moveTable) shard(key uint64) *moveShard { return &t.shards[hash64(key)>>58] }

func (t *moveTable) get(key uint64) (move, bool) {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moves.get(key)
}

func (t *moveTable) put(key uint64, m move) {
	s := t.shard(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moves.put(key, m)
}
