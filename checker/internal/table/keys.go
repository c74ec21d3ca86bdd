package table

import "encoding/binary"

// A Keys numbers byte strings in the order in which they come. They lie side by side, each behind its length,
// in pages that hold no pointers, so millions of them cost the garbage collector nothing.
// The zero value is empty.
type Keys struct {
	pages  [][]byte
	places []keyPlace // of every key, or of one in 1<<passes
	passes uint8
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
	if t.n&(1<<t.passes-1) == 0 {
		t.places = append(t.places, keyPlace{uint32(last), uint32(len(t.pages[last]))})
	}
	t.pages[last] = append(binary.AppendUvarint(t.pages[last], uint64(len(key))), key...)
	t.n++
}

// Key returns the key with a number. It must not be changed, and stays as it is.
func (t *Keys) Key(id uint32) []byte {
	place := t.places[id>>t.passes]
	page, at := t.pages[place.page], int(place.from)
	for pass := id & (1<<t.passes - 1); ; pass-- { // over its neighbours
		if at == len(page) {
			place.page++
			page, at = t.pages[place.page], 0
		}
		n, w := uint64(page[at]), 1
		if n >= 0x80 {
			n, w = binary.Uvarint(page[at:])
		}
		from, to := at+w, at+w+int(n)
		if pass == 0 {
			return page[from:to:to]
		}
		at = to
	}
}

// Len is how many keys there are.
func (t *Keys) Len() int { return t.n }

// Bytes is the memory that the table takes, in bytes.
func (t *Keys) Bytes() int { return t.bytes + 8*cap(t.places) + 8*len(t.slots) }
