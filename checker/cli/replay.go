package cli

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
	"lockpick/sched"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	setting  *settingFlags
	property string
	width    int
	real     bool
	times    int
}

func (a *app) replayCommand() *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay SCENARIO SCHEDULE | replay BUNDLE-FILE",
		Short: "Follow one schedule and show what it does",
		Long: `Follow one schedule strictly and show what it does. "A3 B2! A4" is A takes 3 steps, B
takes 2 and is killed, A takes 4; a second task of A is "A.2x3"; "~" moves the clock.
Without --property the schedule is judged by each claimed property, those claimed
broken first, and the first that it breaks is shown.

Exit codes: 0 the schedule breaks the property, 1 it does not, or one that is claimed to
hold is broken, 2 the schedule cannot happen.`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			return a.replay(c.Context(), args, f)
		},
	}
	f.setting = addSettingFlags(c)
	fs := c.Flags()
	fs.StringVar(&f.property, "property", "", "judge by property `P` only")
	fs.BoolVar(&f.real, "real", false, "then replay it on the real disk, with real processes, and compare every call (Linux)")
	fs.IntVar(&f.times, "times", 1, "with --real, do so `N` times")
	fs.IntVar(&f.width, "width", 0, "draw `N` columns wide (default the terminal's width, up to 120, or 100)")
	return c
}

func (a *app) replay(ctx context.Context, args []string, f *replayFlags) error {
	if f.width != 0 && f.width < 60 {
		return fmt.Errorf("--width %d: choose 60 or more", f.width)
	}
	if f.times < 1 || f.times > 1 && !f.real {
		return fmt.Errorf("--times %d: choose 1 or more, with --real", f.times)
	}
	sc, p, schedule, err := a.toReplay(args, f)
	if err != nil {
		return err
	}
	properties := candidates(&sc)
	if p != nil {
		properties = []*scenarios.Property{p}
	}
	var first checker.Replayed
	for i, q := range properties {
		got, err := checker.Replay(&sc, q, schedule)
		if err != nil {
			return drifted(err, schedule)
		}
		if got.Broken {
			if err := a.reproduced(&sc, q, schedule, got, f); err != nil || !f.real {
				return err
			}
			return a.onDisk(ctx, &sc, q, got.Counterexample.Schedule, f.times)
		}
		if i == 0 {
			first = got
		}
	}
	if err := a.notReproduced(ctx, &sc, properties, first, f); err != nil || !f.real {
		return err
	}
	return a.onDisk(ctx, &sc, properties[0], first.Counterexample.Schedule, f.times)
}

// toReplay reads what to replay from the arguments: an id and a schedule, or a bundle.
func (a *app) toReplay(args []string, f *replayFlags) (sc scenarios.Scenario, p *scenarios.Property, s sched.Schedule, err error) {
	if len(args) == 1 {
		return a.bundleToReplay(args[0], f)
	}
	if sc, p, err = a.asked(args[0], f.property, f.setting); err != nil {
		return sc, p, s, err
	}
	if f.property == "" {
		p = nil
	}
	s, err = sched.ParseSchedule(args[1])
	if err == nil && len(s) == 0 {
		err = errors.New("the schedule is empty: give one such as 'A3 B2! A4'")
	}
	return sc, p, s, err
}

func (a *app) bundleToReplay(file string, f *replayFlags) (sc scenarios.Scenario, p *scenarios.Property, s sched.Schedule, err error) {
	text, err := os.ReadFile(file)
	if err != nil {
		if _, none := a.one(file); none == nil {
			err = fmt.Errorf("replay %s: give a schedule too, such as 'A3 B2! A4'", file)
		}
		return sc, p, s, err
	}
	b, err := report.ParseBundle(text)
	if err != nil {
		return sc, p, s, fmt.Errorf("%s: %w", file, err)
	}
	if err = f.setting.validate(); err != nil {
		return sc, p, s, err
	}
	if sc, err = a.one(b.Scenario); err != nil {
		return sc, p, s, fmt.Errorf("%s: %w", file, err)
	}
	sc, changed, err := b.In(sc)
	if err != nil {
		return sc, p, s, fmt.Errorf("%s: %w", file, err)
	}
	for _, c := range changed {
		a.note("%s was saved with %s %s, the scenario now has %s", file, c.Name, c.From, c.To)
	}
	if p, err = a.property(b.Property, sc); err != nil {
		return sc, p, s, fmt.Errorf("%s: %w", file, err)
	}
	sc, err = f.setting.apply(sc)
	return sc, p, b.Schedule, err
}

// drifted says where a schedule cannot be followed.
func drifted(err error, s sched.Schedule) error {
	var d *sched.DriftError
	if !errors.As(err, &d) {
		return err
	}
	what := "task " + d.Want.Task.String() + " cannot step"
	switch d.Want.Action {
	case sched.Kill:
		what = "process " + d.Want.Task.String() + " cannot be killed"
	case sched.PowerLoss:
		what = "the power cannot be lost like that"
	case sched.Stall:
		what = "the clock cannot jump"
	}
	return fmt.Errorf("the schedule %s drifts at step %d: %s: %s", s, d.Step, what, d.Why)
}

// reproduced shows a schedule that breaks a property.
func (a *app) reproduced(sc *scenarios.Scenario, p *scenarios.Property, asked sched.Schedule, got checker.Replayed, f *replayFlags) error {
	r := checker.Result{
		Scenario: sc, Property: p, Judgement: p.Judgement(), Verdict: checker.Broken,
		Odds: -1, Counterexample: got.Counterexample,
	}
	r.Claim, r.Claimed = sc.Claim(p)
	if n := len(got.Counterexample.Schedule); n < len(asked) {
		a.note("broken at step %d: the rest of the schedule, %s, is not looked at", n, asked[n:])
	}
	if r.Claimed && !r.AsClaimed() {
		a.note("%s claims that %s %s", sc.ID, p, r.Claim)
	}
	a.worsen(exitOf(&r))
	return report.Timeline(a.stdout, &r, a.reportOptions(f.setting, f.width))
}

func (a *app) reportOptions(f *settingFlags, width int) report.Options {
	return report.Options{Style: a.style(a.stdout, width), Flags: f.text()}
}

// notReproduced shows a schedule that breaks nothing, and where it leaves the smallest
// counterexample, if there is one.
func (a *app) notReproduced(ctx context.Context, sc *scenarios.Scenario, ps []*scenarios.Property, got checker.Replayed, f *replayFlags) error {
	a.worsen(ExitDiffers)
	end := report.RunEnd{Scenario: sc, Properties: ps, Run: got.Counterexample, Finished: got.Finished}
	if claim, _ := sc.Claim(ps[0]); claim == checker.Broken {
		r, err := checker.Check(ctx, sc, ps[0], checker.Options{SkipOdds: true})
		if err == nil {
			end.Smallest = r.Counterexample
		}
	}
	return report.NotBroken(a.stdout, end, a.reportOptions(f.setting, f.width))
}
