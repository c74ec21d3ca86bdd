package report

import (
	"fmt"
	"strings"

	"lockpick/checker/trace"
	"lockpick/model"
	"lockpick/scenarios"
)

// judge marks the step of the chart that breaks a property, and says how.
func (c *Chart) judge(sc *scenarios.Scenario, cx *trace.Counterexample) {
	if len(c.Rows) == 0 {
		c.Wrong = Visible(strings.Join(trace.WaitTexts(cx.Waits), "; "))
		return
	}
	last := &c.Rows[len(c.Rows)-1]
	// What is wrong with the graph is what comes, or does not, after the last step.
	wrong := last
	if cx.Blamed > 0 {
		wrong = &c.Rows[cx.Blamed-1]
	}
	wrong.Wrong = cx.Property.Judgement() != scenarios.ByGraph
	held := cx.Trace[len(cx.Trace)-1].Holders
	clash := trace.Clashing(held)
	lock := ""
	if clash != nil {
		held, lock = clash, c.Walk.Names.Shorten(clash[0].Lock)
	}
	c.Wrong = Visible(cx.Property.Told(scenarios.Violation{
		Holders: trace.HolderTexts(held), Clash: clash != nil, Lock: lock,
		Answer: c.answerText(sc, cx, wrong.N), Cycle: cx.Cycle, Said: trace.NamesOf(sc).Shorten(cx.Said),
	}))
}

// answerText is the operation that returned with a step.
func (c *Chart) answerText(sc *scenarios.Scenario, cx *trace.Counterexample, step int) string {
	last := cx.Trace[step-1]
	for i := step - 1; i >= 0; i-- {
		if st := &cx.Trace[i]; st.Invoked != nil && st.Choice.Task == last.Choice.Task {
			if spec := &cx.Property.Spec; spec.Apply != nil && spec.Accepts(st.Invoked) && last.Returned != nil {
				text := strings.ReplaceAll(spec.DescribeOperation(st.Invoked, last.Returned), "->", "→")
				return ofLocks(c.Walk.Names, st.Invoked, text)
			}
			break
		}
	}
	return fmt.Sprintf("step %d of %s", last.N, sc.ID)
}

// ofLocks shortens the name of its lock in the text of an operation, where there are several.
func ofLocks(names trace.Names, input any, text string) string {
	if lockOf(input) == "" {
		return text
	}
	return names.Shorten(text)
}

// lockOf names the lock that an operation is of, where there are several: " /x.lock".
func lockOf(input any) string {
	if name, _ := model.LockOf(input); name != "" {
		return " " + name
	}
	return ""
}
