package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lockpick/checker/internal/watchdog"
	"lockpick/checker/real"
	"lockpick/checker/report"
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
// return. The first interrupt (SIGINT or SIGTERM) ends the work under way and prints what
// was covered, the second ends the program. The commands that it prints call the program as
// it was called.
func Main(list []scenarios.Scenario) {
	real.Worker() // does not return in a process that replay --real has started
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	a := &app{
		scenarios: list, stdout: os.Stdout, stderr: os.Stderr, env: os.Getenv, giveUp: os.Exit,
		grace: 1800 * time.Millisecond,
	}
	a.reserve()
	var typed string
	if len(os.Args) > 0 {
		typed = os.Args[0]
	}
	a.name, a.program = nameOf(typed), programText(typed, buildInfo())
	w, _ := watchdog.Start(func(err error) { // whoever waits for that program cannot be ended
		a.complain(err)
		os.Exit(ExitUsage)
	})
	a.scenarios = slices.Clone(list)
	for i := range a.scenarios {
		a.scenarios[i].Watchdog = w
	}
	os.Exit(a.run(ctx, os.Args[1:]))
}

// Run runs one command line and returns its exit code. env looks up an environment
// variable; nil means that none is set.
func Run(ctx context.Context, list []scenarios.Scenario, args []string, stdout, stderr io.Writer, env func(string) string) int {
	if env == nil {
		env = func(string) string { return "" }
	}
	a := &app{scenarios: list, stdout: stdout, stderr: stderr, env: env, name: "lockpick", program: "lockpick"}
	return a.run(ctx, args)
}

func (a *app) run(ctx context.Context, args []string) int {
	a.args = args
	root := a.command()
	root.SetArgs(args)
	root.SetOut(a.stdout)
	root.SetErr(a.stderr)
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
	// name is what help texts call the program, program how its reader calls it.
	name, program string
	args          []string  // as typed
	bar           *progress // what is shown now, or nil
	exit          int
	early         early  // what was found and has no final verdict yet
	untouched     []byte // reserved; see reserve
	// giveUp ends the program when work goes on for longer than grace after its time is over, or after an interrupt:
	// somebody waits then. It is nil for never.
	giveUp func(status int)
	grace  time.Duration
	// further is how long run looks for another counterexample when there is one; zero is a minute, less is
	// not at all.
	further time.Duration
}

// within has the program end soon after a context does, if by then nobody has called what it returns: what is under
// way may be an execution of a command, which nobody interrupts. What the program has started ends with it.
func (a *app) within(ctx context.Context) (done func()) {
	over := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		more := ""
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			more = ". Leave --timeout out, or give a longer one"
		}
		select {
		case <-over:
		case <-time.After(a.grace):
			if a.giveUp != nil {
				text, why := a.early.rest()
				_, _ = fmt.Fprint(a.stdout, text)
				a.complain(errors.New(why + more))
				a.giveUp(a.early.exit())
			}
		}
	})
	return func() {
		stop()
		close(over)
	}
}

// command builds the tree of commands.
func (a *app) command() *cobra.Command {
	root := &cobra.Command{
		Use:   a.name,
		Short: "Find the interleaving, crash or stall that breaks a file lock, or show that none does",
		Long: `lockpick runs file-lock protocols on a fake machine where every system call is a
scheduling point, and shows which interleaving, crash or stall breaks them, or that
none does within the bounds.

Exit codes: 0 all verdicts as claimed, 1 some verdict differs, 2 usage or bad input,
3 some verdict unknown and none differs.`,
		SilenceUsage: true, SilenceErrors: true,
		Version: versionText(buildInfo()),
		Args:    noCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetFlagErrorFunc(flagError)
	root.AddCommand(a.listCommand(), a.checkCommand(), a.explainCommand(), a.replayCommand(), a.runCommand(),
		a.repairCommand(), a.sampleCommand(), a.surveyCommand(), a.verifyCommand(), a.weighCommand(), a.manCommand())
	return root
}

// complain writes an error as one line, and each of several that were joined.
func (a *app) complain(err error) {
	joined, several := err.(interface{ Unwrap() []error })
	if !several {
		a.note("%s", oneLine(err.Error()))
		return
	}
	for _, err := range joined.Unwrap() {
		a.complain(err)
	}
}

// note writes one line of diagnostics.
func (a *app) note(format string, args ...any) {
	if a.bar != nil {
		a.bar.clear()
	}
	text := report.Visible(a.name + ": " + fmt.Sprintf(format, args...))
	if a.onTerminal() {
		text = strings.Join(a.style(a.stderr, 0).Lines(text), "\n")
	}
	_, _ = fmt.Fprintln(a.stderr, text)
}

// onTerminal reports whether diagnostics are read by a person.
func (a *app) onTerminal() bool {
	f, ok := a.stderr.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// worsen raises the exit code: a differing verdict counts more than an unknown one.
func (a *app) worsen(code int) {
	rank := [...]int{ExitAsClaimed: 0, ExitUnknown: 1, ExitDiffers: 2, ExitUsage: 3}
	if rank[code] > rank[a.exit] {
		a.exit = code
		a.early.broken(code == ExitDiffers)
	}
}
