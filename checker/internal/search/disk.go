package search

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/runs"
	"lockpick/checker/internal/table"
)

// A Disk says where an exploration keeps states that memory has no room for.
type Disk struct {
	// Dir is a directory of this exploration's own, which is made where it is missing.
	Dir string
	// Bytes bounds what is written there; 0 means not.
	Bytes int64
	// Resume goes on where an exploration ended that worked in Dir, however it ended.
	Resume bool
	// Program, when not empty, names the program by its contents: what another one has found is not
	// taken up.
	Program string
	// room, when positive, is how much memory there is for what follows from a level.
	room int
}

// A diskSearch covers a space level by level, as [Explorer.Explore] does, with its states in sorted
// runs on disk: a level is read in order, what follows from it is sorted, and what was there
// before is taken out by reading both side by side. In memory are what was learned, all machines,
// and as much of what follows as there is room for.
//
// It works alone, so that numbers are given in an order that depends on nothing else. States
// on disk consist of numbers, and after an interruption everything that has one is made again: by
// expanding once more, in their order, the states by which something new was learned. They are
// kept beside the others ([diskSearch.log]).
type diskSearch struct {
	x      *Explorer
	c      *Coverage
	w      *worker
	limit  *limit
	o      Limits
	d      Disk
	folder *runs.Folder
	set    *runs.Set
	next   *runs.Sorter
	log    learnLog
	// seen is the state in which a violation was seen first, or after one choice from it, at a
	// depth; nil for none.
	seen      []uint32
	seenDepth uint32
	done      bool // there are no states left
}

// ExploreOnDisk is [Explorer.Explore] for spaces that are larger than memory. An error leaves
// behind what can be resumed, and so does a limit. The caller removes the directory.
func (x *Explorer) ExploreOnDisk(ctx context.Context, o Limits, d Disk) (c *Coverage, err error) {
	if x.Sc.External || x.Reduce {
		return nil, fmt.Errorf("checker: %s: states go to disk neither for real programs nor with symmetry: explore in memory", x.Sc.ID)
	}
	if o.States == 0 {
		o.States = math.MaxInt
	}
	s := &diskSearch{x: x, o: o, d: d, c: &Coverage{Violated: engine.Violated{}}}
	s.c.disk = s
	s.w = &worker{Expander: engine.NewExpander(x.Space), set: table.NewTree(x.Width(), 1), boxes: make([][]uint32, 1), violated: engine.Violated{}}
	if s.folder, err = runs.OpenFolder(d.Dir, x.Width(), d.Bytes); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, s.folder.Close()) }()
	s.limit = newLimit(ctx, o, s.bytes, nil)
	defer s.limit.release()
	if err := s.begin(d.Resume); err != nil {
		return nil, err
	}
	if err := errors.Join(s.cover(), s.log.f.Close()); err != nil {
		return nil, err
	}
	return s.c, x.conclude(ctx, s.c, s.w.Expander, 1)
}

// bytes is what the exploration takes in memory.
func (s *diskSearch) bytes() int { return s.x.Bytes(nil) + s.set.Bytes() + s.next.Bytes() }

// room is how much memory there is for what follows from a level. What was learned stays in memory
// too, and where it takes nearly all, the exploration ends.
func (s *diskSearch) room() int {
	if s.d.room > 0 {
		return s.d.room
	}
	return max(s.o.bytes()-s.x.Bytes(nil)-s.set.Bytes(), 0) / 2
}

// cover visits the states that are left, level by level.
func (s *diskSearch) cover() error {
	for !s.done {
		s.next = runs.NewSorter(s.folder, s.room())
		err := s.level()
		if errors.Is(err, runs.ErrFull) {
			s.limit.kind.CompareAndSwap(withinLimits, diskEnded)
		} else if err != nil {
			return err
		}
		if s.limit.hit() {
			if s.w.violations > 0 { // what was seen is never unknown, whatever ended
				s.c.collect([]*worker{s.w})
			}
			s.c.Why = s.limit.why(s.c, s.set.Frontier().Rows)
			s.c.Enough = s.limit.kind.Load() == enough
			return nil
		}
	}
	return nil
}

// lookEvery is how many states are expanded between two looks at the limits.
const lookEvery = 1 << 16

// level expands the states of the frontier, and makes what is new the next. When there is
// nothing, it is done. What a limit cuts short is not counted.
func (s *diskSearch) level() (err error) {
	at, err := s.set.Frontier().Read()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, at.Close()) }()
	for n := 0; ; n++ {
		if n%lookEvery == 0 {
			if s.look(n); s.limit.hit() {
				break
			}
		}
		ok, err := at.Next()
		if err != nil {
			return err
		}
		if !ok {
			break
		}
		if err := s.expand(at.Row); err != nil {
			return err
		}
	}
	if s.limit.hit() {
		return nil
	}
	s.c.collect([]*worker{s.w})
	s.c.Depth++
	added, err := s.set.AddNew(s.next, uint32(s.c.Depth))
	if err != nil {
		return err
	}
	s.done = !added
	return s.keep()
}

// look tells how far the exploration has come, and looks at the limits; n states of the level were
// expanded.
func (s *diskSearch) look(n int) {
	if s.o.Progress != nil {
		p := s.x.soFar(s.c, s.set.Frontier().Rows-n)
		p.Bytes = s.bytes()
		s.o.Progress(p)
	}
	states := s.set.Len()
	if s.limit.check(states, s.c.Violations+s.w.violations > 0); s.x.Bytes(nil) > s.o.bytes()/8*7 {
		s.limit.kind.CompareAndSwap(withinLimits, bytesEnded)
	}
}

// expand adds what follows from a state. What taught something new is noted.
func (s *diskSearch) expand(row []uint32) error {
	b := table.NewBatch(0, row)
	violations := s.w.violations
	if s.w.run(&b); s.w.err != nil {
		return s.w.err
	}
	if s.w.violations > violations && s.seen == nil {
		s.seen, s.seenDepth = slices.Clone(row), uint32(s.c.Depth)
	}
	if err := s.log.learned(s.x, s.w, row); err != nil {
		return err
	}
	box := s.w.boxes[0]
	for width := len(row); len(box) > 0; box = box[width+1:] { // each with its parent
		if err := s.next.Add(box[:width]); err != nil {
			return err
		}
	}
	s.w.boxes[0] = s.w.boxes[0][:0]
	return nil
}

// rows are the states on the way to where a violation was seen: each is looked for among those that
// are one step nearer to the start.
func (s *diskSearch) rows() ([][]uint32, error) {
	out := [][]uint32{s.seen}
	for depth := s.seenDepth; depth > 0; depth-- {
		row, err := s.before(out[len(out)-1], depth-1)
		if err != nil {
			return nil, err
		}
		out = append(out, row)
	}
	slices.Reverse(out)
	return out, nil
}

// before finds a state at a depth from which one step leads to another.
func (s *diskSearch) before(to []uint32, depth uint32) ([]uint32, error) {
	for _, r := range s.set.Runs() {
		c, err := r.Read()
		if err != nil {
			return nil, err
		}
		row, err := s.leadsTo(c, to, depth)
		if err := errors.Join(err, c.Close()); err != nil || row != nil {
			return row, err
		}
	}
	return nil, fmt.Errorf("checker: %s: nothing leads to a state that was found at depth %d: this is a fault of lockpick", s.x.Sc.ID, depth+1)
}

func (s *diskSearch) leadsTo(c *runs.Cursor, to []uint32, depth uint32) ([]uint32, error) {
	for {
		ok, err := c.Next()
		if !ok || err != nil {
			return nil, err
		}
		if c.Depth != depth {
			continue
		}
		if err := s.w.Expand(c.Row); err != nil {
			return nil, err
		}
		for i := range s.w.Out {
			if !s.w.Out[i].Bad && table.EqualWords(s.w.State(&s.w.Out[i]), to) {
				return slices.Clone(c.Row), nil
			}
		}
	}
}
