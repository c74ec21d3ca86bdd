package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// surveyAll is --survey without a value.
const surveyAll = "all"

// surveyRunStates bounds the states of each question of a survey of a command, where nobody says: a state
// costs as much as ten of a protocol in Go.
const surveyRunStates = 100_000

// A runSurvey is a survey of a command under way.
type runSurvey struct {
	app     *app
	f       *runFlags
	studies []command.Study
	lines   map[string]*checker.Surveyed // by hazard, as far as they were decided
	decided map[string]bool              // whether that was to the end
	assumes []string
}

// situation finds a situation of a survey by its name; nil for all of them, or those of a hazard.
func situation(studies []command.Study, name string) (*command.Situation, error) {
	choices := []string{surveyAll}
	for _, st := range studies {
		choices = append(choices, st.Hazard.ID)
	}
	if slices.Contains(choices, name) {
		return nil, nil
	}
	plain, on, _ := strings.Cut(name, "-on-")
	for _, st := range studies {
		for _, one := range st.Situations {
			choices = append(choices, one.Name)
			if one.Name != plain {
				continue
			}
			if on != "" {
				one = one.On(on)
			}
			return &one, nil
		}
	}
	return nil, fmt.Errorf("--survey=%s: there is no such hazard, and no such situation of this command%s", name, meant(name, choices))
}

// surveyRun decides the situations that are asked for, and writes what was found out.
func (a *app) surveyRun(ctx context.Context, s *runSurvey, args []string) error {
	s.f.states = cmp.Or(s.f.states, surveyRunStates)
	studies := slices.DeleteFunc(slices.Clone(s.studies), func(st command.Study) bool {
		return s.f.survey != surveyAll && s.f.survey != st.Hazard.ID
	})
	var table *report.SurveyTable
	if !s.f.draw.instead() {
		var hazards []scenarios.Hazard
		for i := range studies {
			hazards = append(hazards, studies[i].Hazard)
		}
		subject := s.studies[0].Situations[0].Spec.Commands[0].String()
		table = report.NewSurveyTable(a.stdout, subject, hazards, s.options(&command.Spec{}, args))
	}
	var results []checker.Result
	var notAsked []report.NotAsked
	for i := range studies {
		line, err := s.line(ctx, &studies[i])
		if ctx.Err() != nil {
			line, err = s.stopped(&studies[i]), nil
		}
		if err == nil && table != nil {
			err = table.Add(line)
		}
		if err != nil {
			return err
		}
		results = slices.Concat(results, line.Broken, line.Unknown, line.Holds)
		if line.NotAsked != "" {
			notAsked = append(notAsked, report.NotAsked{Hazard: line.Hazard.ID, Why: line.NotAsked})
		}
		a.worsen(exitOfRow(line, s.f.strict))
	}
	return s.end(table, results, notAsked, args)
}

// end writes what a survey says below its rows, and the files that are asked for.
func (s *runSurvey) end(
	table *report.SurveyTable, results []checker.Result, notAsked []report.NotAsked, args []string,
) error {
	a, spec := s.app, &command.Spec{}
	first := slices.IndexFunc(results, func(r checker.Result) bool { return r.Counterexample != nil })
	if first >= 0 {
		one, err := situation(s.studies, situationName(&results[first]))
		if err != nil {
			return err
		}
		spec = &one.Spec
	}
	o := s.options(spec, args)
	o.NotAsked = notAsked
	if table != nil {
		if err := table.End(); err != nil {
			return err
		}
		s.show(results, o)
	}
	return errors.Join(s.f.draw.write(a, a.stdout, results, o), s.f.draw.keep(results, o, ofCommands(spec)))
}

// options are those of reports, where each situation has commands of its own.
func (s *runSurvey) options(spec *command.Spec, args []string) report.Options {
	o := s.f.reportOptions(s.app, spec, args)
	o.Replay, o.Bundle = s.replay, nil
	return o
}

// stopped is what is known of a hazard when the survey is interrupted: that it is broken, or nothing.
func (s *runSurvey) stopped(st *command.Study) *checker.Surveyed {
	l := s.lines[st.Hazard.ID]
	switch {
	case s.decided[st.Hazard.ID]:
		return l
	case l != nil && len(l.Broken) > 0:
		l.Close()
		return l
	}
	return &checker.Surveyed{Hazard: st.Hazard, NotAsked: cmp.Or(st.NotAsked, checker.Stopped)}
}

// show prints what came of the counterexamples on the kernel, and what is assumed.
func (s *runSurvey) show(results []checker.Result, o report.Options) {
	a := s.app
	broken, same, confirmed := 0, 0, 0
	var not, modelOnly []string
	for i := range results {
		r := &results[i]
		if r.Verdict != checker.Broken {
			continue
		}
		broken++
		if strings.HasPrefix(r.Native, "confirmed") {
			confirmed++
		} else {
			modelOnly = append(modelOnly, situationName(r)+" "+r.Native)
		}
		if strings.HasPrefix(r.Counterexample.Kernel, command.Agrees) {
			same++
		} else {
			not = append(not, situationName(r)+" "+r.Counterexample.Kernel)
		}
	}
	_, _ = fmt.Fprintln(a.stdout)
	if broken > 0 {
		text := fmt.Sprintf("%d of %d schedules go on this kernel as on the model, call by call", same, broken)
		a.say(o.Style, "kernel", strings.Join(append([]string{text}, not...), "; "))
		if s.f.budget > 0 {
			text := fmt.Sprintf("%d of %d schedules confirmed", confirmed, broken)
			a.say(o.Style, "native", strings.Join(append([]string{text}, modelOnly...), "; "))
		}
	}
	a.say(o.Style, "assumed", strings.Join(s.assumes, "; ")+".")
}

// situationName is the name of the situation that a result is of.
func situationName(r *checker.Result) string {
	return strings.TrimPrefix(r.Scenario.SettingName(), "survey-")
}

// replay is the command that decides the situation of a result alone.
func (s *runSurvey) replay(r *checker.Result) string {
	words := []string{s.app.program}
	for i, arg := range s.f.withoutOutputs(s.app.args) {
		if arg == "--survey" || strings.HasPrefix(arg, "--survey=") {
			continue
		}
		words = append(words, report.ShellWord(arg))
		if i == 0 {
			words = append(words, "--survey="+situationName(r), "--property", r.Property.ID)
		}
	}
	return strings.Join(words, " ")
}

// line decides what is asked about a hazard, once.
func (s *runSurvey) line(ctx context.Context, st *command.Study) (*checker.Surveyed, error) {
	if l := s.lines[st.Hazard.ID]; l != nil {
		return l, nil
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	l := &checker.Surveyed{Hazard: st.Hazard, NotAsked: st.NotAsked, On: st.On}
	s.lines[st.Hazard.ID] = l
	for i := range st.Situations {
		if err := s.ask(ctx, l, &st.Situations[i], st.Situations[i].Asked); err != nil {
			return nil, err
		}
	}
	if st.Of != nil {
		if err := s.onFileSystems(ctx, l, st); err != nil {
			return nil, err
		}
	}
	l.Close()
	if l.NotAsked == "" && l.Broken == nil && l.Unknown == nil && l.Holds == nil {
		l.NotAsked = "none of it can be asked of this command; what is assumed says why"
	}
	s.decided[st.Hazard.ID] = true
	return l, nil
}

// assume adds to what is assumed, each text once.
func (s *runSurvey) assume(texts []string) {
	for _, text := range texts {
		if !slices.Contains(s.assumes, text) {
			s.assumes = append(s.assumes, text)
		}
	}
}

// ask asks properties in a situation. Beside what is broken only mutual exclusion is asked, and what was too
// large is not asked of more runs.
func (s *runSurvey) ask(ctx context.Context, l *checker.Surveyed, one *command.Situation, asked []string) error {
	if len(asked) == 0 || l.Failed() && one.Spec.Inside == "" && !one.Apart {
		return nil
	}
	before := len(l.Broken)
	var sc, strict scenarios.Scenario
	err := extending(&one.Spec, s.f.began, func() (err error) {
		sc, strict, err = one.Spec.Readings()
		return err
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil { // a call that is not modelled, say: the other hazards have their verdicts
		p, unknown := scenarios.FindProperty(asked[0])
		if unknown != nil {
			return unknown
		}
		sc.ID, sc.Summary, sc.Setting.Processes = one.Spec.ID, one.Summary, len(one.Spec.Commands)
		l.Take(&sc, p, checker.Result{}, err)
		return nil
	}
	sc.Summary, strict.Summary = one.Summary, one.Summary
	s.assume(scenarios.Texts(sc.Assumes))
	defer func() { s.assume(scenarios.Texts(sc.Assumed())) }()
	already := newInquiry()
	n := s.f.challenge(&one.Spec, nil)
	defer n.close()
	sp := &one.Spec // without its faults it is natively what another situation is
	n.onlyConfirms = sp.Crashes+sp.FailingCalls+sp.PowerLosses+sp.Stalls > 0 || sp.Left || len(sp.Living) > 0 ||
		sp.FileSystem() != ""
	for i, id := range asked {
		at := slices.IndexFunc(sc.Claims, func(c scenarios.Claim) bool { return c.Property.ID == id })
		// assumed says why it is not asked
		if at < 0 || !s.open(l, one, sc.Claims[at].Property) || one.Apart && len(l.Broken) > before {
			continue
		}
		p := sc.Claims[at].Property
		f := *s.f
		f.skipOdds = true
		r, err := s.app.decideRun(ctx, &one.Spec, &sc, &strict, p, already, &f)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if more, failed := one.Spec.Extend(err, s.f.began); more {
			return s.ask(ctx, l, one, asked[i:])
		} else if failed != nil {
			err = failed
		}
		if err == nil {
			if s.app.witness(ctx, &one.Spec, n, &r)(); ctx.Err() != nil {
				return ctx.Err()
			}
			r.Claimed = false
			r.Accept(s.f.accept)
		}
		l.Take(&sc, p, r, err)
	}
	return nil
}

// open reports whether a property is to be asked in a situation.
func (s *runSurvey) open(l *checker.Surveyed, one *command.Situation, p *scenarios.Property) bool {
	tooLarge := func(r checker.Result) bool {
		return r.Property.ID == p.ID && r.Stats.States >= s.f.states && r.Scenario.Setting.Processes < len(one.Spec.Commands)
	}
	beside := p.Judgement() == scenarios.ByHistory || one.Apart
	return (s.f.property == "" || s.f.property == p.ID) && l.Asks(p) && (beside || !l.Failed()) &&
		!slices.ContainsFunc(l.Unknown, tooLarge)
}

// onEach asks a situation on each of some file systems; what breaks on one is asked on the next.
func (s *runSurvey) onEach(ctx context.Context, l *checker.Surveyed, of *command.Situation, names []string) error {
	for _, name := range names {
		on, there := of.On(name), &checker.Surveyed{}
		if err := s.ask(ctx, there, &on, of.Asked); err != nil {
			return err
		}
		there.Close()
		l.Broken, l.Unknown, l.Holds = append(l.Broken, there.Broken...), append(l.Unknown, there.Unknown...), append(l.Holds, there.Holds...)
	}
	return nil
}

// onFileSystems asks again on each file system what holds on none in particular.
func (s *runSurvey) onFileSystems(ctx context.Context, l *checker.Surveyed, st *command.Study) error {
	for _, of := range s.studies {
		if !slices.Contains(st.Of, of.Hazard.ID) {
			continue
		}
		base, err := s.line(ctx, &of)
		if err != nil {
			return err
		}
		l.Unknown = append(l.Unknown, base.Unknown...)
		for i := range of.Situations {
			again := of.Situations[i]
			again.Asked = nil
			for k := range base.Holds {
				switch r := &base.Holds[k]; {
				case situationName(r) != again.Name:
				case r.Alike(r.Scenario):
					l.Holds = append(l.Holds, *r)
				default:
					again.Asked = append(again.Asked, r.Property.ID)
				}
			}
			if err := s.onEach(ctx, l, &again, st.On); err != nil {
				return err
			}
		}
	}
	if l.Broken == nil && l.Unknown == nil && l.Holds == nil {
		l.NotAsked = "all that is asked breaks on no file system in particular"
	}
	return nil
}
