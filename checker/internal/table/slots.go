package table

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
