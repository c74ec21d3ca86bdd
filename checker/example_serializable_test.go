package checker_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
)

// A counter that is read and then written, with no lock and no operation recorded: what two of them leave behind is
// compared with what they leave behind one after the other.
func Example_serializable() {
	count := func(t *scenarios.Task) {
		text, _ := t.ReadFile("/tmp/n")
		n, _ := strconv.Atoi(string(text))
		_ = t.WriteFile("/tmp/n", []byte(strconv.Itoa(n+1)), 0o644)
	}
	sc := &scenarios.Scenario{
		ID:      "mine/counter/contend",
		Setting: scenarios.Setting{Processes: 2},
		Program: func(process, task int) scenarios.Program { return count },
		Claims:  []scenarios.Claim{{Property: scenarios.Serializable, Verdict: scenarios.Broken}},
	}
	r, err := checker.Check(context.Background(), sc, scenarios.Serializable, checker.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(r.Verdict, r.Counterexample.Schedule)
	for _, row := range report.TableOf(r.Counterexample) {
		fmt.Println(strings.Join(row, " | "))
	}
	// Output:
	// broken A1 B5 A4
	//  | here | A then B | B then A
	// tmp/n | "1" | "2" | "2"
}
