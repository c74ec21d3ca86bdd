package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/edits"
	"lockpick/checker/report"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
)

// weighFlags are the flags of weigh.
type weighFlags struct {
	setting   *settingFlags
	maxStates int
	timeout   time.Duration
}

func (a *app) weighCommand() *cobra.Command {
	f := &weighFlags{}
	c := &cobra.Command{
		Use:   "weigh SCENARIO",
		Short: "Say of a protocol that holds which of its calls carry the proof",
		Long: `Say of a protocol in Go that holds what each of its calls is there for. Each call is left out of
every process, and each call is made after the one that follows it; then everything that
the scenario claims to hold is decided again. A line for each says what breaks, and by
which schedule of the changed protocol, or that the call carries nothing of what is claimed.

A call that changes something is left out as if it had succeeded. A call that only looks
is taken to answer the same each time, whatever is there. Of open, flags are left out.
Steps count the calls of a process that runs alone.

Exit codes: 0 everything is known, 2 the scenario is broken or the arguments are wrong,
3 something is not known.`,
		Args: oneScenario,
		RunE: func(c *cobra.Command, args []string) error { return a.weigh(c.Context(), c, args[0], f) },
	}
	c.ValidArgsFunction = a.completeID(false)
	f.add(c, checker.SurveyStates)
	return c
}

// add adds the flags.
func (f *weighFlags) add(c *cobra.Command, states int) {
	f.setting = addSettingFlags(c)
	fs := c.Flags()
	fs.IntVar(&f.maxStates, "max-states", states, "end the search for each answer after `N` states")
	fs.DurationVar(&f.timeout, "timeout", 0, "end after this time; what is not decided then is not shown (default "+
		"never)")
}

// start finds the scenario that is asked about, and the context that ends in time.
func (f *weighFlags) start(ctx context.Context, a *app, c *cobra.Command, id string) (scenarios.Scenario,
	context.Context, context.CancelFunc, error) {
	sc, _, err := a.asked(id, "", f.setting)
	switch {
	case f.maxStates < 1:
		err = fmt.Errorf("--max-states %d: choose 1 or more", f.maxStates)
	case f.timeout < 0:
		err = fmt.Errorf("--timeout %v: choose more than 0, or leave it out", f.timeout)
	}
	if err != nil {
		return sc, nil, nil, err
	}
	f.setting.idle(a, c, sc)
	if f.timeout > 0 {
		ctx, done := context.WithTimeout(ctx, f.timeout)
		return sc, ctx, done, nil
	}
	return sc, ctx, func() {}, nil
}

func (a *app) weigh(ctx context.Context, c *cobra.Command, id string, f *weighFlags) error {
	sc, ctx, done, err := f.start(ctx, a, c, id)
	if err != nil {
		return err
	}
	defer done()
	bar := a.newProgress(ctx, 0, false)
	defer bar.clear()
	counts := map[checker.Verdict]int{}
	o := checker.Options{States: f.maxStates, Progress: bar.follow}
	apart, err := edits.Weigh(ctx, &sc, o, func(w edits.Weight) {
		bar.clear()
		if w.With == "" {
			counts[w.Verdict]++
		}
		_, _ = fmt.Fprintf(a.stdout, "%s (%s): %s\n", report.Visible(w.Text), report.Visible(w.Place), weightText(&w, &sc))
	})
	switch {
	case errors.Is(err, edits.ErrBroken):
		return fmt.Errorf("%s: %w: weigh says what carries the proof of a protocol that holds; \"%s explain %s\" "+
			"shows how this one breaks", sc.ID, err, a.program, sc.ID)
	case err != nil:
		why, err := a.cut(ctx, err, "the rest is not known: it was stopped")
		if err == nil {
			_, err = fmt.Fprintln(a.stdout, why)
		}
		return err
	}
	broken, nothing, unknown := counts[checker.Broken], counts[checker.Holds], counts[checker.Unknown]
	if unknown > 0 {
		a.worsen(ExitUnknown)
	}
	_, err = fmt.Fprintf(a.stdout, "\n%s: %d broken, %d carry nothing of what is claimed, %d not known; %s not "+
		"swapped: "+
		"the second hangs on the answer of the first\n", numbers.Count(broken+nothing+unknown, "change", "changes"),
		broken, nothing, unknown, numbers.Count(apart, "pair", "pairs"))
	return err
}

// cut says why nothing more was decided: the time is over, or the protocol is not known itself. It returns another
// error.
func (a *app) cut(ctx context.Context, err error, stopped string) (string, error) {
	switch {
	case ctx.Err() != nil:
	case errors.Is(err, edits.ErrUnknown):
		stopped = fmt.Sprintf("%v (--max-states gives more)", err)
	default:
		return "", err
	}
	a.worsen(ExitUnknown)
	return stopped, nil
}

// weightText says what a change comes to.
func weightText(w *edits.Weight, sc *scenarios.Scenario) string {
	switch {
	case w.With != "":
		return "goes with " + w.With + ": the two are compared"
	case w.Broken != nil:
		return joined(fmt.Sprintf("broken, %s, by %s", w.Property, w.Broken.Counterexample.Schedule), w.Why)
	case w.Verdict == checker.Broken:
		return joined(fmt.Sprintf("broken: nobody comes so far that %s could be judged", w.Property), w.Why)
	case w.Verdict == checker.Unknown:
		return "not known: " + w.Why
	}
	var held []string
	for _, c := range sc.Claims {
		if c.Verdict == scenarios.Holds {
			held = append(held, c.Property.ID)
		}
	}
	verb := "holds"
	if len(held) > 1 {
		verb = "hold"
	}
	text := fmt.Sprintf("carries nothing: %s %s", strings.Join(held, ", "), verb)
	if w.Answer != "" {
		text += " where it is taken to " + w.Answer + " each time"
	}
	return text
}

func joined(text, why string) string {
	if why == "" {
		return text
	}
	return text + ", " + why
}
