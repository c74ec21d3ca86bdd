package search

import (
	"math"
	"slices"

	"lockpick/sched"
)

// Shrink makes a failing schedule smaller: fewer faults, then fewer preemptions, then
// fewer steps. It works on blocks, runs of one choice, and tries to leave out halves of them,
// quarters and so on, then one or two, to move a block up to another of the same task, and to
// shorten or lengthen it. What is left undone is done by run-to-completion. The result breaks
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
		blocks := toBlocks(best.Schedule)
		better := false
		for _, candidate := range candidates(blocks) {
			if runs--; runs < 0 {
				return best, nil
			}
			o, err := t.Run(&blockStrategy{blocks: candidate}, false)
			if err != nil {
				return best, err
			}
			if o.Broken && o.Cost.Less(best.Cost) {
				best, better = o, true
				break
			}
		}
		if !better {
			return best, nil
		}
	}
}

// A block is a run of equal choices.
type block struct {
	choice sched.Choice
	n      int
}

func toBlocks(s sched.Schedule) []block {
	var out []block
	for _, c := range s {
		if k := len(out) - 1; k >= 0 && out[k].choice == c && c.Action == sched.Run {
			out[k].n++
		} else {
			out = append(out, block{c, 1})
		}
	}
	return out
}

// candidates lists smaller variants of a schedule, the boldest first.
func candidates(b []block) [][]block {
	var out [][]block
	without := func(drop ...int) []block {
		var c []block
		for i := range b {
			keep := true
			for _, d := range drop {
				keep = keep && i != d
			}
			if keep {
				c = append(c, b[i])
			}
		}
		return c
	}
	for size := len(b) / 2; size > 1; size /= 2 { // long runs have few blocks that matter
		for i := 0; i < len(b); i += size {
			out = append(out, slices.Concat(b[:i], b[min(i+size, len(b)):]))
		}
	}
	for i := range b {
		for j := i + 1; j < len(b); j++ {
			out = append(out, without(i, j))
		}
	}
	for i := range b {
		out = append(out, without(i))
	}
	for i := range b { // join with the next block of the same task
		for j := i + 1; j < len(b); j++ {
			if b[j].choice == b[i].choice && b[i].choice.Action == sched.Run {
				c := without(j)
				c[i].n += b[j].n
				out = append(out, c)
				d := without(i)
				d[j-1].n += b[i].n
				out = append(out, d)
				break
			}
		}
	}
	for i := range b {
		if b[i].choice.Action != sched.Run {
			continue
		}
		for _, n := range []int{b[i].n - 1, b[i].n + 1, b[i].n * 2} {
			if n > 0 {
				c := without()
				c[i].n = n
				out = append(out, c)
			}
		}
	}
	return out
}

// blockStrategy follows blocks as far as they are possible, then the baseline.
type blockStrategy struct {
	blocks   []block
	at, done int
	buf      []sched.Choice
}

// Next implements sched.Strategy.
func (s *blockStrategy) Next(v *sched.View) (sched.Choice, error) {
	s.buf = v.Options(s.buf[:0])
	for s.at < len(s.blocks) {
		b := s.blocks[s.at]
		if s.done < b.n {
			for _, c := range s.buf {
				if c == b.choice {
					s.done++
					return c, nil
				}
			}
		}
		s.at, s.done = s.at+1, 0
	}
	return sched.RunToCompletion{}.Next(v)
}
