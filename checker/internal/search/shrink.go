package search

import (
	"iter"
	"math"
	"slices"

	"lockpick/sched"
)

// Shrink makes a failing schedule smaller: fewer faults, then fewer preemptions, then
// fewer steps, and the kind stays. It works on blocks, runs of one choice, and tries to leave out halves of them,
// quarters and so on, then two of them where there are not too many, then one, to move a block up
// to another of the same task, and to shorten or lengthen it. What is left undone is done by run-to-completion. The result breaks
// the property, and none of these changes makes it smaller: a local minimum, which the
// exploration of the graph can better.
func (t *Tester) Shrink(best Outcome) (Outcome, error) { return t.shrink(best, math.MaxInt) }

// ShrinkABit makes a failing schedule as small as some hundred runs can make it.
func (t *Tester) ShrinkABit(s sched.Schedule) (sched.Schedule, error) {
	o, err := t.Run(sched.Replay{Schedule: s}, false)
	if err != nil || !o.Broken {
		return s, err
	}
	o, err = t.shrink(o, 500)
	return o.Schedule, err
}

func (t *Tester) shrink(best Outcome, runs int) (Outcome, error) {
	for {
		better := false
		for candidate := range smallerBlocks(blocksOf(best.Schedule)) {
			if runs--; runs < 0 {
				return best, nil
			}
			o, err := t.Run(&blockStrategy{blocks: candidate}, false)
			if err != nil {
				return best, err
			}
			if o.Broken && o.Kind == best.Kind && o.Cost.Less(best.Cost) {
				best, better = o, true
				break
			}
		}
		if !better {
			return best, nil
		}
	}
}

// A block is N equal choices in a row.
type block struct {
	Choice sched.Choice
	N      int
}

// blocksOf returns the blocks of a schedule. Faults are blocks by themselves.
func blocksOf(s sched.Schedule) []block {
	var out []block
	for _, c := range s {
		if k := len(out) - 1; k >= 0 && out[k].Choice == c && c.Action == sched.Run {
			out[k].N++
		} else {
			out = append(out, block{c, 1})
		}
	}
	return out
}

// manyBlocks is more blocks than a schedule has whose pairs are tried: pairs are as many as the
// square of the blocks, and a run that polls for long has thousands of blocks.
const manyBlocks = 128

// smallerBlocks yields smaller variants of a schedule, the boldest first. They are made one at a
// time, as each is as long as the schedule.
func smallerBlocks(b []block) iter.Seq[[]block] {
	return func(yield func([]block) bool) {
		_ = withoutParts(b, yield) && withoutPairs(b, yield) && withoutOne(b, yield) &&
			joinedBlocks(b, yield) && resized(b, yield)
	}
}

// withoutParts leaves out halves, quarters and so on: long runs have few blocks that matter.
func withoutParts(b []block, yield func([]block) bool) bool {
	for size := len(b) / 2; size > 1; size /= 2 {
		for i := 0; i < len(b); i += size {
			if !yield(slices.Concat(b[:i], b[min(i+size, len(b)):])) {
				return false
			}
		}
	}
	return true
}

func withoutPairs(b []block, yield func([]block) bool) bool {
	if len(b) > manyBlocks {
		return true
	}
	for i := range b {
		for j := i + 1; j < len(b); j++ {
			if !yield(slices.Concat(b[:i], b[i+1:j], b[j+1:])) {
				return false
			}
		}
	}
	return true
}

func withoutOne(b []block, yield func([]block) bool) bool {
	for i := range b {
		if !yield(slices.Concat(b[:i], b[i+1:])) {
			return false
		}
	}
	return true
}

// joinedBlocks joins a block with the next block of the same task, at either place.
func joinedBlocks(b []block, yield func([]block) bool) bool {
	for i := range b {
		k := slices.IndexFunc(b[i+1:], func(n block) bool { return n.Choice == b[i].Choice })
		if k < 0 || b[i].Choice.Action != sched.Run {
			continue
		}
		j := i + 1 + k
		first := slices.Concat(b[:j], b[j+1:])
		first[i].N += b[j].N
		second := slices.Concat(b[:i], b[i+1:])
		second[j-1].N += b[i].N
		if !yield(first) || !yield(second) {
			return false
		}
	}
	return true
}

// resized shortens or lengthens a block, by much first: that of whoever polls has thousands of steps.
func resized(b []block, yield func([]block) bool) bool {
	for i := range b {
		if b[i].Choice.Action != sched.Run {
			continue
		}
		var sizes []int
		for less := b[i].N / 2; less > 0; less /= 2 {
			sizes = append(sizes, b[i].N-less)
		}
		for _, n := range append(sizes, b[i].N+1, b[i].N*2) {
			c := slices.Clone(b)
			c[i].N = n
			if !yield(c) {
				return false
			}
		}
	}
	return true
}

// A blockStrategy follows blocks as far as they are possible, then the baseline.
type blockStrategy struct {
	blocks []block

	at, done int
	buf      []sched.Choice
}

// Next implements sched.Strategy.
func (s *blockStrategy) Next(v *sched.View) (sched.Choice, error) {
	s.buf = v.Options(s.buf[:0])
	for s.at < len(s.blocks) {
		b := s.blocks[s.at]
		if s.done < b.N {
			for _, c := range s.buf {
				if c == b.Choice {
					s.done++
					return c, nil
				}
			}
		}
		s.at, s.done = s.at+1, 0
	}
	return sched.RunToCompletion{}.Next(v)
}
