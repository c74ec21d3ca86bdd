package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/internal/lists"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// A decided has the verdicts on some commands.
type decided struct {
	spec    *command.Spec
	results []checker.Result
	assumes []string
}

// decideAll makes all verdicts, and shows those that were not shown before.
func (a *app) decideAll(ctx context.Context, spec *command.Spec, args []string, f *runFlags, told *verdicts) error {
	whyNot := ""
	if f.any {
		var err error
		if whyNot, err = a.proveAny(ctx, spec, args, f); err != nil || whyNot == "" {
			return err
		}
	}
	told.again(a)
	d, err := a.decide(ctx, spec, args, f, told, false)
	if err != nil {
		return err
	}
	results, saved := d.results, d.spec
	if !f.archive(args) && a.asksThree(d, f) {
		three, few := spec.OneMore(), *f
		few.states = min(cmp.Or(f.states, threeStates), threeStates)
		more, err := a.decide(ctx, &three, args, &few, told, true)
		if err != nil {
			return err
		}
		results = append(results, more.results...)
		if slices.ContainsFunc(more.results, hasCounterexample) {
			saved = more.spec
		}
	}
	if err := told.rest(a); err != nil {
		return err
	}
	o := f.reportOptions(a, saved, args)
	if f.any && !slices.ContainsFunc(results, hasCounterexample) {
		a.worsen(ExitUnknown)
		_, _ = fmt.Fprintln(a.stdout)
		a.tellAny(spec, "UNKNOWN", o.Tell("why", "It is not proved for any number of copies: "+whyNot+"."))
	}
	if !f.draw.instead() {
		a.say(o.Style, "assumed", strings.Join(d.assumes, "; ")+".")
	}
	if !f.repair && len(saved.Commands) > 1 && a.onTerminal() && slices.ContainsFunc(results, hasCounterexample) {
		a.note("broken: --repair tries locks and renames, and prints those that hold")
	}
	if f.repair && !f.draw.instead() {
		if err := a.repair(ctx, saved, args, results, f); err != nil {
			return err
		}
	}
	return errors.Join(f.draw.write(a, a.stdout, results, f.draw.in(o)), f.draw.keep(results, o, o.Bundle))
}

// decide makes the verdicts on some commands. third: they are those of a verdict that holds, and a third run. What is
// not decided then is said on standard error, and ends it: it takes nothing back. What holds is not tried natively.
func (a *app) decide(ctx context.Context, spec *command.Spec, args []string, f *runFlags, told *verdicts, third bool) (
	*decided, error) {
	start := time.Now()
	bar := a.newProgress(ctx, 1, false)
	bar.begin("run:", "learning what the commands do one after the other")
	spec.Share()
	spec.DeadlocksFirst = !f.repair && f.property == ""
	sc, strict, err := spec.Readings()
	bar.clear()
	if errors.Is(err, command.ErrDeadlocks) {
		a.note("%v: only that is decided, without --crashes. Once it is mended, ask again what kills do", err)
		alone := *f
		alone.property = scenarios.Deadlock.ID
		return a.decide(ctx, spec.WithoutKills(), args, &alone, told, third)
	}
	if why := spec.Unseen(err); why != "" && !third {
		return a.undecided(ctx, spec, args, f, told, why)
	}
	if err != nil {
		return nil, err
	}
	asked, err := f.asked(&sc)
	if err != nil {
		return nil, err
	}
	d := &decided{spec: spec}
	n := f.challenge(spec, args)
	defer n.close()
	if !third {
		n.early(ctx, &sc)
	}
	already := newInquiry()
	before := func() error { return nil } // ends the verdict before
	for _, p := range asked {
		r, err := a.decideRun(ctx, spec, &sc, &strict, p, already, f)
		already.broken = already.broken || r.Verdict == checker.Broken
		n.onlyConfirms = f.repair && already.broken // what is repaired is challenged
		witnessed := func() {}
		if err := before(); err != nil {
			return nil, err
		}
		switch {
		case err != nil && ctx.Err() != nil:
			r = checker.NewResult(&sc, p, nil)
			r.Why = "it was stopped"
		case spec.Unseen(err) != "":
			r = checker.NewResult(&sc, p, nil)
			r.Why = spec.Unseen(err)
			witnessed = a.witness(ctx, spec, n, &r)
		case err != nil:
			return nil, err
		case !third || r.Counterexample != nil:
			witnessed = a.witness(ctx, spec, n, &r)
		}
		if third && r.Verdict == checker.Unknown && r.Counterexample == nil {
			if ctx.Err() == nil {
				a.note("%s: with three processes it is not decided (%s): ask with -n 3", p, r.Why)
			}
			break // the space of the others is as large
		}
		before = func() error {
			witnessed()
			r.Elapsed = time.Since(start)
			err := told.tell(a, &r, f, f.reportOptions(a, spec, args), func(o report.Options) {
				if r.Survives = a.survives(ctx, spec, &r, f); r.Survives != "" && !f.draw.instead() {
					a.say(o.Style, "stalls", r.Survives)
				}
			})
			d.results = append(d.results, r)
			return err
		}
		// Else the next one is decided while native runs of this one sleep. Which stall is survived comes before that:
		// with --timeout nothing would be left of the time.
		if !n.sleeps || r.Verdict != checker.Broken || spec.Stalls > 0 {
			if err := before(); err != nil {
				return nil, err
			}
			before = func() error { return nil }
		}
	}
	if err := before(); err != nil {
		return nil, err
	}
	d.assumes = assumedBy(d.results)
	for _, r := range d.results { // of a scenario that was decided in place of this one, too
		for _, text := range scenarios.Texts(append(sc.Assumed(), r.Scenario.Assumed()...)) {
			if !slices.Contains(d.assumes, text) {
				d.assumes = append(d.assumes, text)
			}
		}
	}
	return d, nil
}

// assumedBy lists what the results assume, each once. Behind what only some of them assume stand their properties.
func assumedBy(results []checker.Result) (texts []string) {
	by := map[string][]string{}
	for _, r := range results {
		for _, text := range scenarios.Texts(r.Scenario.Assumes) {
			if by[text] = append(by[text], r.Property.ID); len(by[text]) == 1 {
				texts = append(texts, text)
			}
		}
	}
	for i, text := range texts {
		if len(by[text]) < len(results) {
			texts[i] = fmt.Sprintf("%s (%s)", text, strings.Join(by[text], ", "))
		}
	}
	return texts
}

// undecided is that the model says nothing of some commands. What they leave behind natively may say more.
func (a *app) undecided(ctx context.Context, spec *command.Spec, args []string, f *runFlags, told *verdicts,
	why string) (*decided, error) {
	p := *scenarios.Serializable
	p.Native = scenarios.OrderedRuns
	if asked := cmp.Or(f.property, p.ID); asked != p.ID {
		p.ID, p.Native = asked, 0
	}
	sc := &scenarios.Scenario{ID: spec.ID, Summary: spec.Commands[0].String(), Setting: spec.Setting}
	if sc.Setting.Processes = len(spec.Commands); sc.ID == "" {
		sc.ID = fmt.Sprintf("run/commands/%d", len(spec.Commands))
	}
	r := checker.NewResult(sc, &p, nil)
	r.Verdict, r.Why = checker.Unknown, why
	n := f.challenge(spec, args)
	defer n.close()
	a.witness(ctx, spec, n, &r)()
	return &decided{spec: spec, results: []checker.Result{r}, assumes: []string{"nothing"}},
		told.tell(a, &r, f, f.reportOptions(a, spec, args), func(report.Options) {})
}

// challenge is for the commands of a run; what it copies is there until it is closed.
func (f *runFlags) challenge(spec *command.Spec, args []string) *challenge {
	n := &challenge{spec: spec, budget: f.budget}
	if _, err := os.Stat(spec.Dir); f.survey == "" && (f.from != "" || err == nil && !f.archive(args)) {
		n.from = cmp.Or(f.from, spec.Dir)
	}
	return n
}

// witness asks the kernel about a verdict: whether the model agrees with it call by call, and what the commands do
// natively. It returns what waits for that: commands that sleep go on meanwhile.
func (a *app) witness(ctx context.Context, spec *command.Spec, n *challenge, r *checker.Result) (wait func()) {
	bar := a.newProgress(ctx, 1, false)
	defer bar.clear()
	if r.Counterexample != nil {
		bar.begin(r.Property.ID, "broken on the model; now this kernel is asked")
	}
	n.begins = sync.OnceFunc(func() {
		if bar.w == nil {
			a.note("%s: %s on the model; now it is tried natively", r.Property.ID, r.Verdict)
		}
		bar.begin(r.Property.ID, fmt.Sprintf("%s on the model; now it is tried natively", r.Verdict))
	})
	answer := func() {
		n.answer(ctx, r)
		watchChanges(r)
	}
	if !n.sleeps || n.budget == 0 || r.Verdict != checker.Broken {
		carryOut(ctx, spec, r)
		answer()
		return func() {}
	}
	n.begins()
	n.begins = func() {}
	carried := n.ahead(ctx, r)
	carryOut(ctx, spec, r)
	done := make(chan bool)
	go func() {
		carried()
		answer()
		n.carried = nil // the verdict may be none by now
		close(done)
	}()
	return func() { <-done }
}

// asked lists the properties that are decided.
func (f *runFlags) asked(sc *scenarios.Scenario) ([]*scenarios.Property, error) {
	all := lists.Map(sc.Claims, func(c scenarios.Claim) *scenarios.Property { return c.Property })
	if len(all) == 0 {
		var why []string
		for _, a := range sc.Assumes {
			if strings.HasSuffix(a.Code, "-not-asked") {
				why = append(why, a.Text)
			}
		}
		return nil, fmt.Errorf("nothing can be asked of these commands: %s. Give one command alone, or leave the "+
			"faults out", strings.Join(why, "; "))
	}
	if f.property == "" {
		return all, nil
	}
	for _, p := range all {
		if p.ID == f.property {
			return []*scenarios.Property{p}, nil
		}
	}
	ids := lists.Map(all, func(p *scenarios.Property) string { return p.ID })
	for _, a := range sc.Assumes {
		if a.Code == f.property+"-not-asked" {
			return nil, fmt.Errorf("--property %s: %s. Choose %s", f.property, a.Text, strings.Join(ids, ", "))
		}
	}
	return nil, fmt.Errorf("--property %q is not asked of these commands: choose %s. --inside adds mutual-exclusion; "+
		"--crashes, --power-losses and, for one command, --failing-calls add atomic; all three add wedge; "+
		"--power-losses adds durable",
		f.property, strings.Join(ids, ", "))
}

// afterFurther calls cancel when a further counterexample has been looked for long enough: at once, before it returns,
// where a.further is negative. Its timer is stopped when the context ends, and by what it returns.
func (a *app) afterFurther(ctx context.Context, cancel context.CancelFunc) (stop func() bool) {
	if a.further < 0 {
		cancel()
	}
	timer := time.AfterFunc(cmp.Or(a.further, time.Minute), cancel)
	context.AfterFunc(ctx, func() { timer.Stop() })
	return timer.Stop
}

// decideRun makes one verdict. Where it was not said which exit statuses are refusals, the verdict may depend on it,
// and the result asks; strict is the scenario in which none is. Once there is a counterexample, a worse and a smaller
// one are looked for as long as a.further says, unless --timeout or --kind asks for more. Where another property is
// broken already, this one is asked as long, and may take some times the effort until then; with --repair what is
// repaired is asked.
func (a *app) decideRun(ctx context.Context, spec *command.Spec, sc, strict *scenarios.Scenario,
	p *scenarios.Property, already *inquiry, f *runFlags) (checker.Result, error) {
	if f.repair && already.broken {
		r := checker.NewResult(sc, p, nil)
		r.Why = fmt.Sprintf("another property is broken, so this one is asked of the changed commands; "+
			"without --repair, --property %s asks it of these", p.ID)
		return r, nil
	}
	if f.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.timeout)
		defer cancel()
	}
	bar := a.newProgress(ctx, 1, false)
	defer bar.clear()
	bar.begin(sc.ID, p.ID)
	short := f.timeout == 0 && f.first == scenarios.NoKind
	o := checker.Options{Workers: 1, Kind: f.first, States: f.states, SkipOdds: f.skipOdds, Tried: already.tried}
	shown := func(*checker.Result) {}
	if !f.draw.instead() {
		shown = func(r *checker.Result) {
			if r == nil {
				a.early.takeBack()
				return
			}
			a.early.found(r, f.reportOptions(a, spec, nil))
		}
	}
	decide := func(sc *scenarios.Scenario, p *scenarios.Property) (checker.Result, error) {
		within, cancel := context.WithCancel(ctx)
		defer cancel()
		took, tooMuch := &already.took, ""
		if already.broken {
			took = &effort{}
		}
		o.Progress = func(g checker.Progress) {
			bar.followRun(g)
			if took.follow(g); short && already.broken && tooMuch == "" {
				if tooMuch = already.beyond(took); tooMuch != "" {
					cancel()
				}
			}
		}
		goOn := func() bool { return true }
		o.Found = func(r *checker.Result) {
			switch shown(r); {
			case !short || already.broken:
			case r == nil:
				goOn()
			default:
				goOn = a.afterFurther(within, cancel)
			}
		}
		if short && already.broken {
			a.afterFurther(within, cancel)
		}
		r, err := checker.Check(within, sc, p, o)
		if err == nil && p.Disks > 0 && r.Verdict == checker.Unknown && strings.HasSuffix(r.Why, checker.SomeDisks) {
			p.Disks = 0 // now all of them
			r, err = checker.Check(within, sc, p, o)
		}
		switch {
		case within.Err() == nil || ctx.Err() != nil || r.Complete: // it was not cut short
		case tooMuch != "":
			r.Why = endedAfter(tooMuch, p.ID)
		case already.broken:
			r.Why = endedAfter("a minute", p.ID)
		default:
			r.Why = "it ended a minute after the first counterexample, --timeout 10m looks longer"
		}
		return r, err
	}
	r, err := decide(sc, p)
	// The property of what is left behind counts refusals.
	if strictly, unknown := strict.Property(p.ID); err != nil || unknown != nil || strictly == p ||
		spec.Refused.Declared {
		return r, err
	}
	switch r.Verdict {
	case checker.Holds:
		return ifRefused(r, spec, strict, decide)
	case checker.Broken:
		return ifSkipped(ctx, r, spec, decide)
	}
	return r, nil
}
