package cli

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/internal/lists"
	"lockpick/scenarios"
)

// surveyFlags are the flags of survey.
type surveyFlags struct {
	hazard    string
	maxStates int
	timeout   time.Duration
	width     widthFlag
	accept    []string
}

func (a *app) surveyCommand() *cobra.Command {
	f := &surveyFlags{}
	c := &cobra.Command{
		Use:   "survey SYSTEM/VARIANT...",
		Short: "Try a lock under every hazard, from its protocol alone",
		Long: `Try a lock under every hazard. From its Acquire and its Release alone the situations are
made in which locks break: two and three contenders, again and again; what an owner leaves
that is killed after each of its calls; a crash, an ordinary exit, a stall, a pid that is
another's today, a loss of power. A line for each hazard says that it holds, or is broken
and how, or why it was not asked.

The situations are scenarios called SYSTEM/VARIANT/survey-…, which the other commands take
as well.

Exit codes: 0 everything asked holds, 1 something is broken, 3 something is unknown.`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error { return a.survey(c.Context(), args, f) },
	}
	c.ValidArgsFunction = a.completePattern
	fs := c.Flags()
	fs.StringVar(&f.hazard, "hazard", "", "only hazard `H`")
	fs.IntVar(&f.maxStates, "max-states", checker.SurveyStates, "end the search for each answer after `N` states")
	fs.DurationVar(&f.timeout, "timeout", 0, "end after this time; what is not decided then is unknown (default never)")
	addWidthFlag(fs, &f.width)
	addAcceptFlag(c, &f.accept)
	a.completeFlag(c, "hazard", hazardIDs)
	return c
}

// hazardIDs lists the ids of all hazards.
func hazardIDs() []string {
	return lists.Map(scenarios.Hazards(), func(h scenarios.Hazard) string { return h.ID })
}

func (a *app) survey(ctx context.Context, args []string, f *surveyFlags) error {
	switch {
	case f.hazard != "" && !slices.Contains(hazardIDs(), f.hazard):
		return fmt.Errorf("unknown hazard %q%s", f.hazard, meant(f.hazard, hazardIDs()))
	case f.maxStates < 1:
		return fmt.Errorf("--max-states %d: choose 1 or more", f.maxStates)
	}
	if err := acceptable(f.accept); err != nil {
		return err
	}
	if f.timeout < 0 {
		return fmt.Errorf("--timeout %v: choose more than 0, or leave it out", f.timeout)
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	subjects, err := a.subjects(args)
	if err != nil {
		return err
	}
	for i := range subjects {
		if ctx.Err() != nil {
			a.worsen(ExitUnknown)
			_, _ = fmt.Fprintf(a.stdout, "%s  not asked: %s\n", subjects[i].ID, checker.Stopped)
			continue
		}
		if err := a.surveyOne(ctx, &subjects[i], f, i > 0); err != nil {
			return err
		}
	}
	return nil
}

// surveyOne surveys one subject, and writes of each hazard what was found out as soon as it is.
func (a *app) surveyOne(ctx context.Context, s *scenarios.Subject, f *surveyFlags, further bool) error {
	studies, err := scenarios.Survey(*s)
	if err != nil {
		return err
	}
	if f.hazard != "" {
		studies = slices.DeleteFunc(studies, func(st scenarios.Study) bool { return st.Hazard.ID != f.hazard })
	}
	if further {
		_, _ = fmt.Fprintln(a.stdout)
	}
	var hazards []scenarios.Hazard
	for i := range studies {
		hazards = append(hazards, studies[i].Hazard)
	}
	table := report.NewSurveyTable(a.stdout, s.ID, hazards,
		report.Options{Style: a.style(a.stdout, f.width), Program: a.program})
	bar := a.newProgress(ctx, len(studies), false)
	defer bar.clear()
	o := checker.Options{States: f.maxStates, SkipOdds: true, Progress: bar.follow, Accept: f.accept}
	for _, study := range studies {
		bar.begin(s.ID, study.Hazard.ID)
		line := checker.Survey(ctx, study, o)
		bar.clear()
		a.worsen(exitOfRow(&line, false))
		if err := table.Add(&line); err != nil {
			return err
		}
	}
	return table.End()
}

// exitOfRow is the exit code that a row of a survey stands for.
func exitOfRow(l *checker.Surveyed, strict bool) int {
	switch v := l.Verdict(); {
	case l.Failed():
		return ExitDiffers
	case v == checker.Broken && (strict || len(l.Unknown) > 0):
		return ExitUnknown
	case v == checker.Unknown && (l.NotAsked == "" || l.NotAsked == checker.Stopped):
		return ExitUnknown
	}
	return ExitAsClaimed
}

// subjects finds what patterns name: each protocol once.
func (a *app) subjects(patterns []string) ([]scenarios.Subject, error) {
	list, err := a.chosen(patterns, &filters{})
	if err != nil {
		return nil, err
	}
	var out []scenarios.Subject
	for i := range list {
		s := list[i].Subject
		if s != nil && !slices.ContainsFunc(out, func(o scenarios.Subject) bool { return o.ID == s.ID }) {
			out = append(out, *s)
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("%s has no protocol of its own: give the scenario a Subject", list[0].ID)
	}
	return out, nil
}
