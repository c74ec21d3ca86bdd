package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"lockpick/checker"
	"lockpick/checker/report"
	"lockpick/scenarios/command"
)

// repairTime is how long one setting of a repair may take where --timeout says nothing else.
const repairTime = time.Minute

// repair tries changes to commands that are broken, and prints those that hold: as a command or a diff to paste, with
// what was decided of them. What was tried and does not hold is a line.
func (a *app) repair(ctx context.Context, spec *command.Spec, results []checker.Result, f *runFlags) error {
	i := slices.IndexFunc(results, func(r checker.Result) bool { return r.Counterexample != nil })
	if i < 0 {
		return nil
	}
	say := func(label, text string) {
		for _, l := range a.style(a.stdout, f.width).Tell(label, text) {
			_, _ = fmt.Fprintln(a.stdout, l)
		}
	}
	_, _ = fmt.Fprintln(a.stdout)
	var alone []checker.Result
	for _, t := range spec.KilledAlone() {
		r, err := decideTrial(ctx, &t.Spec, f)
		if err != nil {
			return err
		}
		alone = append(alone, r...)
	}
	found := false
	for _, r := range spec.Repairs(spoiled(spec, &results[i])) {
		proof, why, err := holds(ctx, spec, &r, alone, f)
		switch {
		case err != nil:
			say("tried", r.Name+": it could not be decided: "+strings.TrimPrefix(err.Error(), "command: "))
		case why != "":
			say("tried", r.Name+": "+why)
		default:
			say("fix", r.Name+": holds with "+proof)
			for _, l := range r.Paste {
				_, _ = fmt.Fprintln(a.stdout, "          "+l)
			}
			found = true
		}
	}
	for _, r := range alone {
		if r.Verdict == checker.Broken {
			say("but", fmt.Sprintf("a kill breaks %s of a command that runs alone, too: no lock mends that", r.Property))
			break
		}
	}
	if !found {
		say("fix", "none of these holds; see the cause")
	}
	return nil
}

// spoiled is a file that ends as in no order of the commands, relative to the directory; empty when there is none.
func spoiled(spec *command.Spec, r *checker.Result) string {
	for _, row := range report.TableOf(r.Counterexample) {
		if slices.ContainsFunc(spec.Files, func(f command.File) bool { return f.Name == row[0] }) {
			return row[0]
		}
	}
	return ""
}

// holds decides a repair in every setting of its trials. It returns these, or why it is not one. What is broken
// alone, too, is no reason against it.
func holds(ctx context.Context, spec *command.Spec, r *command.Repair, alone []checker.Result, f *runFlags) (
	proof, why string, err error) {
	same, err := spec.SameAlone(r)
	if err != nil || !same {
		return "", "a command does something else then, when it runs alone", err
	}
	var names []string
	for _, t := range r.Trials() {
		results, err := decideTrial(ctx, &t.Spec, f)
		if err != nil {
			return "", "", err
		}
		for _, r := range results {
			anyway := func(a checker.Result) bool { return a.Property.ID == r.Property.ID && a.Verdict == checker.Broken }
			switch {
			case r.Verdict == checker.Unknown:
				return "", fmt.Sprintf("with %s it is unknown whether %s holds: %s", t.Name, r.Property, r.Why), nil
			case r.Verdict == checker.Holds || slices.ContainsFunc(alone, anyway):
			default:
				return "", fmt.Sprintf("with %s %s is broken by %s", t.Name, r.Property, r.Counterexample.Schedule), nil
			}
		}
		names = append(names, t.Name)
	}
	return strings.Join(names, ", with "), "", nil
}

// decideTrial decides everything that is asked of some commands.
func decideTrial(ctx context.Context, spec *command.Spec, f *runFlags) (out []checker.Result, err error) {
	limit := repairTime
	if f.timeout > 0 {
		limit = f.timeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	sc, err := spec.Scenario()
	if err != nil {
		return nil, err
	}
	for _, c := range sc.Claims {
		r, err := checker.Check(ctx, &sc, c.Property, checker.Options{Workers: 1, States: f.states, SkipOdds: true})
		if err != nil {
			return nil, err
		}
		out = append(out, r)
	}
	return out, nil
}
