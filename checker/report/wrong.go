package report

import (
	"fmt"
	"strings"

	"lockpick/checker/trace"
	"lockpick/scenarios"
)

// Judge marks the step of the chart that breaks a property, and says how.
func (c *Chart) Judge(sc *scenarios.Scenario, cx *trace.Counterexample) {
	if len(c.Rows) == 0 {
		c.Wrong = strings.Join(trace.WaitTexts(cx.Waits), "; ")
		return
	}
	last := &c.Rows[len(c.Rows)-1]
	last.Wrong = true
	held := c.holders(last)
	switch {
	case cx.Property == scenarios.Wedge:
		last.Wrong = false
		c.Wrong = "every process has ended or died, and nobody can ever acquire again"
	case cx.Property == scenarios.Deadlock:
		last.Wrong = false
		c.Wrong = "nobody can move any more"
	case cx.Property == scenarios.Starvation:
		last.Wrong = false
		c.Wrong = fmt.Sprintf("the last %d steps can repeat for ever", cx.Cycle)
	case cx.Property == scenarios.ForeignRelease:
		what := "the lock"
		if len(c.Files) > 0 {
			what = c.Files[0]
		}
		c.Wrong = fmt.Sprintf("%s holds, but what stands at %s is not the file it acquired", strings.Join(held, " and "), what)
	case cx.Property == scenarios.MutualExclusion && len(held) > 1:
		both := " both hold"
		if len(held) > 2 {
			both = " all hold"
		}
		c.Wrong = strings.Join(held, " and ") + both + " the lock"
	default:
		c.Wrong = c.answerText(sc, cx) + ": no order of the operations explains this answer"
	}
}

// holders names the lanes that hold after a row.
func (c *Chart) holders(r *Row) []string {
	var out []string
	for i, h := range r.Holding {
		if h {
			out = append(out, c.Lanes[i].Name)
		}
	}
	return out
}

// answerText is the operation that returned with the last step.
func (c *Chart) answerText(sc *scenarios.Scenario, cx *trace.Counterexample) string {
	last := cx.Trace[len(cx.Trace)-1]
	for i := len(cx.Trace) - 1; i >= 0; i-- {
		if st := &cx.Trace[i]; st.Invoked != nil && st.Choice.Task == last.Choice.Task {
			if spec, ok := cx.Property.Spec(); ok && spec.Accepts(st.Invoked) && last.Returned != nil {
				return strings.ReplaceAll(spec.DescribeOperation(st.Invoked, last.Returned), "->", "→")
			}
			break
		}
	}
	return fmt.Sprintf("step %d of %s", last.N, sc.ID)
}
