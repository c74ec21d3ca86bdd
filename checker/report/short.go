package report

import (
	"cmp"
	"slices"
	"strings"

	"lockpick/checker/trace"
	"lockpick/fsfake"
)

// A race of five calls takes real programs hundreds of calls. What a chart of a long run shows is the short story: the
// calls that the cause names, and those by which files and locks become others.

const (
	// shortRows is how many rows the short story has at most.
	shortRows = 12
	// wholeRows is how many rows a chart of Go functions may have that is shown whole.
	wholeRows = 20
)

// How much a row says: rows of a lower rank are kept first.
const (
	ofEnd     = iota // it goes wrong here
	ofCause          // the cause names it, or it is a fault
	ofFiles          // a file that is shown becomes another
	ofLock           // a lock is asked for, or a command ends
	ofLook           // something is read, or is not there
	ofNothing        // anything else: it is left out
)

// folded returns the short story of a long run, with so many rows at most, but for the last rows, which are a cycle.
func (c *Chart) folded(cycle, rows int) *Chart {
	switch {
	case c.Programs:
		c = c.foldedOwn(cycle)
	case len(c.Rows) <= wholeRows:
		return c
	}
	return c.short(cycle, rows)
}

// short returns the chart with the rows that tell most, n at most, and how many steps are left out before each.
func (c *Chart) short(cycle, n int) *Chart {
	if len(c.Rows) <= n {
		return c
	}
	var order []int
	for i := range c.Rows {
		if c.rank(i, cycle) < ofNothing {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Or(c.rank(a, cycle)-c.rank(b, cycle), c.far(a)-c.far(b))
	})
	kept := order[:min(n, len(order))]
	slices.Sort(kept)
	s := *c
	s.Rows = nil
	before, next := c.First, 1
	preempted := -1 // the lane that an elided row has preempted another one for
	for i, row := range c.Rows {
		if !slices.Contains(kept, i) {
			if row.Preempts {
				preempted = row.Lane
			}
			continue
		}
		row.Skipped, next = row.N-next, row.N+max(row.Folded, 1)
		row.Preempts = row.Preempts || preempted == row.Lane && row.Lane >= 0
		preempted = -1
		row.Files = slices.Clone(row.Files)
		for k := range row.Files {
			row.Files[k].Changed = row.Files[k].Text != before[k].Text
		}
		before = row.Files
		s.Rows = append(s.Rows, row)
	}
	return &s
}

// rank is how much a row says.
func (c *Chart) rank(i, cycle int) int {
	r := &c.Rows[i]
	changed := func(f FileCell) bool { return f.Changed && !strings.HasSuffix(f.Text, " touched") }
	switch {
	case r.Wrong || i == len(c.Rows)-1:
		return ofEnd
	case r.Fault || r.Clash || slices.Contains(c.Named, r.N):
		return ofCause
	case r.Folded > 0:
		return ofNothing
	case i >= len(c.Rows)-cycle || slices.ContainsFunc(r.Files, changed):
		return ofFiles
	}
	st := &c.Walk.Steps[r.N-1]
	if setsAttrs(st) {
		return ofFiles
	}
	for _, call := range st.Calls {
		switch {
		case call.Op.Call.IsLock() || call.Op.Call == fsfake.CallEnd:
			return ofLock
		case c.rest(r.N - 1):
		case call.Result.Errno != 0 || call.Op.Call.Is(fsfake.Reads):
			return ofLook
		}
	}
	return ofNothing
}

// rest reports whether a step reads what is left behind what its task has just read of the file: the end of a line, or
// that there is no more.
func (c *Chart) rest(step int) bool {
	behind := func(n int) (*trace.Call, int) { // the call of a step, and the description that it is on
		call, targets := c.Walk.Steps[n].Only()
		if len(targets) != 1 {
			return nil, 0
		}
		return call, targets[0].Desc
	}
	call, desc := behind(step)
	if desc == 0 || call.Op.Call != fsfake.CallRead || strings.TrimSpace(call.Result.Data) != "" {
		return false
	}
	for step--; step >= 0; step-- {
		if before, on := behind(step); on == desc {
			return before.Op.Call == fsfake.CallRead && before.Result.Data != ""
		}
	}
	return false
}

// far is how many rows lie between a row and the nearest one that the cause names.
func (c *Chart) far(i int) int {
	far := len(c.Rows)
	for k := range c.Rows {
		if slices.Contains(c.Named, c.Rows[k].N) {
			far = min(far, max(i-k, k-i))
		}
	}
	return far
}
