package cli

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"lockpick/checker"
	"lockpick/checker/internal/parallel"
	"lockpick/checker/parameterized"
	"lockpick/checker/report"
	"lockpick/internal/lists"
	"lockpick/scenarios"
)

// checkFlags are the flags of check.
type checkFlags struct {
	filters  *filters
	setting  *settingFlags
	engine   *engineFlags
	results  *resultFlags
	shard    string
	strict   bool
	accept   []string
	kernel   *kernelFlags
	property string
	// certificate is the file that a proof is written to; empty for none.
	certificate string
	options     report.Options
}

func (a *app) checkCommand() *cobra.Command {
	f := &checkFlags{}
	c := &cobra.Command{
		Use:   "check [PATTERN...]",
		Short: "Decide every claim and compare the verdicts",
		Long: "Decide every claim of the selected scenarios and compare the verdicts with the claims.\n\n" +
			"--procs any asks whether a claim holds for every number of processes and kills; see docs/holds.md.\n\n" +
			patternHelp,
		RunE: func(c *cobra.Command, patterns []string) error {
			return a.check(c.Context(), c, patterns, f)
		},
		ValidArgsFunction: a.completePattern,
	}
	f.filters = a.addFilters(c, false)
	f.setting, f.engine, f.results = addSettingFlags(c), a.addEngineFlags(c), addResultFlags(c)
	f.kernel = addKernelFlags(c)
	addShardFlag(c, &f.shard)
	fs := c.Flags()
	fs.StringVar(&f.property, "property", "", "decide only property `P`, whether it is claimed or not")
	fs.BoolVar(&f.engine.skipOdds, "skip-odds", false, "leave out the exact odds of each violation, which take a second pass")
	fs.StringVar(&f.certificate, "certificate", "", "with --procs any, write the proof to `FILE`, for lockpick verify")
	fs.BoolVar(&f.strict, "strict", false, strictUsage)
	addAcceptFlag(c, &f.accept)
	fs.BoolVar(&f.options.Quiet, "quiet", false, "print only what is not as claimed")
	fs.BoolVar(&f.options.Verbose, "verbose", false, "print counterexamples and counts too")
	fs.BoolVar(&f.options.Timings, "timings", false, "print how long each verdict took; two runs then differ")
	a.completeProperties(c)
	return c
}

// A question is one property of one scenario.
type question struct {
	sc       *scenarios.Scenario
	property *scenarios.Property
}

func (a *app) check(ctx context.Context, c *cobra.Command, patterns []string, f *checkFlags) error {
	o, err := f.engine.options(a)
	if err != nil {
		return err
	}
	if err := errors.Join(f.kernel.validate(c), acceptable(f.accept), f.results.validate(nil)); err != nil {
		return err
	}
	asksAny := f.setting.takeAny()
	questions, err := a.questions(patterns, f)
	if err != nil {
		return err
	}
	if questions, err = part(questions, f.shard, a.env); err != nil {
		return err
	}
	if f.certificate != "" && !asksAny {
		return errors.New("--certificate is of a proof for any number of processes: add --procs any")
	}
	if asksAny {
		return a.checkAny(ctx, questions, f, o)
	}
	f.idle(a, c, questions)
	return a.handOut(ctx, questions, f, o)
}

// handOut answers the questions: in a table that is written as the verdicts come, unless a format takes its place, and
// in files at the end.
func (a *app) handOut(ctx context.Context, questions []question, f *checkFlags, o checker.Options) error {
	ro := f.options
	ro.Flags, ro.Program, ro.Root = f.setting.text(), a.program, repository()
	drawn := ro
	drawn.Style = a.style(a.stdout, 0)
	stdout := a.stdout
	if f.results.instead() {
		stdout = io.Discard
	}
	tables := report.NewTables(stdout, drawn)
	results, err := a.answer(ctx, questions, f, o, tables.Add)
	if err != nil {
		return err
	}
	return errors.Join(f.results.write(a, a.stdout, results, ro), tables.End(results))
}

// idle notes the flags that do nothing for these questions.
func (f *checkFlags) idle(a *app, c *cobra.Command, questions []question) {
	list := lists.Map(questions, func(q question) scenarios.Scenario { return *q.sc })
	f.setting.idle(a, c, list...)
	f.engine.idle(a, c, list...)
	a.idle(c, "verbose", !f.results.instead(), "it is about the table, which is not printed")
	a.idle(c, "date", c.Flags().Changed("html"), "only the pages of --html have a date")
}

// strictly is exitOf, and unknown for what holds only under a condition.
func strictly(r *checker.Result, strict bool) int {
	code := exitOf(r)
	if strict && code == ExitAsClaimed && (r.Accepted != "" || r.Verdict == checker.Holds && !r.Unconditional()) {
		return ExitUnknown
	}
	return code
}

const strictUsage = "exit with 3 where a verdict holds only under a condition, which \"depends\" tells, and where " +
	"--accept may hide another cause"

func addAcceptFlag(c *cobra.Command, to *[]string) {
	c.Flags().StringSliceVar(to, "accept", nil, "accept what is broken by causes of the kinds `LIST`, "+
		"such as LP1002,LP1004 (explain LP1002 tells of one)")
}

// acceptable refuses codes of --accept that name nothing.
func acceptable(codes []string) error {
	if err := checker.Acceptable(codes); err != nil {
		return fmt.Errorf("--accept: %w", err)
	}
	return nil
}

// exitOf is the exit code that a verdict asks for.
func exitOf(r *checker.Result) int {
	switch {
	case r.Verdict == checker.Unknown:
		return ExitUnknown
	case r.Accepted != "":
		return ExitAsClaimed
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
	list, err := a.choose(patterns, f.filters)
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
		asked := properties(&sc, p)
		if len(asked) == 0 {
			refused = append(refused, fmt.Errorf("%s claims nothing: say in Claims what it promises", sc.ID))
		}
		for _, q := range asked {
			out = append(out, question{&sc, q})
		}
	}
	switch {
	case len(out) == 0 && len(refused) > 0:
		return nil, refused[0]
	case len(out) == 0:
		return nil, fmt.Errorf("there are no scenarios to check")
	}
	for _, err := range refused {
		a.note("left out: %v", err)
	}
	return out, nil
}

// answer makes the verdicts, and hands those of each system to decided when they are complete.
// When ctx ends, what was not begun is Unknown. What is small may be decided ahead of its turn.
func (a *app) answer(ctx context.Context, questions []question, f *checkFlags, o checker.Options, decided func([]checker.Result) error) (results []checker.Result, err error) {
	ctx, cancel := context.WithCancel(ctx)
	early, others := newAhead(questions), f.ahead(o, len(questions))
	parallel.Together(1+others, func(k int) {
		if k > 0 {
			for early.work(ctx, f, o) {
			}
			return
		}
		defer cancel()
		results, err = a.answerInTurn(ctx, early, f, o, decided)
	})
	return results, err
}

// answerInTurn makes the verdicts one after the other, but for what is there already.
func (a *app) answerInTurn(ctx context.Context, early *ahead, f *checkFlags, o checker.Options, decided func([]checker.Result) error) ([]checker.Result, error) {
	questions := early.questions
	bar := a.newProgress(ctx, len(questions), f.options.Quiet)
	defer bar.clear()
	o.Progress = bar.follow
	var results []checker.Result
	var leftOut []string
	told := 0
	for i, q := range questions {
		bar.begin(q.sc.ID, q.property.ID)
		r, err := a.verdict(ctx, early, i, f, o)
		switch _, claimed := q.sc.Claim(q.property); {
		case !claimed && errors.Is(err, checker.ErrNothingToJudge):
			leftOut = append(leftOut, q.sc.ID)
		case err != nil:
			// It is undecided in what is written: nobody must take what is left for all that was asked.
			a.note("%s, %s: no verdict", q.sc.ID, q.property)
			a.worsen(ExitUsage)
			results = append(results, unfinished(q.sc, q.property, oneLine(err.Error())))
		default:
			r.Accept(f.accept)
			a.worsen(strictly(&r, f.strict))
			results = append(results, r)
		}
		if i+1 == len(questions) || questions[i+1].sc.System() != q.sc.System() {
			bar.clear()
			if err := decided(results[told:]); err != nil {
				return nil, err
			}
			told = len(results)
		}
	}
	switch others := len(leftOut) - 1; {
	case len(leftOut) > 0 && len(results) == 0:
		return nil, fmt.Errorf("no selected scenario can be judged by %s: choose others, or a property that \"%s list\" shows", f.property, a.name)
	case others > 0:
		a.note("left out %s and %d more, which cannot be judged by %s", leftOut[0], others, f.property)
	case others == 0:
		a.note("left out %s, which cannot be judged by %s", leftOut[0], f.property)
	}
	return results, nil
}

// verdict answers question i, or says that it was stopped.
func (a *app) verdict(ctx context.Context, early *ahead, i int, f *checkFlags, o checker.Options) (r checker.Result, err error) {
	q := early.questions[i]
	ready := early.take(i, func() bool { return early.work(ctx, f, o) })
	switch {
	case ready != nil:
		r = *ready
	case ctx.Err() != nil:
		return unfinished(q.sc, q.property, "stopped before it began"), nil
	default:
		o.Tried = early.tried[i]
		r, err = f.decide(ctx, q, o)
	}
	if err == nil {
		a.explainSearch(f.engine, &r)
		f.kernel.confirm(ctx, a, &r)
	}
	return r, err
}

// decide makes one verdict. What holds is tried with any number of processes, too, where that is cheap, unless nobody
// would see it.
func (f *checkFlags) decide(ctx context.Context, q question, o checker.Options) (checker.Result, error) {
	r, err := f.engine.decide(ctx, q.sc, q.property, o)
	if err == nil && (!f.options.Quiet || f.results.instead()) {
		parameterized.Extend(ctx, q.sc, &r)
	}
	return r, err
}
