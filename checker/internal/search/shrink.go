package search

import (
	"math"

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
