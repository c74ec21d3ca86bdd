package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/internal/saved"
	"lockpick/checker/report"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
	"lockpick/sched"
)

// replayFlags are the flags of replay.
type replayFlags struct {
	setting  *settingFlags
	property string
	real     bool
	times    int
	stopAt   int
	draw     *drawFlags
}

func (a *app) replayCommand() *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay SCENARIO SCHEDULE | replay BUNDLE-FILE",
		Short: "Follow one schedule and show what it does",
		Long: `Follow one schedule strictly and show what it does. "A3 B2! A4" is A takes 3 steps, B
takes 2 and is killed, A takes 4; a second task of A is "A.2x3"; "B^" is a signal to B; "~" moves the clock.
Without --property the schedule is judged by each claimed property, those claimed
broken first, and the first that it breaks is shown.

Exit codes: 0 the schedule breaks the property, 1 it does not, or one that is claimed to
hold is broken, 2 the schedule cannot happen.`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) == 1 || len(args) == 2 {
				return nil
			}
			return fmt.Errorf("replay takes SCENARIO and SCHEDULE, or a file, and not %d arguments: quote the schedule, and see \"%s --help\"", len(args), c.CommandPath())
		},
		RunE: func(c *cobra.Command, args []string) error {
			return a.replay(c.Context(), c, args, f)
		},
	}
	c.ValidArgsFunction = a.completeID(true)
	f.setting, f.draw = addSettingFlags(c), addDrawFlags(c)
	fs := c.Flags()
	fs.StringVar(&f.property, "property", "", "judge by property `P` only")
	fs.BoolVar(&f.real, "real", false, "then replay it on the real disk, with real processes, and compare every call (Linux)")
	fs.IntVar(&f.times, "times", 1, "with --real, do so `N` times")
	fs.IntVar(&f.stopAt, "stop-at", 0,
		"run the commands of a saved run for real up to step `N`, and start $SHELL in their directory as it is then")
	a.completeProperties(c)
	return c
}

func (a *app) replay(ctx context.Context, c *cobra.Command, args []string, f *replayFlags) error {
	if f.times < 1 || f.times > 1 && !f.real {
		return fmt.Errorf("--times %d: choose 1 or more, with --real", f.times)
	}
	if err := f.draw.validate(args...); err != nil {
		return err
	}
	r, err := a.toReplay(args, f)
	if err != nil {
		return err
	}
	f.setting.idle(a, c, r.sc)
	if c.Flags().Changed("stop-at") {
		return a.holdAt(ctx, &r, f)
	}
	var first saved.Followed
	for i, p := range r.properties {
		got, err := r.follow(p)
		if err != nil {
			return err
		}
		if got.Broken {
			if err := a.reproduced(ctx, &r, p, got, f); err != nil || !f.real {
				return err
			}
			return a.forReal(ctx, &r, p, got, f)
		}
		if i == 0 {
			first = got
		}
	}
	if err := a.notReproduced(ctx, &r, first, f); err != nil || !f.real {
		return err
	}
	return a.forReal(ctx, &r, r.properties[0], first, f)
}

// forReal replays what was followed on the real kernel.
func (a *app) forReal(ctx context.Context, r *replayed, p *scenarios.Property, got saved.Followed, f *replayFlags) error {
	if f.draw.instead() { // what is there for a program must stay readable for it
		defer func(stdout io.Writer) { a.stdout = stdout }(a.stdout)
		a.stdout = a.stderr
	}
	if r.run != nil {
		return a.onKernel(ctx, r.run, got.Counterexample.Trace, f.times)
	}
	return a.onDisk(ctx, &r.sc, p, got.Counterexample.Schedule, f.times)
}

// A replayed is what there is to replay.
type replayed struct {
	sc         scenarios.Scenario
	properties []*scenarios.Property
	recipe     saved.Recipe
	// file is the bundle that it comes from, or "" for a schedule on the command line.
	file string
	// run are the commands, of the bundle of a run.
	run *command.Spec
}

// follow follows a schedule strictly, and a saved one as its protocol allows.
func (r *replayed) follow(p *scenarios.Property) (saved.Followed, error) {
	if r.file != "" {
		return saved.Follow(&r.sc, p, r.recipe)
	}
	got, err := checker.Replay(&r.sc, p, r.recipe.Schedule)
	if err != nil {
		return saved.Followed{}, drifted(err, r.recipe.Schedule)
	}
	return saved.Followed{Replayed: got}, nil
}

// toReplay reads what to replay from the arguments: an id and a schedule, or a bundle.
func (a *app) toReplay(args []string, f *replayFlags) (replayed, error) {
	if len(args) == 1 {
		return a.bundleToReplay(args[0], f)
	}
	sc, p, err := a.asked(args[0], f.property, f.setting)
	if _, none := os.Stat(args[0]); err != nil && none == nil {
		err = fmt.Errorf("%s is a file, and a saved counterexample has its schedule in it: leave out %q",
			args[0], args[1])
	}
	if err != nil {
		return replayed{}, err
	}
	r := replayed{sc: sc, properties: []*scenarios.Property{p}}
	if f.property == "" {
		r.properties = candidates(&sc)
	}
	r.recipe.Schedule, err = sched.ParseSchedule(args[1])
	if err == nil && len(r.recipe.Schedule) == 0 {
		err = errors.New("the schedule is empty: give one such as 'A3 B2! A4'")
	}
	return r, err
}

func (a *app) bundleToReplay(file string, f *replayFlags) (replayed, error) {
	if err := f.setting.validate(); err != nil {
		return replayed{}, err
	}
	text, err := os.ReadFile(file)
	if err != nil {
		if _, none := a.one(file); none == nil {
			err = fmt.Errorf("replay %s: give a schedule too, such as 'A3 B2! A4'", file)
		}
		return replayed{}, err
	}
	r, err := a.parseBundle(file, text, f)
	if err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	r.sc, err = f.setting.apply(r.sc)
	return r, err
}

func (a *app) parseBundle(file string, text []byte, f *replayFlags) (replayed, error) {
	r := replayed{file: file}
	b, err := report.ParseBundle(text)
	if err != nil {
		return r, err
	}
	r.recipe = saved.Recipe{Schedule: b.Schedule, Calls: b.Calls}
	if r.run, err = command.In(text); err != nil {
		return r, err
	}
	if r.run != nil {
		r.run.Inherit(os.Environ())
		err = extending(r.run, time.Now(), func() (err error) {
			r.sc, err = r.run.Scenario()
			return err
		})
	} else {
		r.sc, err = a.one(b.Scenario)
	}
	if err != nil {
		return r, err
	}
	sc, changed, err := r.sc.Restored(b.Setting)
	if err != nil {
		return r, err
	}
	for _, c := range changed {
		a.note("%s was saved with %s %s, the scenario now has %s", file, c.Name, c.From, c.To)
	}
	r.sc = sc
	id := b.Property
	if f.property != "" {
		id = f.property
	}
	p, err := a.property(id, sc)
	r.properties = []*scenarios.Property{p}
	return r, err
}

// drifted says where a schedule cannot be followed.
func drifted(err error, s sched.Schedule) error {
	var d *sched.DriftError
	if !errors.As(err, &d) {
		return err
	}
	what := "task " + d.Want.Task.String() + " cannot step"
	if d.Want.Fails != "" {
		what = "the call of " + d.Want.Task.String() + " cannot fail"
	}
	switch d.Want.Action {
	case sched.Kill:
		what = "process " + d.Want.Task.String() + " cannot be killed"
	case sched.Signal:
		what = "process " + d.Want.Task.String() + " cannot get a signal"
	case sched.PowerLoss:
		what = "the power cannot be lost like that"
	case sched.Stall:
		what = "the clock cannot jump"
	}
	return fmt.Errorf("the schedule %s drifts at step %d: %s: %s", s, d.Step, what, d.Why)
}

// reproduced shows a schedule that breaks a property.
func (a *app) reproduced(ctx context.Context, asked *replayed, p *scenarios.Property, got saved.Followed, f *replayFlags) error {
	r := checker.NewResult(&asked.sc, p, got.Counterexample)
	s, want := got.Counterexample.Schedule, asked.recipe.Schedule
	switch {
	case got.Aligned:
		a.note("the protocol makes other calls than when %s was saved: aligned by them, the schedule is %s", asked.file, s)
	case got.Left != nil:
		a.note("the schedule of %s cannot be followed to the letter any more: %v", asked.file, drifted(got.Left, want))
	case len(s) < len(want):
		a.note("broken at step %d: the rest of the schedule, %s, is not looked at", len(s), want[len(s):])
	}
	if asked.run != nil { // nobody claims anything of commands
		r.Claimed = false
		if f.real || f.draw.source || f.draw.any(a) {
			carryOut(ctx, asked.run, &r) // the run that locates its calls
		}
		watchChanges(&r)
	}
	if r.Claimed && !r.AsClaimed() {
		a.note("%s claims that %s %s", r.Scenario.ID, p, r.ClaimText())
	}
	a.worsen(exitOf(&r))
	o := a.reportOptions(f.setting, f.draw.width)
	if asked.run != nil {
		o.Replay = func(*checker.Result) string {
			return a.program + " replay " + report.ShellWord(asked.file) + " --real"
		}
		o.Bundle = ofCommands(asked.run)
	}
	if err := f.draw.show(a.stdout, &r, o); err != nil {
		return err
	}
	results := []checker.Result{r}
	return errors.Join(f.draw.write(a, a.stdout, results, f.draw.in(o)), f.draw.keep(results, o, nil))
}

func (a *app) reportOptions(f *settingFlags, width widthFlag) report.Options {
	return report.Options{Style: a.style(a.stdout, width), Flags: f.text(), Program: a.program}
}

// notReproduced shows a schedule that breaks nothing, and where it leaves the smallest
// counterexample, if there is one. Whether a saved bug is gone is a question about all
// schedules, so it is asked.
func (a *app) notReproduced(ctx context.Context, r *replayed, got saved.Followed, f *replayFlags) error {
	a.worsen(ExitDiffers)
	p := r.properties[0]
	end := report.RunEnd{Scenario: &r.sc, Properties: r.properties, Run: got.Counterexample, Finished: got.Finished, Unasked: got.Unasked}
	if got.Left != nil {
		a.note("%v", drifted(got.Left, r.recipe.Schedule))
	}
	if claim, _ := r.sc.Claim(p); claim == checker.Broken || r.file != "" {
		bar := a.newProgress(ctx, 1, false)
		bar.begin(r.sc.ID, p.ID)
		checked, err := checker.Check(ctx, &r.sc, p, checker.Options{SkipOdds: true, Progress: bar.follow})
		bar.clear()
		if err != nil {
			return err
		}
		end.Checked = &checked
	}
	return f.nothingBroken(a, &end)
}

// nothingBroken writes what there is of a schedule that breaks nothing: of the smallest
// counterexample, which is another schedule, no format speaks.
func (f *replayFlags) nothingBroken(a *app, end *report.RunEnd) error {
	o := f.draw.in(a.reportOptions(f.setting, f.draw.width))
	if f.draw.svg != "" {
		a.note("--svg %s: the schedule breaks nothing, and there is no counterexample to draw", f.draw.svg)
	}
	if !f.draw.instead() {
		if err := report.NotBroken(a.stdout, *end, o); err != nil {
			return err
		}
	}
	r := unfinished(end.Scenario, end.Properties[0], "the schedule "+end.Run.Schedule.String()+" does not break it; of others nothing is said")
	return f.draw.write(a, a.stdout, []checker.Result{r}, o)
}
