package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"

	"github.com/spf13/cobra"

	"lockpick/checker/real"
	"lockpick/scenarios"
)

// The exit codes.
const (
	ExitAsClaimed = 0
	ExitDiffers   = 1
	ExitUsage     = 2
	ExitUnknown   = 3
)

// Main is the main function of a lockpick command for a list of scenarios. It does not
// return. The first interrupt ends the work under way and prints what was covered, the
// second ends the program.
func Main(list []scenarios.Scenario) {
	real.Worker(list) // does not return in a process that replay --real has started
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	context.AfterFunc(ctx, stop)
	os.Exit(Run(ctx, list, os.Args[1:], os.Stdout, os.Stderr, os.Getenv))
}

// Run runs one command line and returns its exit code. env looks up an environment
// variable; nil means that none is set.
func Run(ctx context.Context, list []scenarios.Scenario, args []string, stdout, stderr io.Writer, env func(string) string) (exit int) {
	if env == nil {
		env = func(string) string { return "" }
	}
	a := &app{scenarios: list, stdout: stdout, stderr: stderr, env: env}
	root := a.command()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	if err := root.ExecuteContext(ctx); err != nil {
		a.complain(err)
		return ExitUsage
	}
	return a.exit
}

// An app is one run of the command line.
type app struct {
	scenarios []scenarios.Scenario
	stdout    io.Writer
	stderr    io.Writer
	env       func(string) string
	exit      int
}

// command builds the tree of commands.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   "lockpick",
		Short: "Find the interleaving, crash or stall that breaks a file lock, or show that none does",
		Long: `lockpick runs file-lock protocols on a fake machine where every system call is a
scheduling point, and shows which interleaving, crash or stall breaks them, or that
none does within the bounds.

Exit codes: 0 all verdicts as claimed, 1 some verdict differs, 2 usage or bad input,
3 some verdict unknown and none differs.`,
		SilenceUsage: true, SilenceErrors: true,
		DisableSuggestions: true,
		Args:               cobra.NoArgs,
		RunE:               func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(a.listCommand(), a.checkCommand(), a.explainCommand(), a.replayCommand(), a.sampleCommand(), a.mergeCommand())
	return root
}

// complain writes an error as one line.
func (a *app) complain(err error) {
	var e *silent
	if errors.As(err, &e) {
		return
	}
	a.note("%s", oneLine(err.Error()))
}

// note writes one line of diagnostics.
func (a *app) note(format string, args ...any) {
	_, _ = fmt.Fprintf(a.stderr, "lockpick: "+format+"\n", args...)
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// silent is an error that has been reported already.
type silent struct{}

func (*silent) Error() string { return "reported" }

// worsen raises the exit code: a differing verdict counts more than an unknown one.
func (a *app) worsen(code int) {
	rank := [...]int{ExitAsClaimed: 0, ExitUnknown: 1, ExitDiffers: 2, ExitUsage: 3}
	if rank[code] > rank[a.exit] {
		a.exit = code
	}
}
