package cli

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
	"lockpick/sched"
)

// sampleFlags are the flags of sample.
type sampleFlags struct {
	setting  *settingFlags
	options  checker.SampleOptions
	property string
	asJSON   bool
	timings  bool
	width    widthFlag
}

func (a *app) sampleCommand() *cobra.Command {
	f := &sampleFlags{}
	c := &cobra.Command{
		Use:   "sample SCENARIO",
		Short: "Draw schedules at random, for what is too large to cover",
		Long: `Draw schedules at random and shrink the first that breaks a property. Without
--property every claimed property is sampled. A sample never shows that a property
holds: without a violation the verdict is unknown, and the exit code 3.`,
		Args: oneScenario,
		RunE: func(c *cobra.Command, args []string) error {
			return a.sample(c.Context(), c, args[0], f)
		},
	}
	c.ValidArgsFunction = a.completeID(false)
	f.setting = addSettingFlags(c)
	fs := c.Flags()
	fs.IntVar(&f.options.Runs, "runs", 10_000, "draw up to `N` schedules")
	fs.StringVar(&f.options.Strategy, "strategy", "random", "how to draw: "+strings.Join(sched.DrawingNames(), " or "))
	fs.Uint64Var(&f.options.Seed, "seed", 0, "seed of the first run; run i has seed+i")
	fs.IntVar(&f.options.Depth, "depth", 3, "depth of the bugs that pct looks for")
	fs.BoolVar(&f.options.KeepGoing, "keep-going", false, "go on after a violation, and count them all")
	fs.StringVar(&f.property, "property", "", "sample property `P` only")
	fs.BoolVar(&f.asJSON, "json", false, "write JSON (docs/schema/check-v1.json)")
	fs.BoolVar(&f.timings, "timings", false, "print how long it took; two runs then differ")
	addWidthFlag(fs, &f.width)
	a.completeProperties(c)
	a.completeValues(c, "strategy", sched.DrawingNames()...)
	return c
}

func (f *sampleFlags) validate() error {
	switch o := &f.options; {
	case o.Runs < 1:
		return fmt.Errorf("--runs %d: choose 1 or more", o.Runs)
	case o.Depth < 1:
		return fmt.Errorf("--depth %d: choose 1 or more", o.Depth)
	}
	return nil
}

func (a *app) sample(ctx context.Context, c *cobra.Command, id string, f *sampleFlags) error {
	if err := f.validate(); err != nil {
		return err
	}
	d, err := sched.FindDrawing(f.options.Strategy)
	if err != nil {
		return fmt.Errorf("--strategy: %w", err)
	}
	sc, p, err := a.asked(id, f.property, f.setting)
	if err != nil {
		return err
	}
	f.setting.idle(a, c, sc)
	a.idle(c, "depth", d.Depth, "it is about --strategy pct")
	a.idle(c, "width", !f.asJSON, "JSON is not drawn")
	ps := candidates(&sc)
	if f.property != "" {
		ps = []*scenarios.Property{p}
	}
	ro := a.reportOptions(f.setting, f.width)
	ro.Timings = f.timings
	var results []checker.Result
	for _, p := range ps {
		start := time.Now()
		s, err := checker.Sample(ctx, &sc, p, f.options)
		if err != nil {
			return err
		}
		s.Elapsed = time.Since(start)
		a.worsen(exitOf(&s.Result))
		results = append(results, s.Result)
		if f.asJSON {
			continue
		}
		if err := report.SampleText(a.stdout, &s, f.options, ro); err != nil {
			return err
		}
	}
	if f.asJSON {
		return report.JSON(a.stdout, results, ro)
	}
	return nil
}
