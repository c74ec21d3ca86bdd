package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/term"

	"lockpick/checker"
	"lockpick/checker/real"
	"lockpick/scenarios"
	"lockpick/sched"
)

// kernelFlags say whether counterexamples are carried out on the real kernel, too.
type kernelFlags struct {
	real  bool
	times int
	// unasked: --real was not given, and is tried for a moment where somebody looks on.
	unasked bool
}

// moment is how long counterexamples are carried out unasked.
const moment = time.Second

// look makes it so that explain carries a counterexample out unasked on a terminal. What goes
// to a file or through a pipe stays the same on every machine.
func (f *kernelFlags) look(c *cobra.Command, a *app) {
	out, ok := a.stdout.(*os.File)
	f.unasked = !c.Flags().Changed("real") && ok && term.IsTerminal(int(out.Fd()))
}

// addKernelFlags adds --real and --times.
func addKernelFlags(c *cobra.Command) *kernelFlags {
	f := &kernelFlags{}
	c.Flags().BoolVar(&f.real, "real", false, "carry each counterexample out on the real kernel, with real processes, and compare every call (Linux)")
	c.Flags().IntVar(&f.times, "times", 20, "with --real, do so `N` times")
	return f
}

// validate refuses a number that makes no sense.
func (f *kernelFlags) validate(c *cobra.Command) error {
	if f.times < 1 || c.Flags().Changed("times") && !f.real {
		return fmt.Errorf("--times %d: choose 1 or more, with --real", f.times)
	}
	return nil
}

// confirm carries the counterexample of a result out on the real kernel, if that is asked,
// and writes into it what came of that. A kernel that answers otherwise than the fake machine
// makes the exit code that of a differing verdict.
//
// Unasked it is silent where it cannot be done, or not once in a moment.
func (f *kernelFlags) confirm(ctx context.Context, a *app, r *checker.Result) {
	if !f.real && !f.unasked || r.Counterexample == nil {
		return
	}
	if f.unasked {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, moment)
		defer cancel()
	}
	cx := r.Counterexample
	if cx.Cycle > 0 {
		if f.unasked {
			return
		}
		cx.Kernel = "not carried out on this kernel: what repeats for ever cannot be"
		return
	}
	done, same := 0, 0
	var last real.Report
	var differs string
	for range f.times {
		report, err := real.Replay(ctx, r.Scenario, r.Property, cx.Schedule)
		if err != nil && f.unasked {
			break
		}
		if err != nil {
			cx.Kernel = "not carried out on this kernel: " + oneLine(err.Error())
			return
		}
		last = report
		done++
		if len(report.Mismatches) == 0 {
			same++
		} else if differs == "" {
			differs = report.Mismatches[0].String()
		}
	}
	switch {
	case done == 0:
	case differs != "":
		cx.Kernel = fmt.Sprintf("differs on this kernel, %d of %d runs went as on the fake machine: %s", same, done, differs)
		a.worsen(ExitDiffers)
	case last.Broken:
		cx.Kernel = fmt.Sprintf("breaks on this kernel too, %d of %d: every answer is the same (%d calls, %d states of "+
			"the disk)%s",
			same, done, last.Compared, last.Disks, emulated(last.Emulated))
	default:
		cx.Kernel = fmt.Sprintf("as on this kernel, %d of %d: every answer is the same (%d calls, %d states of the disk); whether it breaks there was not asked%s",
			same, done, last.Compared, last.Disks, emulated(last.Emulated))
	}
}

// onDisk replays a schedule on the real disk, times over, and says in a line how often
// every call and the whole disk came out as on the fake. A run that differs is shown and
// makes the exit code that of a differing verdict.
func (a *app) onDisk(
	ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, s sched.Schedule, times int,
) error {
	same := 0
	var last real.Report
	for range times {
		r, err := real.Replay(ctx, sc, p, s)
		if err != nil {
			return fmt.Errorf("--real: %w", err)
		}
		last = r
		if len(r.Mismatches) == 0 {
			same++
			continue
		}
		for _, m := range r.Mismatches {
			a.note("real: %s", m)
		}
	}
	verdict := "is the same on the real disk"
	if last.Broken {
		verdict = "breaks " + p.ID + " on the real disk"
	}
	if same < times {
		a.worsen(ExitDiffers)
		verdict = "differs on the real disk"
	}
	_, err := fmt.Fprintf(a.stdout,
		"\nreal    %s: %d of %d runs went as on the fake; %d calls and %d states of the disk compared%s\n",
		verdict, same, times, last.Compared, last.Disks, emulated(last.Emulated))
	return err
}

// emulated lists what could not be real.
func emulated(counts map[string]int) string {
	var words []string
	for call, n := range counts { // order does not matter: the words are sorted
		words = append(words, fmt.Sprintf("%s %d", call, n))
	}
	if len(words) == 0 {
		return ""
	}
	slices.Sort(words)
	return "; answered by the fake: " + strings.Join(words, ", ")
}
