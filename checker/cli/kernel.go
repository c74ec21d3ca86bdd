package cli

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/real"
)

// kernelFlags say whether counterexamples are carried out on the real kernel, too.
type kernelFlags struct {
	real  bool
	times int
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
func (f *kernelFlags) confirm(ctx context.Context, a *app, r *checker.Result) {
	if !f.real || r.Counterexample == nil {
		return
	}
	cx := r.Counterexample
	if cx.Cycle > 0 {
		cx.Kernel = "not carried out on this kernel: what repeats for ever cannot be"
		return
	}
	same := 0
	var last real.Report
	var differs string
	for range f.times {
		report, err := real.Replay(ctx, r.Scenario, r.Property, cx.Schedule)
		if err != nil {
			cx.Kernel = "not carried out on this kernel: " + oneLine(err.Error())
			return
		}
		last = report
		if len(report.Mismatches) == 0 {
			same++
		} else if differs == "" {
			differs = report.Mismatches[0].String()
		}
	}
	switch {
	case differs != "":
		cx.Kernel = fmt.Sprintf("differs on this kernel, %d of %d runs went as on the fake machine: %s", same, f.times, differs)
		a.worsen(ExitDiffers)
	case last.Broken:
		cx.Kernel = fmt.Sprintf("confirmed on this kernel, %d of %d: it breaks there too, every answer is the same (%d calls, %d states of the disk)%s",
			same, f.times, last.Compared, last.Disks, emulated(last.Emulated))
	default:
		cx.Kernel = fmt.Sprintf("as on this kernel, %d of %d: every answer is the same (%d calls, %d states of the disk); whether it breaks there was not asked%s",
			same, f.times, last.Compared, last.Disks, emulated(last.Emulated))
	}
}
