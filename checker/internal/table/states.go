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

// The states of a shard lie in pages, in the order in which they came. A level of the exploration is a range of them. The
// first ones are held as they are. When there are more, they are packed: one sees by then how much of each word there is to keep.
type stateShard struct {
	pages  []page
	slots  slots
	n      int
	looked uint32
	_      [parallel.CacheLine]byte
}

// pageStates is how many states a page holds; the first page of a shard grows up to it.
const (
	pageBits   = 12
	pageStates = 1 << pageBits
	// plainStates is how many states a shard holds that are not packed.
	plainStates = 4 * pageStates
)

// NewStates returns an empty set of rows of so many words, in so many shards.
func NewStates(width, shards int) *States { return newStates(width, width, shards) }

// NewTree is NewStates for rows with one word more, which says from which state each was found
// first; it is 1 more than that state's number, or 0 for a root. See [States.Parent].
func NewTree(width, shards int) *States { return newStates(width, width+1, shards) }

func newStates(width, stride, shards int) *States {
	s := &States{width: width, stride: stride, Shards: make([]stateShard, shards)}
	for i := range s.Shards {
		s.Shards[i].slots = make(slots, leastSlots)
	}
	return s
}

func hashWords(w []uint32) uint64 {
	h := uint64(0x9e3779b97f4a7c15)
	for ; len(w) >= 2; w = w[2:] {
		h = (h ^ (uint64(w[0]) | uint64(w[1])<<32)) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
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
	sh.slots = sh.slots.withRoom(sh.n)
	i := sh.slots.home(h)
	for ; sh.slots[i] != 0; i = sh.slots.after(i) {
		if is(sh.slots[i], h) {
			if at := entry(sh.slots[i]); sh.same(at, row[:width]) {
				return at, false
			}
		}
	}
	sh.slots[i] = slotOf(h, sh.n)
	sh.add(row)
	return sh.n - 1, true
}

// add stores a new row.
func (sh *stateShard) add(row []uint32) {
	last := len(sh.pages) - 1
	switch {
	case last < 0:
		sh.pages = []page{{stride: len(row)}}
		last = 0
	case sh.n < plainStates && sh.n&(pageStates-1) == 0:
		sh.pages = append(sh.pages, page{stride: len(row), words: make([]uint32, 0, pageStates*len(row))})
		last++
	case sh.n&(pageStates-1) == 0:
		if sh.n == plainStates {
			for i := range sh.pages {
				p := &sh.pages[i]
				*p = p.laid(p.tight(), pageStates)
			}
		}
		sh.pages = append(sh.pages, sh.pages[last].after(pageStates))
		last++
	}
	sh.pages[last].add(row, pageStates)
	sh.n++
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
		for i := range n {
			hashes[i] = hashWords(rows[i*stride : i*stride+width])
		}
		for i, h := range hashes[:n] { // nothing between the looks, so that none waits for another
			found[i] = sh.slots[sh.slots.home(h)]
		}
		sum := uint32(0)
		for i := range n {
			if is(found[i], hashes[i]) {
				sum += sh.look(entry(found[i]))
			}
		}
		sh.looked = sum // so that the compiler does not leave out the looks
		for i := range n {
			sh.insert(rows[i*stride:(i+1)*stride], width, hashes[i])
		}
		rows = rows[n*stride:]
	}
}

// in returns where in which page a row of the shard is.
func (sh *stateShard) in(at int) (*page, int) { return &sh.pages[at>>pageBits], at & (pageStates - 1) }

// look looks at a row.
func (sh *stateShard) look(at int) uint32 {
	p, i := sh.in(at)
	if p.layout == nil {
		return p.words[i*p.stride]
	}
	return uint32(p.packed[i*p.bytes])
}

// same reports whether a row of the shard begins with these words.
func (sh *stateShard) same(at int, words []uint32) bool {
	p, i := sh.in(at)
	return p.same(i, words)
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
	for i := sh.slots.home(h); sh.slots[i] != 0; i = sh.slots.after(i) {
		if is(sh.slots[i], h) {
			if at := entry(sh.slots[i]); sh.same(at, w) {
				return at*len(s.Shards) + k, true
			}
		}
	}
	return 0, false
}

// Row returns the words of a stored state, in room for them where it is large enough.
func (s *States) Row(id int, room []uint32) []uint32 {
	return s.row(id, slices.Grow(room[:0], s.width)[:s.width])
}

func (s *States) row(id int, into []uint32) []uint32 {
	p, i := s.Shards[id%len(s.Shards)].in(id / len(s.Shards))
	p.row(i, into)
	return into
}

// Parent returns the state of a tree from which another was found first; ok is false for a
// root.
func (s *States) Parent(id int) (parent int, ok bool) {
	word := s.row(id, make([]uint32, s.stride))[s.width]
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
			b += p.room()
		}
	}
	return b
}
