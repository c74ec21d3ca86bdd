package saved

import (
	"strconv"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/sched"
)

// A Recipe is a schedule, with the call of each step where they are known.
type Recipe struct {
	Schedule sched.Schedule
	// Calls are as report.CallsOf lists them, or nil.
	Calls []string
}

// RecipeOf is the schedule that broke the property, with its calls. A bundle that has no
// part for them has them in its trace, while that is the one that broke it.
func RecipeOf(b *report.BundleFile) Recipe {
	r := Recipe{Schedule: b.Schedule, Calls: b.Calls}
	if r.Calls == nil && b.Verdict == checker.Broken {
		r.Calls = callsOfTrace(b.Trace, len(b.Schedule))
	}
	return r
}

// callsOfTrace reads the calls of n steps from the text of a trace, or returns nil.
func callsOfTrace(text string, n int) []string {
	calls := make([]string, n)
	for _, line := range strings.Split(text, "\n") {
		number, rest, _ := strings.Cut(line, " ")
		step, err := strconv.Atoi(number)
		if err != nil || step < 1 || step > n {
			return nil
		}
		if k := strings.LastIndex(rest, " ->"); k >= 0 {
			rest = rest[:k]
		}
		who, call, _ := strings.Cut(rest, " ")
		if calls[step-1] != "" {
			calls[step-1] += "; " + call
		} else {
			calls[step-1] = who + " " + call
		}
	}
	return calls
}
