package reference

import (
	"context"
	"fmt"
	"strings"

	"lockpick/checker"
	"lockpick/checker/parameterized"
	"lockpick/scenarios"
)

// FurtherPage is the name of the page that [Further] writes.
const FurtherPage = "one-step-further.md"

// A Widening is one more of something that a setting bounds.
type Widening struct {
	// Name heads its column.
	Name string
	take func(*scenarios.Setting)
}

// Widenings lists what a row that holds is tried with beyond its setting.
func Widenings() []Widening {
	return []Widening{
		{"one process more", func(s *scenarios.Setting) { s.Processes++ }},
		{"one crash more", func(s *scenarios.Setting) { s.Crashes++ }},
		{"one stall more", func(s *scenarios.Setting) {
			s.Stalls++
			if s.StallFor == 0 {
				s.StallFor = scenarios.DefaultStall
			}
		}},
	}
}

// Of returns the scenario one step further; the error says why there is none.
func (s Widening) Of(sc *scenarios.Scenario) (scenarios.Scenario, error) {
	st := sc.Setting
	s.take(&st)
	return sc.In(st)
}

// A Further is what became of a claim "holds" one step further.
type Further struct {
	Scenario *scenarios.Scenario
	Property *scenarios.Property
	// Found has a result for each of [Widenings], nil where there is none, and Why says why.
	Found []*checker.Result
	Why   []string
	Any   string // an [AnyCell]
}

// anyHead heads the column of what is proved for any number of processes.
const anyHead = "any number of processes"

// AnyCell says whether a claim that holds is proved for any number of processes, with any number of kills where its row
// has kills, or why not. Where one process more breaks it, as the cell of that says, there is nothing to prove.
func AnyCell(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, oneMore string) (string, error) {
	if sc.Setting.Alike() && parameterized.Asks(p) && strings.HasPrefix(oneMore, "✗") {
		return fmt.Sprintf("✗ %d processes break it", sc.Setting.Processes+1), nil
	}
	a, err := parameterized.Prove(ctx, sc, p)
	switch {
	case a.Proved && sc.Setting.Crashes > 0:
		return "✓ and of kills", err
	case a.Proved && a.Timed:
		return "✓ nobody is killed or delayed", err
	case a.Proved:
		return "✓ nobody is killed", err
	}
	return "· " + cell(a.Why), err
}

const anySentence = "The last column is proved, of processes that have no roles of their own: see [what \"holds\" " +
	"means](../holds.md#any-number-of-processes). "

// FurtherText is the page of the rows that hold, tried one step further with at most so many states.
func FurtherText(rows []Further, states int) string {
	var w, broken strings.Builder
	var count [3]int
	for _, row := range rows {
		fmt.Fprintf(&w, "| %s | %s |", row.Scenario.ID, row.Property)
		for i, r := range row.Found {
			text := "· " + cell(row.Why[i])
			if r != nil {
				count[r.Verdict]++
				text = furtherSign(r)
			}
			if r != nil && r.Verdict == checker.Broken {
				fmt.Fprintf(&broken, "- %s, %s: %s\n\n      %s\n\n", row.Scenario.ID, Widenings()[i].Name, r.Counterexample.Cause, replay(r))
			}
			w.WriteString(" " + text + " |")
		}
		w.WriteString(" " + row.Any + " |\n")
	}
	var head strings.Builder
	fmt.Fprintf(&head, "<!-- Generated: go test ./internal/reference -run TestOneStepFurther -reference.further -update -->\n\n# One step further\n\n"+
		"Every claim of the corpus that holds, tried with one process, one crash and one stall more than its row has, each up to %d states. "+
		"✓ holds (%d), ✗ broken (%d), ? larger than that (%d), · not asked. "+anySentence+
		"A row of gateguard that loses an update in a stall loses it as it is meant to: a session ends after 30 minutes, of which the property knows nothing.\n\n| row | property |", states, count[checker.Holds], count[checker.Broken], count[checker.Unknown])
	for _, s := range Widenings() {
		head.WriteString(" " + s.Name + " |")
	}
	head.WriteString(" " + anyHead + " |\n|---|---|" + strings.Repeat("---|", len(Widenings())+1) + "\n")
	return head.String() + w.String() + "\n## What breaks\n\n" + broken.String() + "[All shapes](README.md)\n"
}

func furtherSign(r *checker.Result) string {
	if r == nil {
		return ""
	}
	switch r.Verdict {
	case checker.Broken:
		return "✗ " + schedule(r)
	case checker.Holds:
		return "✓"
	}
	return "?"
}
