package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/edits"
	"lockpick/checker/report"
	"lockpick/checker/report/site"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
)

// repairFlags are the flags of repair.
type repairFlags struct {
	weighFlags
	verbose, json bool
	html          string
}

func (a *app) repairCommand() *cobra.Command {
	f := &repairFlags{}
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
		Args: oneScenario,
		RunE: func(c *cobra.Command, args []string) error {
			return a.repairProtocol(c.Context(), c, args[0], f)
		},
	}
	c.ValidArgsFunction = a.completeID(false)
	f.add(c, edits.RepairStates)
	c.Flags().BoolVar(&f.json, "json", false, "write JSON: the fix, and what was tried")
	c.Flags().StringVar(&f.html, "html", "", "write a static web site to `DIR`: what is broken, and what the fix "+
		"makes of it")
	c.Flags().BoolVar(&f.verbose, "verbose", false, "also say of each change that was tried why it does not hold")
	return c
}

// repaired is what a search for a repair came to, as it is written in JSON.
type repaired struct {
	Scenario string        `json:"scenario"`
	Fix      *edits.Repair `json:"fix,omitempty"`
	// Tried are the changes that were decided, in their order.
	Tried []edits.Repair `json:"tried"`
	// Unknown says why no fix is known where there may be one.
	Unknown string `json:"unknown,omitempty"`
}

func (a *app) repairProtocol(ctx context.Context, c *cobra.Command, id string, f *repairFlags) error {
	sc, ctx, done, err := f.start(ctx, a, c, id)
	if err != nil {
		return err
	}
	defer done()
	bar := a.newProgress(ctx, 0, false)
	defer bar.clear()
	o := checker.Options{States: f.maxStates, Progress: bar.follow}
	out := repaired{Scenario: sc.ID, Tried: []edits.Repair{}}
	out.Fix, err = edits.RepairProtocol(ctx, &sc, a.family(&sc), o, func(r edits.Repair) {
		bar.clear()
		out.Tried = append(out.Tried, r)
		if f.verbose && !f.json && r.Why != "" {
			_, _ = fmt.Fprintf(a.stdout, "tried: %s: %s\n", report.Visible(r.Text), report.Visible(r.Why))
		}
	})
	if errors.Is(err, edits.ErrHolds) {
		return fmt.Errorf("%s: %w, so there is nothing to repair: \"%s weigh %s\" says which of its calls carry the "+
			"proof",
			sc.ID, err, a.program, sc.ID)
	}
	if err != nil {
		if out.Unknown, err = a.cut(ctx, err, "no fix is known so far: it was stopped"); err != nil {
			return err
		}
	}
	return errors.Join(a.writeRepair(&out, f), a.drawRepair(ctx, &sc, out.Fix, f))
}

// drawRepair writes the pages of a scenario and what a change makes of its counterexamples, where that is asked for.
func (a *app) drawRepair(ctx context.Context, sc *scenarios.Scenario, fix *edits.Repair, f *repairFlags) error {
	if f.html == "" || fix == nil {
		return nil
	}
	var results []checker.Result
	for _, c := range sc.Claims {
		r, err := checker.Check(ctx, sc, c.Property, checker.Options{States: f.maxStates})
		if err != nil {
			return err
		}
		results = append(results, r)
	}
	a.beside(&fix.Changed, results, fix.Text)
	return site.Write(f.html, results, a.reportOptions(f.setting, 0))
}

// writeRepair writes what was found.
func (a *app) writeRepair(out *repaired, f *repairFlags) (err error) {
	open := 0
	for _, r := range out.Tried {
		if r.Open {
			open++
		}
	}
	n := len(out.Tried)
	undecided := fmt.Sprintf("%d undecided (--max-states gives more)", open)
	text := fmt.Sprintf("no fix is known: none of %s holds", numbers.Count(n, "change", "changes"))
	switch fix := out.Fix; {
	case out.Unknown != "":
		a.worsen(ExitUnknown)
		text = out.Unknown
	case fix == nil && open > 0:
		a.worsen(ExitUnknown)
		text = fmt.Sprintf("no fix is known: of %s, %s; no other holds", numbers.Count(n, "change", "changes"),
			undecided)
		out.Unknown = text
	case fix == nil:
		a.worsen(ExitDiffers)
	default:
		at := slices.IndexFunc(out.Tried, func(r edits.Repair) bool { return r.Text == fix.Text })
		before := numbers.Count(at, "change was tried before it", "changes were tried before it")
		if open > 0 {
			before += ", of which " + undecided
		}
		text = fmt.Sprintf("a fix that holds: %s\n  decided: %s\n  %s", report.Visible(fix.Text), fix.Proof, before)
		if fix.Still != nil {
			text += "\n  still broken: " + strings.Join(fix.Still, ", ")
		}
	}
	if f.json {
		e := json.NewEncoder(a.stdout)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(out)
	}
	_, err = fmt.Fprintln(a.stdout, text)
	return err
}

// cheapStates and cheapChanges bound what explain tries: mostly less than a second.
const (
	cheapStates  = 2_000
	cheapChanges = 8
)

// cheapRepair is the first change that holds, if that is found soon; else nil.
func (a *app) cheapRepair(ctx context.Context, r *checker.Result) *edits.Repair {
	if r.Stats.States > cheapStates {
		return nil
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	tried := 0
	fix, err := edits.RepairProtocol(ctx, r.Scenario, a.family(r.Scenario), checker.Options{States: cheapStates},
		func(edits.Repair) {
			if tried++; tried == cheapChanges {
				stop()
			}
		})
	if err != nil {
		return nil
	}
	return fix
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
