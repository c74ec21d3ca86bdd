package cli_test

import (
	"context"
	"fmt"
	"os"

	"lockpick/checker/cli"
	"lockpick/checker/internal/toys"
)

// Run runs one command line for a list of scenarios of one's own. A main function calls
// Main, which does it with the arguments of the process.
func ExampleRun() {
	exit := cli.Run(context.Background(), toys.All(), []string{"list", "toy/excl"}, os.Stdout, os.Stderr, os.Getenv)
	fmt.Println("exit code", exit)
	// Output:
	// toy
	//   excl/contend  ✓ mutual-exclusion  ✓ foreign-release  2 processes
	//     Create or fail: one call.
	//   excl/crash    ✓ mutual-exclusion  ✗ wedge  2 processes, up to 1 crash
	//     Create or fail, and one process may be killed.
	// exit code 0
}
