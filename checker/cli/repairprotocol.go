package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/edits"
	"lockpick/checker/report"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
)

func (a *app) repairCommand() *cobra.Command {
	f, verbose := &weighFlags{}, false
	c := &cobra.Command{
		Use:   "repair SCENARIO",
		Short: "Find a small change of its calls that mends a broken protocol",
		Long: `Find a small change of its calls that mends a broken protocol in Go. Tried are, the smallest
first: O_EXCL, a comparison of descriptor and name after a lock, a private name that is
renamed, fsync; each call left out, made only if one's own file is there, or made one
later; a kernel lock around each operation, for as long as the lock is held, or from first
to last; and these locks with one or two calls more or less.

The first change that holds is the answer. It is decided by all that the scenario claims
something of, and with up to three processes. What is not broken without it must not be
with it: mutual exclusion, foreign release, deadlock, wedge also after a kill, and what
the other scenarios of the protocol claim. One after the other, processes must get what
they got before, and not all may be refused, so nobody is mended by refusing, by waiting
or by doing nothing. --verbose says why others do not hold.

Exit codes: 0 there is a change that holds, 1 none of those tried holds, 2 nothing is
broken or the arguments are wrong, 3 some were not decided and no other holds.`,
		Args: exactly(1, "SCENARIO"),
		RunE: func(c *cobra.Command, args []string) error {
			return a.repairProtocol(c.Context(), c, args[0], f, verbose)
		},
	}
	c.ValidArgsFunction = a.completeID(false)
	f.add(c, edits.RepairStates)
	c.Flags().BoolVar(&verbose, "verbose", false, "also say of each change that was tried why it does not hold")
	return c
}

func (a *app) repairProtocol(ctx context.Context, c *cobra.Command, id string, f *weighFlags, verbose bool) error {
	sc, ctx, done, err := f.start(ctx, a, c, id)
	if err != nil {
		return err
	}
	defer done()
	bar := a.newProgress(ctx, 0, false)
	defer bar.clear()
	o := checker.Options{States: f.maxStates, Progress: bar.follow}
	tried, open := 0, 0
	fix, err := edits.RepairProtocol(ctx, &sc, a.family(&sc), o, func(r edits.Repair) {
		bar.clear()
		if r.Open {
			open++
		}
		if tried++; r.Proof == "" && verbose {
			_, _ = fmt.Fprintf(a.stdout, "tried: %s: %s\n", report.Visible(r.Text), report.Visible(r.Why))
		}
	})
	switch {
	case errors.Is(err, edits.ErrHolds):
		return fmt.Errorf("%s: %w, so there is nothing to repair: \"%s weigh %s\" says which of its calls carry the proof",
			sc.ID, err, a.program, sc.ID)
	case err != nil:
		return a.cut(ctx, err, "no fix is known so far: it was stopped")
	case fix == nil && open > 0:
		a.worsen(ExitUnknown)
		_, err = fmt.Fprintf(a.stdout, "no fix is known: of %s, %d undecided (--max-states gives more); no other holds\n",
			numbers.Count(tried, "change", "changes"), open)
		return err
	case fix == nil:
		a.worsen(ExitDiffers)
		_, err = fmt.Fprintf(a.stdout, "no fix is known: none of %s holds\n", numbers.Count(tried, "change", "changes"))
		return err
	}
	before := numbers.Count(tried-1, "change was tried before it", "changes were tried before it")
	if open > 0 {
		before += fmt.Sprintf(", of which %d undecided (--max-states gives more)", open)
	}
	_, err = fmt.Fprintf(a.stdout, "a fix that holds: %s\n  decided: %s\n  %s\n", report.Visible(fix.Text),
		fix.Proof, before)
	if fix.Still != nil {
		_, _ = fmt.Fprintf(a.stdout, "  still broken: %s\n", strings.Join(fix.Still, ", "))
	}
	return err
}

// family lists the other rows of a scenario's protocol.
func (a *app) family(sc *scenarios.Scenario) (rows []scenarios.Scenario) {
	for i := range a.scenarios {
		if r := &a.scenarios[i]; r.ID != sc.ID && r.System() == sc.System() && r.Variant() == sc.Variant() {
			rows = append(rows, *r)
		}
	}
	return rows
}
