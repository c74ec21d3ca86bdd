package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// A deciding makes a verdict on one property of a scenario.
type deciding func(sc *scenarios.Scenario, p *scenarios.Property) (checker.Result, error)

// ifRefused decides what holds so far once more with no exit status as a refusal. Where that is broken, the verdict
// depends on what the statuses mean, and only the user knows that.
func ifRefused(r checker.Result, spec *command.Spec, strict *scenarios.Scenario, decide deciding) (
	checker.Result, error) {
	full, err := decide(strict, strict.Claims[0].Property)
	if err != nil || full.Verdict == checker.Holds {
		return r, err
	}
	if full.Verdict == checker.Unknown {
		return full, nil
	}
	r.Verdict, r.Complete, r.Counterexample = checker.Unknown, false, full.Counterexample
	r.Also = full.Also
	statuses := full.Counterexample.Failures()
	r.Why = "it depends: it holds if a command that fails has done nothing; " +
		"say so with --refused STATUS, or --refused none"
	if full.Verdict != checker.Broken || statuses == "" {
		return r, nil
	}
	refused := command.Refused{Declared: true, Statuses: full.Counterexample.FailedWith()}
	allowed, flags, err := allowing(spec, refused, decide)
	if err != nil || allowed.Verdict != checker.Holds {
		return r, err
	}
	r.Ask(&trace.Question{
		Ask: fmt.Sprintf("Does %s mean that the command has done nothing?", exits(flags)),
		Yes: trace.Answer{Flags: flags, Verdict: checker.Holds},
		No:  trace.Answer{Flags: "--refused none", Verdict: checker.Broken},
	})
	return r, nil
}

// ifSkipped decides what is broken so far once more with runs that may skip: they exit 0 and change no file, because
// they find another one at work, as after flock -n || exit 0.
func ifSkipped(ctx context.Context, r checker.Result, spec *command.Spec, decide deciding) (
	checker.Result, error) {
	if !r.Counterexample.Idles() || ctx.Err() != nil {
		return r, nil
	}
	// A failure may have been a refusal so far, and may be one beside a skip.
	even, flags, err := allowing(spec, command.Refused{Declared: true, Skips: true}, decide)
	if err != nil || even.Verdict == checker.Unknown {
		return r, err
	}
	if even.Verdict == checker.Broken && slices.Equal(even.Counterexample.Schedule, r.Counterexample.Schedule) {
		return r, nil // nobody skips in it
	}
	q := &trace.Question{
		Ask: "Does exit 0 of a command that has changed no file mean that it may skip its work while another one runs?",
		Yes: trace.Answer{Flags: flags, Verdict: even.Verdict},
		No:  trace.Answer{Flags: "--refused none", Verdict: checker.Broken},
	}
	switch {
	case even.Verdict == checker.Broken && even.Counterexample.Kind == scenarios.Refused:
		// All refuse then, which is milder than what is lost where exit 0 means that the work is done.
	case even.Verdict == checker.Broken:
		r = even // what is lost then is lost in earnest
	default:
		r.Verdict, r.Complete = checker.Unknown, false
		r.Why = "it depends: it holds if a command that exits 0 and has changed no file has skipped its work; " +
			"say so with " + flags + ", or --refused none"
	}
	r.Ask(q)
	return r, nil
}

// allowing decides commands with what they may be refused by, and with each exit status by which they are broken then,
// until there is no other: so what the flags say has been decided.
func allowing(spec *command.Spec, refused command.Refused, decide deciding) (
	r checker.Result, flags string, err error) {
	for more := true; more; {
		other := *spec
		other.Refused = refused
		sc, err := other.Scenario()
		if err != nil {
			return r, "", err
		}
		if r, err = decide(&sc, sc.Claims[0].Property); err != nil {
			return r, "", err
		}
		more = false
		for _, status := range r.Counterexample.FailedWith() {
			if r.Verdict == checker.Broken && !slices.Contains(refused.Statuses, status) {
				refused.Statuses, more = append(slices.Clip(refused.Statuses), status), true
			}
		}
	}
	if refused.Skips {
		flags = ",0"
	}
	slices.Sort(refused.Statuses)
	for _, status := range refused.Statuses {
		flags += fmt.Sprintf(",%d", status)
	}
	return r, "--refused " + strings.TrimPrefix(flags, ","), nil
}

// exits are the statuses of flags in words: "exit 1 or 75".
func exits(flags string) string {
	return "exit " + strings.ReplaceAll(strings.TrimPrefix(flags, "--refused "), ",", " or ")
}
