package table

import "encoding/binary"

// A Keys numbers byte strings in the order in which they come. They lie side by side, each behind its length,
// in pages that hold no pointers, so millions of them cost the garbage collector nothing.
// The zero value is empty.
type Keys struct {
	pages  [][]byte
	places []keyPlace
	n      int
	slots  slots
	bytes  int
}

// A keyPlace is where a key lies, with its length.
type keyPlace struct{ page, from uint32 }

// keyPage is how many bytes a page holds; a longer key has a page of its own.
const keyPage = 1 << 16

// hashBytes is for tables in memory only: it may change.
func hashBytes(b []byte) uint64 {
	h := uint64(len(b)) * 0x9e3779b97f4a7c15
	for ; len(b) >= 8; b = b[8:] {
		h = (h ^ binary.LittleEndian.Uint64(b)) * 0xff51afd7ed558ccd
		h ^= h >> 32
	}
	for _, c := range b {
		h = (h ^ uint64(c)) * 0xc4ceb9fe1a85ec53
	}
	h ^= h >> 33
	h *= 0xc4ceb9fe1a85ec53
	return h ^ h>>29
}

// ID returns the number of a key, and whether it is new.
func (t *Keys) ID(key []byte) (id uint32, isNew bool) {
	t.slots = t.slots.withRoom(t.n)
	h := hashBytes(key)
	id, i, ok := t.look(key, h)
	if ok {
		return id, false
	}
	t.slots[i] = slotOf(h, t.n)
	t.add(key)
	return uint32(t.n - 1), true
}

// Find returns the number of a key that is there.
func (t *Keys) Find(key []byte) (id uint32, ok bool) {
	if len(t.slots) == 0 {
		return 0, false
	}
	id, _, ok = t.look(key, hashBytes(key))
	return id, ok
}

// look returns the number of a key, and the slot where it is or belongs.
func (t *Keys) look(key []byte, h uint64) (id uint32, slot int, ok bool) {
	i := t.slots.home(h)
	for ; t.slots[i] != 0; i = t.slots.after(i) {
		if is(t.slots[i], h) {
			if id := uint32(entry(t.slots[i])); string(t.Key(id)) == string(key) {
				return id, i, true
			}
		}
	}
	return 0, i, false
}

// add stores a new key.
func (t *Keys) add(key []byte) {
	last, need := len(t.pages)-1, len(key)+binary.MaxVarintLen64
	if last < 0 || len(t.pages[last])+need > cap(t.pages[last]) {
		size := min(keyPage, max(1024, t.bytes)) // small tables take little
		t.pages = append(t.pages, make([]byte, 0, max(size, need)))
		last++
		t.bytes += cap(t.pages[last])
	}
	t.places = append(t.places, keyPlace{uint32(last), uint32(len(t.pages[last]))})
	t.pages[last] = append(binary.AppendUvarint(t.pages[last], uint64(len(key))), key...)
	t.n++
}

// Key returns the key with a number. It must not be changed, and stays as it is.
func (t *Keys) Key(id uint32) []byte {
	place := t.places[id]
	page := t.pages[place.page][place.from:]
	n, w := binary.Uvarint(page)
	return page[w : w+int(n) : w+int(n)]
}

// Len is how many keys there are.
func (t *Keys) Len() int { return t.n }

// Bytes is the memory that the table takes, in bytes.
func (t *Keys) Bytes() int { return t.bytes + 8*cap(t.places) + 8*len(t.slots) }

// An Interner gives equal comparable values one small number, in order of arrival.
type Interner struct {
	ids    map[any]uint32
	Values []any
}

// NewInterner returns an interner that has seen nothing.
func NewInterner() *Interner { return &Interner{ids: map[any]uint32{}} }

// ID returns the number of a value, from 0.
func (t *Interner) ID(v any) uint32 {
	if id, ok := t.ids[v]; ok {
		return id
	}
	id := uint32(len(t.Values))
	t.ids[v] = id
	t.Values = append(t.Values, v)
	return id
}

// A slots is a hash table whose entries lie elsewhere, in the order in which they came. Each slot is an entry's number
// + 1, below the upper half of its hash; 0 is free. Slots stand in the order of these halves, as far as there is room;
// so a table that grows is read and written from one end to the other. The hash spares most looks at entries that are
// others: each would be a place in memory that no cache has.
type slots []uint64

// leastSlots is the size of the smallest table. Those of fewSlots double, larger ones grow by a half.
const (
	leastSlots = 64
	fewSlots   = 1 << 14
)

// home is where the slot of a hash belongs.
func (s slots) home(h uint64) int { return int((h >> 32) * uint64(len(s)) >> 32) }

// after is the slot that comes after another.
func (s slots) after(i int) int {
	if i++; i == len(s) {
		return 0
	}
	return i
}

// slotOf is the slot of entry n with a hash.
func slotOf(h uint64, n int) uint64 { return h>>32<<32 | uint64(n+1) }

// entry is the number of the entry in a slot that is not free.
func entry(slot uint64) int { return int(uint32(slot)) - 1 }

// is reports whether a slot is taken by an entry that has, as far as the slot tells, a hash.
func is(slot, h uint64) bool { return slot>>32 == h>>32 && slot != 0 }

// withRoom returns the table with room for one more than n entries.
func (s slots) withRoom(n int) slots {
	if 4*(n+1) <= 3*len(s) {
		return s
	}
	size := max(leastSlots, 2*len(s))
	if len(s) >= fewSlots {
		size = len(s) + len(s)/2
	}
	to := make(slots, size)
	for _, slot := range s {
		if slot == 0 {
			continue
		}
		i := to.home(slot)
		for to[i] != 0 {
			i = to.after(i)
		}
		to[i] = slot
	}
	return to
}
