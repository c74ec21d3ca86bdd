package history

import (
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/model"
)

// Two histories that differ in nothing but how many operations had returned when one began, 1
// or 257: only in the second must "no" come after the key was added.
func TestManyOperationsAreCounted(t *testing.T) {
	build := func(before int) *Recorder {
		h := NewRecorder(2)
		for i := range 257 {
			if i == before {
				h.Invoke(1, 4*i, model.Contains{Key: "x"})
			}
			if i == 255 {
				h.Invoke(0, 4*i+1, model.Add{Key: "x"})
				h.Return(0, 4*i+2, model.Added{})
			} else {
				h.Invoke(0, 4*i+1, model.Contains{Key: "x"})
				h.Return(0, 4*i+2, model.Found{Yes: i > 255})
			}
		}
		if before == 257 {
			h.Invoke(1, 4*257, model.Contains{Key: "x"})
		}
		h.Return(1, 4*258, model.Found{})
		return h
	}
	judge := NewJudge(model.Set())
	require.True(t, judge.OK(build(1).Ops))
	require.False(t, judge.OK(build(257).Ops))
	require.Equal(t, 2, judge.Distinct())
}
