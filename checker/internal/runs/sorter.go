package runs

import (
	"errors"
	"fmt"
	"slices"

	"lockpick/checker/internal/table"
)

// A Sorter takes rows in any order, any number of times, and gives back each once, in order. What
// it has no room for in memory goes to the disk.
type Sorter struct {
	folder *Folder
	set    *table.States
	// room is how many bytes it may take, and most how many rows there were when that was looked
	// at last, and have to be when it is looked at again.
	room, most int
	spills     []*Run
}

// NewSorter returns a sorter that takes about so many bytes of memory.
func NewSorter(f *Folder, room int) *Sorter {
	return &Sorter{folder: f, set: table.NewStates(f.width, 1), room: room}
}

// lookEvery is how many rows are added between two looks at the memory: counting takes a while.
const lookEvery = 1 << 12

// sortBytes is what sorting takes for each row.
const sortBytes = 4

// Add adds a row.
func (s *Sorter) Add(row []uint32) error {
	id, isNew := s.set.Insert(row)
	if !isNew || id < s.most {
		return nil
	}
	s.most = id + lookEvery
	if s.set.Bytes()+sortBytes*id < s.room {
		return nil
	}
	return s.spill()
}

// Bytes is the memory that it takes.
func (s *Sorter) Bytes() int { return s.set.Bytes() + sortBytes*s.set.Len() }

// sorted lists the rows in memory in order.
func (s *Sorter) sorted() []int32 {
	ids := make([]int32, s.set.Len())
	for i := range ids {
		ids[i] = int32(i)
	}
	slices.SortFunc(ids, func(a, b int32) int { return slices.Compare(s.set.Row(int(a)), s.set.Row(int(b))) })
	return ids
}

// spill writes the rows in memory to the disk.
func (s *Sorter) spill() error {
	w, err := s.folder.Create(fmt.Sprintf("spill-%d", len(s.spills)))
	if err != nil {
		return err
	}
	for _, id := range s.sorted() {
		if err := w.Add(s.set.Row(int(id)), 0); err != nil {
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
	if len(s.spills) == 0 {
		for _, id := range s.sorted() {
			if err := visit(s.set.Row(int(id))); err != nil {
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
