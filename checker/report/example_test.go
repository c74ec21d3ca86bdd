package report_test

import (
	"context"
	"fmt"
	"os"

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

// The sequence diagram of a counterexample, which GitHub renders in a block of Markdown.
func ExampleMermaid() {
	r, err := decided()
	if err == nil {
		err = report.Mermaid(os.Stdout, &r, report.Options{})
	}
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// sequenceDiagram
	//     participant TA1 as A (pid 101)
	//     participant TB1 as B (pid 102)
	//     participant F1 as lock
	//     TA1-xF1: 1. stat lock ENOENT
	//     Note over TB1: preempts
	//     TB1-xF1: 2. stat lock ENOENT
	//     TB1->>F1: 3. open lock O_CREAT|O_TRUNC = fd 3
	//     Note over F1: #35;1 empty
	//     TB1->>F1: 4. write fd 3 "B" = 1
	//     Note over F1: #35;1 "B"
	//     TB1->>F1: 5. close fd 3 ok
	//     activate TB1
	//     Note over TB1: holds
	//     Note over TA1: preempts
	//     TA1->>F1: 6. open lock O_CREAT|O_TRUNC = fd 3
	//     Note over F1: #35;1 empty
	//     TA1->>F1: 7. write fd 3 "A" = 1
	//     Note over F1: #35;1 "A"
	//     rect rgba(200, 40, 40, 0.18)
	//     TA1->>F1: 8. close fd 3 ok
	//     activate TA1
	//     Note over TA1: holds
	//     end
	//     Note over TA1,F1: ✗ A and B both hold the lock
	//     Note over TA1,F1: lockpick replay toy/look/contend 'A1 B4 A3'
	//     deactivate TA1
	//     deactivate TB1
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
