package cli

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
)

// checkFlags are the flags of check.
type checkFlags struct {
	setting  *settingFlags
	engine   *engineFlags
	formats  []*formatChoice
	github   *githubFlag
	shard    *shardFlags
	property string
	options  report.Options
}

func (a *app) checkCommand() *cobra.Command {
	f := &checkFlags{}
	c := &cobra.Command{
		Use:   "check [PATTERN...]",
		Short: "Decide every claim and compare the verdicts",
		Long:  "Decide every claim of the selected scenarios and compare the verdicts with the claims.\n\n" + patternHelp,
		RunE: func(c *cobra.Command, patterns []string) error {
			return a.check(c.Context(), patterns, f)
		},
	}
	f.setting, f.engine, f.formats = addSettingFlags(c), addEngineFlags(c), addFormatFlags(c)
	f.github = addGitHubFlag(c)
	f.shard = addShardFlags(c)
	fs := c.Flags()
	fs.StringVar(&f.property, "property", "", "decide only property `P`, whether it is claimed or not")
	fs.BoolVar(&f.engine.skipOdds, "skip-odds", false, "leave out the exact odds of each violation, which take a second pass")
	fs.BoolVar(&f.options.Quiet, "quiet", false, "print only what is not as claimed")
	fs.BoolVar(&f.options.Verbose, "verbose", false, "print counterexamples and counts too")
	fs.IntVar(&f.options.Largest, "largest", 0, "list the `N` largest verdicts, by states; with --timings the slowest")
	fs.BoolVar(&f.options.Timings, "timings", false, "print how long each verdict took; two runs then differ")
	return c
}

// A question is one property of one scenario.
type question struct {
	sc       *scenarios.Scenario
	property *scenarios.Property
}

func (a *app) check(ctx context.Context, patterns []string, f *checkFlags) error {
	if f.options.Largest < 0 {
		return fmt.Errorf("--largest %d: choose 0 or more", f.options.Largest)
	}
	o, err := f.engine.options()
	if err != nil {
		return err
	}
	questions, err := a.questions(patterns, f)
	if err != nil {
		return err
	}
	if f.shard.shard != "" {
		return a.checkShard(ctx, questions, f, o)
	}
	results, err := a.answer(ctx, questions, f, o)
	if err != nil {
		return err
	}
	f.options.Flags = f.setting.text()
	for i := range results {
		a.worsen(exitOf(&results[i]))
	}
	return a.publish(results, f)
}

// exitOf is the exit code that a verdict asks for.
func exitOf(r *checker.Result) int {
	switch {
	case r.Verdict == checker.Unknown:
		return ExitUnknown
	case r.Claimed && !r.AsClaimed():
		return ExitDiffers
	}
	return ExitAsClaimed
}

// questions lists what is asked.
func (a *app) questions(patterns []string, f *checkFlags) ([]question, error) {
	if err := f.setting.validate(); err != nil {
		return nil, err
	}
	list, err := a.choose(patterns)
	if err != nil {
		return nil, err
	}
	p, err := a.property(f.property, list...)
	if err != nil {
		return nil, err
	}
	var out []question
	var refused []error
	for i := range list {
		sc, err := f.setting.apply(list[i])
		if err != nil {
			refused = append(refused, err)
			continue
		}
		for _, q := range properties(&sc, p) {
			out = append(out, question{&sc, q})
		}
	}
	if len(out) == 0 && len(refused) > 0 {
		return nil, refused[0]
	}
	for _, err := range refused {
		a.note("left out: %v", err)
	}
	return out, nil
}

// answer makes the verdicts, one after the other. When ctx ends, what was not begun
// is Unknown.
func (a *app) answer(ctx context.Context, questions []question, f *checkFlags, o checker.Options) ([]checker.Result, error) {
	bar := a.newProgress(len(questions), f.options.Quiet)
	defer bar.clear()
	o.Progress = bar.follow
	var results []checker.Result
	var leftOut []string
	for _, q := range questions {
		if ctx.Err() != nil {
			results = append(results, unfinished(q.sc, q.property, "stopped before it began"))
			continue
		}
		bar.begin(q.sc.ID, q.property.ID)
		r, err := f.engine.decide(ctx, q.sc, q.property, o)
		if _, claimed := q.sc.Claim(q.property); !claimed && errors.Is(err, checker.ErrNothingToJudge) {
			leftOut = append(leftOut, q.sc.ID)
			continue
		}
		if err != nil {
			bar.clear()
			a.note("%s, %s: no verdict: %s", q.sc.ID, q.property, oneLine(err.Error()))
			a.worsen(ExitUsage)
			continue
		}
		results = append(results, r)
	}
	bar.clear()
	switch others := len(leftOut) - 1; {
	case len(leftOut) > 0 && len(results) == 0:
		return nil, fmt.Errorf("no selected scenario can be judged by %s: choose others, or a property that \"lockpick list\" shows", f.property)
	case others > 0:
		a.note("left out %s and %d more, which cannot be judged by %s", leftOut[0], others, f.property)
	case others == 0:
		a.note("left out %s, which cannot be judged by %s", leftOut[0], f.property)
	}
	return results, nil
}

// publish writes the results in every format asked for.
func (a *app) publish(results []checker.Result, f *checkFlags) error {
	if err := f.github.annotate(a, results, f.options); err != nil {
		return err
	}
	matrix := true
	for _, c := range f.formats {
		yes, instead := c.asked()
		if !yes {
			continue
		}
		if err := c.write(a.stdout, c.to, results, f.options); err != nil {
			return fmt.Errorf("--%s: %w", c.flag, err)
		}
		matrix = matrix && !instead
	}
	if !matrix {
		return nil
	}
	f.options.Style = a.style(a.stdout, 0)
	return report.Matrix(a.stdout, results, f.options)
}
