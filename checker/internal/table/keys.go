package table

import "encoding/binary"

// A Keys numbers byte strings in the order in which they come. They lie side by side
// in pages that hold no pointers, so millions of them cost the garbage collector nothing.
// The zero value is empty.
type Keys struct {
	pages [][]byte
	keys  []keyPlace // by number
	slots slots
	bytes int
}

type keyPlace struct{ page, from, to uint32 }

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
	t.slots = t.slots.withRoom(len(t.keys))
	h := hashBytes(key)
	id, i, ok := t.look(key, h)
	if ok {
		return id, false
	}
	t.slots[i] = slotOf(h, len(t.keys))
	t.add(key)
	return uint32(len(t.keys) - 1), true
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
	last := len(t.pages) - 1
	if last < 0 || len(t.pages[last])+len(key) > cap(t.pages[last]) {
		size := min(keyPage, max(1024, t.bytes)) // small tables take little
		t.pages = append(t.pages, make([]byte, 0, max(size, len(key))))
		last++
		t.bytes += cap(t.pages[last])
	}
	from := len(t.pages[last])
	t.pages[last] = append(t.pages[last], key...)
	t.keys = append(t.keys, keyPlace{uint32(last), uint32(from), uint32(from + len(key))})
}

// Key returns the key with a number. It must not be changed, and stays as it is.
func (t *Keys) Key(id uint32) []byte {
	k := t.keys[id]
	return t.pages[k.page][k.from:k.to:k.to]
}

// Len is how many keys there are.
func (t *Keys) Len() int { return len(t.keys) }

// Bytes is the memory that the table takes, in bytes.
func (t *Keys) Bytes() int { return t.bytes + 12*cap(t.keys) + 8*len(t.slots) }
