package table

import (
	"slices"

	"lockpick/checker/internal/parallel"
)

// A States holds the visited states: each a row of words of one width, stored once.
// It is sharded by hash: workers may insert side by side, each into shards of its own.
//
// With each state it may keep a word about how it was found first, which is no part of the
// state: stride is the width with it.
type States struct {
	width, stride int
	Shards        []stateShard
}

// The states of a shard lie in pages, in the order in which they came, and stay where
// they are: growing copies nothing, and a level of the exploration is a range of them.
type stateShard struct {
	pages  [][]uint32 // the states, stride words each
	slots  []uint64   // index of a state + 1, below the upper half of its hash, which says where it stands; 0 is free
	n      int
	looked uint32
	_      [parallel.CacheLine]byte
}

// pageStates is how many states a page holds; the first page of a shard grows up to it.
const (
	pageBits   = 12
	pageStates = 1 << pageBits
)

// NewStates returns an empty set of rows of so many words, in so many shards.
func NewStates(width, shards int) *States { return newStates(width, width, shards) }

// NewTree is NewStates for rows with one word more, which says from which state each was found
// first; it is 1 more than that state's number, or 0 for a root. See [States.Parent].
func NewTree(width, shards int) *States { return newStates(width, width+1, shards) }

func newStates(width, stride, shards int) *States {
	s := &States{width: width, stride: stride, Shards: make([]stateShard, shards)}
	for i := range s.Shards {
		s.Shards[i].slots = make([]uint64, 64)
	}
	return s
}

func hashWords(w []uint32) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for _, x := range w {
		h = (h ^ uint64(x)) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>29
}

// ShardOf is the number of the shard that a state belongs to. Two words are enough to
// spread states evenly over a few shards.
func (s *States) ShardOf(w []uint32) int {
	if len(s.Shards) == 1 {
		return 0
	}
	h := hash64(uint64(w[0])<<32|uint64(w[1])) >> 32
	return int(uint64(uint32(h)) * uint64(len(s.Shards)) >> 32)
}

// Insert adds a state and reports whether it is new, and its number. In a tree it is a root.
func (s *States) Insert(w []uint32) (id int, isNew bool) {
	k := s.ShardOf(w)
	row := w
	if s.stride > s.width {
		row = append(make([]uint32, 0, s.stride), w...)[:s.stride]
	}
	i, isNew := s.Shards[k].insert(row, s.width, hashWords(w))
	return i*len(s.Shards) + k, isNew
}

// insert adds a row, of which the first width words are the state.
func (sh *stateShard) insert(row []uint32, width int, h uint64) (int, bool) {
	w := row[:width]
	if 4*(sh.n+1) > 3*len(sh.slots) {
		sh.slots = grow(sh.slots, 64, hashInSlot, copySlot)
	}
	mask := uint64(len(sh.slots) - 1)
	i := h >> 32 & mask
	// The hash in the slot spares most looks at rows that are others: each would be a
	// place in memory that no cache has.
	for sh.slots[i] != 0 {
		if at := int(uint32(sh.slots[i]) - 1); sh.slots[i]>>32 == h>>32 && EqualWords(sh.row(at, len(row))[:width], w) {
			return at, false
		}
		i = (i + 1) & mask
	}
	sh.slots[i] = h>>32<<32 | uint64(sh.n+1)
	if sh.n&(pageStates-1) == 0 {
		sh.pages = append(sh.pages, nil)
		if sh.n > 0 {
			sh.pages[len(sh.pages)-1] = make([]uint32, 0, pageStates*len(row))
		}
	}
	last := len(sh.pages) - 1
	sh.pages[last] = append(sh.pages[last], row...)
	sh.n++
	return sh.n - 1, true
}

// Store adds rows to the shard that their states belong to. It looks at some together before
// it adds them: each look is at a place in memory that no cache has, and waiting for several
// at once takes no longer than for one.
func (s *States) Store(shard int, rows []uint32) {
	const together = 32
	var hashes, found [together]uint64
	sh, width, stride := &s.Shards[shard], s.width, s.stride
	for len(rows) > 0 {
		n := min(together, len(rows)/stride)
		mask := uint64(len(sh.slots) - 1)
		for i := range n {
			hashes[i] = hashWords(rows[i*stride : i*stride+width])
		}
		for i, h := range hashes[:n] { // nothing between the looks, so that none waits for another
			found[i] = sh.slots[h>>32&mask]
		}
		sum := uint32(0)
		for i := range n {
			if found[i]>>32 == hashes[i]>>32 && found[i] != 0 {
				sum += sh.row(int(uint32(found[i])-1), stride)[0]
			}
		}
		sh.looked = sum // so that the compiler does not leave out the looks
		for i := range n {
			sh.insert(rows[i*stride:(i+1)*stride], width, hashes[i])
		}
		rows = rows[n*stride:]
	}
}

// row returns a row of the shard.
func (sh *stateShard) row(at, stride int) []uint32 {
	i := (at & (pageStates - 1)) * stride
	return sh.pages[at>>pageBits][i : i+stride]
}

// EqualWords reports whether two rows of one width are equal.
func EqualWords(a, b []uint32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// Find returns the number of a stored state.
func (s *States) Find(w []uint32) (int, bool) {
	h := hashWords(w)
	k := s.ShardOf(w)
	sh := &s.Shards[k]
	mask := uint64(len(sh.slots) - 1)
	for i := h >> 32 & mask; sh.slots[i] != 0; i = (i + 1) & mask {
		at := int(uint32(sh.slots[i]) - 1)
		if sh.slots[i]>>32 == h>>32 && EqualWords(sh.row(at, s.stride)[:s.width], w) {
			return at*len(s.Shards) + k, true
		}
	}
	return 0, false
}

// Row returns a stored state.
func (s *States) Row(id int) []uint32 {
	return s.Shards[id%len(s.Shards)].row(id/len(s.Shards), s.stride)[:s.width:s.width]
}

// Parent returns the state of a tree from which another was found first; ok is false for a
// root.
func (s *States) Parent(id int) (parent int, ok bool) {
	word := s.Shards[id%len(s.Shards)].row(id/len(s.Shards), s.stride)[s.width]
	return int(word) - 1, word != 0
}

// Levels returns what tells the level of a state of a tree: that of a root is 0.
func (s *States) Levels() func(id int) int {
	after := make([]int32, s.Span()) // its level, and 1; 0: not known yet
	return func(id int) int {
		var way []int
		for ok := true; ok && after[id] == 0; {
			way = append(way, id)
			if parent, has := s.Parent(id); has {
				id = parent
			} else {
				ok = false
			}
		}
		n := after[id]
		for _, id := range slices.Backward(way) {
			n++
			after[id] = n
		}
		return int(n) - 1
	}
}

// Sizes returns how many states each shard holds.
func (s *States) Sizes() []int {
	n := make([]int, len(s.Shards))
	for i := range s.Shards {
		n[i] = s.Shards[i].n
	}
	return n
}

// A Batch is some states of one shard that lie together.
type Batch struct {
	rows          []uint32
	first         int // number of the first
	step          int // from one to the next
	width, stride int
}

// Len counts the states of a batch.
func (b *Batch) Len() int { return len(b.rows) / b.stride }

// NewBatch returns a batch of one state, which is not stored in a set, with a number.
func NewBatch(id int, row []uint32) Batch {
	return Batch{rows: row, first: id, width: len(row), stride: len(row)}
}

// At returns the number and the words of state i of a batch.
func (b *Batch) At(i int) (id int, row []uint32) {
	return b.first + i*b.step, b.rows[i*b.stride : i*b.stride+b.width]
}

// Batches cuts what came after the given sizes into pieces of at most size states, and
// lists them by shard.
func (s *States) Batches(after []int, size int) [][]Batch {
	out := make([][]Batch, len(s.Shards))
	for k := range s.Shards {
		sh := &s.Shards[k]
		for at := after[k]; at < sh.n; {
			n := min(size, sh.n-at, pageStates-(at&(pageStates-1)))
			i := (at & (pageStates - 1)) * s.stride
			out[k] = append(out[k], Batch{
				rows: sh.pages[at>>pageBits][i : i+n*s.stride], width: s.width, stride: s.stride,
				first: at*len(s.Shards) + k, step: len(s.Shards),
			})
			at += n
		}
	}
	return out
}

// Len counts the states.
func (s *States) Len() int {
	n := 0
	for i := range s.Shards {
		n += s.Shards[i].n
	}
	return n
}

// Span is one more than the highest number of a state.
func (s *States) Span() int {
	m := 0
	for i := range s.Shards {
		if n := s.Shards[i].n; n > 0 {
			m = max(m, (n-1)*len(s.Shards)+i+1)
		}
	}
	return m
}

// Has reports whether id numbers a state.
func (s *States) Has(id int) bool { return id/len(s.Shards) < s.Shards[id%len(s.Shards)].n }

// Bytes is the memory that the set takes; nil takes none.
func (s *States) Bytes() int {
	b := 0
	if s == nil {
		return b
	}
	for i := range s.Shards {
		b += 8 * cap(s.Shards[i].slots)
		for _, p := range s.Shards[i].pages {
			b += 4 * cap(p)
		}
	}
	return b
}
