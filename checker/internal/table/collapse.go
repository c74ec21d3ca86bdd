package table

import (
	"bytes"
	"encoding/binary"
)

// A Collapse numbers keys that are made of parts, in the order in which they come. Each distinct part is stored once, and of
// a key the numbers of its parts: of a million keys that differ in one part or two from others there are few parts
// (Holzmann, State compression in SPIN, 1997, calls that COLLAPSE). Equal keys must have equal parts.
type Collapse struct {
	parts, keys Keys
	packed      []byte // the numbers of one key
}

// NewCollapse returns a table that is empty.
func NewCollapse() *Collapse {
	return &Collapse{keys: Keys{passes: 3}} // which are short
}

// A Split is a key that is made of parts.
type Split struct {
	Key     []byte
	Ends    []int    // where each part ends
	numbers []uint32 // of the parts, once the table has seen the key
}

// ID returns the number of a key, and whether it is new. like is a key that the table has seen, with which this may have parts in
// common at the same places; looking there comes before looking among all. It may be nil.
func (t *Collapse) ID(key, like *Split) (id uint32, isNew bool) {
	t.number(key, like)
	return t.keys.ID(t.packed)
}

// Find returns the number of a key that is there. It stores its parts.
func (t *Collapse) Find(key, like *Split) (id uint32, ok bool) {
	t.number(key, like)
	return t.keys.Find(t.packed)
}

func (t *Collapse) number(key, like *Split) {
	key.numbers, t.packed = key.numbers[:0], t.packed[:0]
	for i := range key.Ends {
		var n uint32
		part := key.part(i)
		if like != nil && i < len(like.numbers) && bytes.Equal(part, like.part(i)) {
			n = like.numbers[i]
		} else {
			n, _ = t.parts.ID(part)
		}
		key.numbers = append(key.numbers, n)
		if n < 0x80 {
			t.packed = append(t.packed, byte(n))
		} else {
			t.packed = binary.AppendUvarint(t.packed, uint64(n))
		}
	}
}

func (s *Split) part(i int) []byte {
	if i == 0 {
		return s.Key[:s.Ends[0]]
	}
	return s.Key[s.Ends[i-1]:s.Ends[i]]
}

// Get puts the key with a number in place of another.
func (t *Collapse) Get(id uint32, key *Split) {
	key.Key, key.Ends, key.numbers = key.Key[:0], key.Ends[:0], key.numbers[:0]
	for packed := t.keys.Key(id); len(packed) > 0; {
		part, n := uint64(packed[0]), 1
		if part >= 0x80 {
			part, n = binary.Uvarint(packed)
		}
		packed = packed[n:]
		key.Key = append(key.Key, t.parts.Key(uint32(part))...)
		key.Ends = append(key.Ends, len(key.Key))
		key.numbers = append(key.numbers, uint32(part))
	}
}

// Len is how many keys there are.
func (t *Collapse) Len() int { return t.keys.Len() }

// Bytes is the memory that the table takes, in bytes.
func (t *Collapse) Bytes() int { return t.keys.Bytes() + t.parts.Bytes() }
