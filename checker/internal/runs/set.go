package runs

import (
	"errors"
	"fmt"
	"slices"
)

// A Set is rows that were added level by level. It is a list of runs, each larger than all that come
// after it, or nearly so: a run that is as large as the one before is merged with that. So
// there are few, and each row is written a few times only.
type Set struct {
	folder *Folder
	runs   []*Run
	made   int // runs by merging, for their names
	// frontier is what was added last. It is a run of the set, or is merged into one, and
	// then it has a file of its own all the same until something else is added.
	frontier *Run
}

// NewSet returns an empty set.
func NewSet(f *Folder) *Set { return &Set{folder: f} }

// A Listing names the files of a set. It is plain data.
type Listing struct {
	Runs     []string `json:"runs"`
	Made     int      `json:"made"`
	Frontier string   `json:"frontier"`
}

// Files are the names of the files in a listing, and of others that go with them.
func (l Listing) Files(others ...string) map[string]bool {
	files := map[string]bool{l.Frontier: true}
	for _, name := range append(others, l.Runs...) {
		files[name] = true
	}
	return files
}

// Listing names the files that the set is in now. Only these are needed.
func (s *Set) Listing() Listing {
	l := Listing{Made: s.made, Frontier: s.frontier.Name}
	for _, r := range s.runs {
		l.Runs = append(l.Runs, r.Name)
	}
	return l
}

// Reopen returns the set that a listing names.
func Reopen(f *Folder, l Listing) (*Set, error) {
	s := &Set{folder: f, made: l.Made}
	for _, name := range l.Runs {
		r, err := f.Open(name)
		if err != nil {
			return nil, err
		}
		if s.runs = append(s.runs, r); name == l.Frontier {
			s.frontier = r
		}
	}
	if s.frontier == nil {
		var err error
		if s.frontier, err = f.Open(l.Frontier); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Frontier is the run that was added last.
func (s *Set) Frontier() *Run { return s.frontier }

// Runs are all rows of the set, each in one of them.
func (s *Set) Runs() []*Run { return s.runs }

// Len counts the rows.
func (s *Set) Len() int {
	n := 0
	for _, r := range s.runs {
		n += r.Rows
	}
	return n
}

// Bytes is the memory that the set takes.
func (s *Set) Bytes() int {
	n := 0
	for _, r := range s.runs {
		n += r.Bytes()
	}
	return n
}

// AddNew adds what a sorter has and the set has not, as a level of its own: the frontier. It
// removes no file: those that are needed no more are not in the listing. When nothing is
// new, the set stays as it is and added is false.
func (s *Set) AddNew(from *Sorter, depth uint32) (added bool, err error) {
	w, err := s.folder.Create(fmt.Sprintf("level-%d", depth))
	if err != nil {
		return false, err
	}
	known, err := Merge(s.runs)
	if err == nil {
		err = from.Each(func(row []uint32) error {
			if err := known.Seek(row); err != nil {
				return err
			}
			if at := known.Row(); at != nil && slices.Equal(at, row) {
				return nil
			}
			return w.Add(row, depth)
		})
		err = errors.Join(err, known.Close())
	}
	if err != nil || w.run.Rows == 0 {
		return false, errors.Join(err, w.Abandon())
	}
	if s.frontier, err = w.Finish(); err != nil {
		return false, err
	}
	s.runs = append(s.runs, s.frontier)
	return true, s.settle()
}

// settle merges runs until each is more than twice as large as the next.
func (s *Set) settle() error {
	n := len(s.runs)
	first := n - 1
	rows := s.runs[first].Rows
	for first > 0 && s.runs[first-1].Rows <= 2*rows {
		first--
		rows += s.runs[first].Rows
	}
	if first == n-1 {
		return nil
	}
	s.made++
	w, err := s.folder.Create(fmt.Sprintf("levels-%d", s.made))
	if err != nil {
		return err
	}
	m, err := Merge(s.runs[first:])
	if err != nil {
		return errors.Join(err, w.Abandon())
	}
	for m.Row() != nil && err == nil {
		if err = w.Add(m.Row(), m.Depth()); err == nil {
			err = m.Next()
		}
	}
	if err := errors.Join(err, m.Close()); err != nil {
		return errors.Join(err, w.Abandon())
	}
	r, err := w.Finish()
	if err != nil {
		return err
	}
	s.runs = append(s.runs[:first:first], r)
	return nil
}
