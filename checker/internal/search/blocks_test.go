package search

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/sched"
)

// A block of thousands of steps, of whoever polls, shrinks in few tries: one step less at a time takes a
// quarter of an hour where each try is a run of ten thousand steps.
func TestLongBlocksShrinkInFewTries(t *testing.T) {
	best, tries := []block{{sched.Choice{Action: sched.Run}, 9600}}, 0
	for better := true; better; {
		better = false
		resized(best, func(b []block) bool {
			tries++
			better = b[0].N >= 3 && b[0].N < best[0].N // three steps are needed
			if better {
				best = b
			}
			return !better
		})
	}
	require.Equal(t, 3, best[0].N)
	require.Less(t, tries, 200)
}

// A run that polls for long has thousands of blocks. What is tried of it grows with their number,
// not with its square, and is made one at a time: all at once it was more than there is memory.
func TestLongSchedulesHaveFewCandidates(t *testing.T) {
	var long sched.Schedule
	for i := range 600 { // several times manyBlocks: a square would be 180 000
		long = append(long, sched.Choice{Action: sched.Run, Task: sched.Task{Process: i % 2, N: 1}})
	}
	n := 0
	for c := range smallerBlocks(blocksOf(long)) {
		if len(c) > len(long) {
			t.Fatal("a candidate is longer than the schedule")
		}
		n++
	}
	require.Less(t, n, 10*len(long))
	short := 0
	for range smallerBlocks(blocksOf(long[:20])) {
		short++
	}
	require.Greater(t, short, 20*19/2, "of a short one, pairs are left out too")
}
