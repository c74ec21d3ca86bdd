package report_test

import (
	"context"
	"fmt"

	"lockpick/checker"
	"lockpick/checker/internal/toys"
	"lockpick/checker/report"
	"lockpick/scenarios"
)

// decided checks the toy that looks first and creates afterwards.
func decided() (checker.Result, error) {
	sc := toys.All()[0]
	return checker.Check(context.Background(), &sc, scenarios.MutualExclusion, checker.Options{})
}

// The command that shows a counterexample again.
func ExampleReplayCommand() {
	r, err := decided()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(report.ReplayCommand(&r, report.Options{}))
	// Output: lockpick replay toy/look/contend 'A1 B4 A3'
}
