package report

import (
	"fmt"
	"slices"

	"lockpick/checker"
	"lockpick/checker/trace"
)

// A BesideRow is a row of a run that stands beside another one.
type BesideRow struct {
	Row
	Name string // of who acts; empty for a fault of the machine
	// Files are what has become another with the row.
	Files []string
	// New: the other run has no such call.
	New bool
}

// Beside are the short stories of a counterexample and of the run with a change that mends it: on the right stands what
// corresponds to the left, and what the change adds.
func Beside(r *checker.Result) (left, right []BesideRow) {
	cx, with := r.Counterexample, r.Counterexample.Beside
	chart := NewChart(r.Scenario, cx)
	short := chart.folded(cx.Cycle, shortRows)
	mended := newRunChart(with.Scenario, with.Run)
	told, made := map[string]bool{}, map[string]bool{}
	for _, row := range chart.Rows {
		key, flags := besideKey(chart.Walk, row.N)
		made[key+flags] = true
	}
	for _, row := range short.Rows {
		key, _ := besideKey(chart.Walk, row.N)
		told[key] = told[key] || row.Folded == 0
	}
	isNew := func(n int) bool {
		key, flags := besideKey(mended.Walk, n)
		return !made[key+flags]
	}
	for _, row := range mended.Rows {
		locks := func(call trace.Call) bool { return call.Op.Call.IsLock() }
		key, _ := besideKey(mended.Walk, row.N)
		if told[key] || isNew(row.N) && slices.ContainsFunc(mended.Walk.Steps[row.N-1].Calls, locks) {
			mended.Named = append(mended.Named, row.N)
		}
	}
	left, right = besideRows(short), besideRows(mended.folded(0, shortRows+4))
	for i := range right {
		right[i].New = right[i].Folded == 0 && isNew(right[i].N)
	}
	return left, right
}

// besideKey is what corresponds in two runs: who makes which call on which name, and with which flags.
func besideKey(w *trace.Walk, n int) (key, flags string) {
	st := &w.Steps[n-1]
	key = st.Choice.String() + " " + st.Names()
	for i, targets := range st.Targets {
		for _, t := range targets {
			key += " " + w.Names.Short(t.Path)
		}
		flags += fmt.Sprint(" ", st.Calls[i].Op.Flags)
	}
	return key, flags
}

func besideRows(c *Chart) (rows []BesideRow) {
	for _, r := range c.Rows {
		b := BesideRow{Row: r}
		if r.Lane >= 0 {
			b.Name = c.Lanes[r.Lane].Name
		}
		for i, f := range r.Files {
			if f.Changed {
				b.Files = append(b.Files, c.Files[i]+" "+f.Text)
			}
		}
		rows = append(rows, b)
	}
	return rows
}
