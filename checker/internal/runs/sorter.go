package runs

import (
	"cmp"
	"errors"
	"fmt"
	"math/bits"
	"slices"

	"lockpick/checker/internal/table"
)

// A Sorter takes rows in any order, any number of times, and gives back each once, in order. What
// it has no room for in memory goes to the disk.
type Sorter struct {
	folder *Folder
	set    *table.States
	// rows were added and are not in the set yet: so many are stored together. Each is compared with
	// what is at a place in memory that no cache has, and waiting for several at once takes no longer
	// than for one.
	rows     []uint32
	together int
	// room is how many bytes it may take, and most how many rows there were when that was looked
	// at last, and have to be when it is looked at again.
	room, most int
	spills     []*Run
}

// NewSorter returns a sorter that takes about so many bytes of memory.
func NewSorter(f *Folder, room int) *Sorter {
	return &Sorter{folder: f, set: table.NewStates(f.width, 1), room: room, together: 1 << 10}
}

// measureEvery is how many rows are stored between two counts of the memory: counting takes a while.
const measureEvery = 1 << 12

// sortBytes is what sorting takes for each row.
const sortBytes = 16

// Add adds a row.
func (s *Sorter) Add(row []uint32) error {
	if s.rows = append(s.rows, row...); len(s.rows) < s.together*s.folder.width {
		return nil
	}
	return s.store()
}

// store stores the rows that were added last.
func (s *Sorter) store() error {
	s.set.Store(0, s.rows)
	if s.rows = s.rows[:0]; s.set.Len() < s.most {
		return nil
	}
	if s.most = s.set.Len() + measureEvery; s.Bytes() < s.room {
		return nil
	}
	return s.spill()
}

// Bytes is the memory that it takes.
func (s *Sorter) Bytes() int { return s.set.Bytes() + sortBytes*s.set.Len() }

// A sortKey is a row to be sorted: as many of its first words as there is room for, one behind the
// other, and its number. Most comparisons need no look at the row, which is at a place in memory that
// no cache has.
type sortKey struct {
	head uint64
	id   int32
}

// sorted lists the rows in memory in order.
func (s *Sorter) sorted() []sortKey {
	n := s.set.Len()
	all := make([]uint32, s.folder.width) // the bits that some row has, by word
	var row, other []uint32
	for id := range n {
		row = s.set.Row(id, row)
		for i, w := range row {
			all[i] |= w
		}
	}
	shifts, left := make([]int, 0, len(all)), 64
	for _, w := range all {
		if left -= bits.Len32(w); left < 0 {
			break
		}
		shifts = append(shifts, left)
	}
	keys := make([]sortKey, n)
	for id := range keys {
		keys[id].id = int32(id)
		row = s.set.Row(id, row)
		for i, shift := range shifts {
			keys[id].head |= uint64(row[i]) << shift
		}
	}
	slices.SortFunc(keys, func(a, b sortKey) int {
		if a.head != b.head || len(shifts) == len(all) {
			return cmp.Compare(a.head, b.head)
		}
		row, other = s.set.Row(int(a.id), row), s.set.Row(int(b.id), other)
		return compare(row, other)
	})
	return keys
}

// spill writes the rows in memory to the disk.
func (s *Sorter) spill() error {
	w, err := s.folder.Create(fmt.Sprintf("spill-%d", len(s.spills)))
	if err != nil {
		return err
	}
	var row []uint32
	for _, k := range s.sorted() {
		row = s.set.Row(int(k.id), row)
		if err := w.Add(row, 0); err != nil {
			return errors.Join(err, w.Abandon())
		}
	}
	r, err := w.finish()
	if err != nil {
		return err
	}
	s.spills = append(s.spills, r)
	s.set, s.most = table.NewStates(s.folder.width, 1), 0
	return nil
}

// Each calls visit with each row that was added, once and in order, and forgets them all. Rows are
// valid until visit returns.
func (s *Sorter) Each(visit func(row []uint32) error) error {
	if err := s.store(); err != nil {
		return err
	}
	if len(s.spills) == 0 {
		var row []uint32
		for _, k := range s.sorted() {
			row = s.set.Row(int(k.id), row)
			if err := visit(row); err != nil {
				return err
			}
		}
		return s.clear()
	}
	if err := s.spill(); err != nil {
		return err
	}
	m, err := Merge(s.spills)
	if err != nil {
		return err
	}
	for m.Row() != nil && err == nil {
		if err = visit(m.Row()); err == nil {
			err = m.Next()
		}
	}
	if err := errors.Join(err, m.Close()); err != nil {
		return err
	}
	return s.clear()
}

// clear forgets all rows.
func (s *Sorter) clear() error {
	for _, r := range s.spills {
		if err := s.folder.Remove(r.Name); err != nil {
			return err
		}
	}
	s.set, s.most, s.spills = table.NewStates(s.folder.width, 1), 0, nil
	return nil
}
