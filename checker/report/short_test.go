package report

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"lockpick/checker/trace"
	"lockpick/fsfake"
)

// programs is a chart of a real program with so many steps, each a read of one byte at a place of its own; those
// of changing change the file that is shown.
func programs(n int, changing, named []int) *Chart {
	c := &Chart{Walk: &trace.Walk{}, Lanes: []Lane{{}}, First: []FileCell{{Text: "at first"}}, Named: named,
		Programs: true}
	text := "at first"
	for i := 1; i <= n; i++ {
		st := trace.Walked{
			Step:    &trace.Step{N: i, Calls: []trace.Call{{Op: fsfake.Op{Call: fsfake.CallRead, FD: i}}}},
			Targets: [][]trace.Target{nil},
		}
		cell := FileCell{Text: text}
		for _, k := range changing {
			if k == i {
				text = fmt.Sprintf("after %d", i)
				cell = FileCell{Text: text, Changed: true}
			}
		}
		c.Walk.Steps = append(c.Walk.Steps, st)
		c.Rows = append(c.Rows, Row{N: i, Files: []FileCell{cell}, Preempts: i == 40, Wrong: i == n})
	}
	return c
}

// The short story has at most twelve rows: first what the cause names and the last step, then what changes the files.
func TestShortStory(t *testing.T) {
	for _, c := range []struct {
		name            string
		changing, named []int
		must            []int
	}{
		{"named", nil, []int{3, 50, 70}, []int{3, 50, 70, 100}},
		{"changes beside named", []int{10, 60}, []int{50}, []int{10, 50, 60, 100}},
		{"more changes than rows", []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 90}, []int{92},
			[]int{90, 92, 100}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := programs(100, c.changing, c.named).short(0, shortRows)
			require.Len(t, s.Rows, shortRows)
			next, shown := 1, map[int]bool{}
			for _, r := range s.Rows {
				require.Equal(t, r.N-next, r.Skipped)
				next = r.N + 1
				shown[r.N] = true
			}
			for _, n := range c.must {
				require.True(t, shown[n], "step %d", n)
			}
		})
	}
	require.Equal(t, programs(12, nil, nil), programs(12, nil, nil).short(0, shortRows), "what is short stays as it is")
}

// What stands at a name is told with the next row that is shown, although the step that put it there is not; so is that
// somebody was preempted.
func TestShortStoryCarriesOn(t *testing.T) {
	changing := []int{5}
	for n := 41; n < 60; n++ {
		changing = append(changing, n)
	}
	s := programs(100, changing, []int{90}).short(0, shortRows)
	require.NotEqual(t, 40, s.Rows[0].N)
	require.True(t, s.Rows[0].Preempts)
	require.True(t, s.Rows[0].Files[0].Changed)
}

// What a read finds behind what was read before tells nothing: the end of a line, the end of the file. An empty
// file does.
func TestShortStoryLeavesOutTheRestOfAFile(t *testing.T) {
	c := &Chart{Walk: &trace.Walk{}}
	read := func(desc int, call fsfake.Call, data string) {
		st := trace.Walked{
			Step: &trace.Step{N: len(c.Rows) + 1, Calls: []trace.Call{{Op: fsfake.Op{Call: call},
				Result: fsfake.Result{Data: data}}}},
			Targets: [][]trace.Target{{{Desc: desc}}},
		}
		c.Walk.Steps = append(c.Walk.Steps, st)
		c.Rows = append(c.Rows, Row{N: st.N})
	}
	read(7, fsfake.CallRead, "0")
	read(7, fsfake.CallRead, "\n")
	read(8, fsfake.CallRead, "") // of an empty file
	read(7, fsfake.CallRead, "")
	read(7, fsfake.CallLseek, "")
	read(7, fsfake.CallRead, "") // it is empty now
	read(9, fsfake.CallRead, "end")
	var ranks []int
	for i := range c.Rows[:6] {
		ranks = append(ranks, c.rank(i, 0))
	}
	require.Equal(t, []int{ofLook, ofNothing, ofLook, ofNothing, ofNothing, ofLook}, ranks)
}
