package cli

import (
	"cmp"
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
func ifRefused(r checker.Result, strict *scenarios.Scenario, decide deciding) (
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
	exit := "A failure"
	if statuses != "" {
		exit = "exit " + strings.ReplaceAll(statuses, ",", " or ")
	}
	r.Why = "it depends: it holds if a command that fails has done nothing; " +
		"say so with --refused STATUS, or --refused none"
	if full.Verdict == checker.Broken {
		r.Question = &trace.Question{
			Ask: fmt.Sprintf("Does %s mean that the command has done nothing?", exit),
			Yes: trace.Answer{Flags: "--refused " + cmp.Or(statuses, "STATUS"), Verdict: checker.Holds},
			No:  trace.Answer{Flags: "--refused none", Verdict: checker.Broken},
		}
		r.Question.Because = full.Counterexample.Met()
	}
	return r, nil
}

// ifSkipped decides what is broken so far once more with runs that may skip: they exit 0 and change no file, because
// they find another one at work, as after flock -n || exit 0.
func ifSkipped(ctx context.Context, r checker.Result, spec *command.Spec, decide deciding) (
	checker.Result, error) {
	if !r.Counterexample.Idles() || ctx.Err() != nil {
		return r, nil
	}
	skips := *spec
	skips.Refused = command.Refused{Declared: true, Skips: true}
	sc, err := skips.Scenario()
	if err != nil {
		return r, err
	}
	even, err := decide(&sc, sc.Claims[0].Property)
	if err != nil || even.Verdict == checker.Unknown {
		return r, err
	}
	if even.Verdict == checker.Broken && slices.Equal(even.Counterexample.Schedule, r.Counterexample.Schedule) {
		return r, nil // nobody skips in it
	}
	q := &trace.Question{
		Ask: "Does exit 0 of a command that has changed no file mean that it may skip its work while another one runs?",
		Yes: trace.Answer{Flags: "--refused 0", Verdict: even.Verdict},
		No:  trace.Answer{Flags: "--refused none", Verdict: checker.Broken},
	}
	switch {
	case even.Verdict == checker.Broken && even.Counterexample.Failures() == "":
		r = even // what is lost then is lost in earnest
	case even.Verdict == checker.Broken: // by a failure, which may have been a refusal here
	default:
		r.Verdict, r.Complete = checker.Unknown, false
		r.Why = "it depends: it holds if a command that exits 0 and has changed no file has skipped its work; " +
			"say so with --refused 0, or --refused none"
	}
	q.Because = r.Counterexample.Met()
	r.Question = q
	return r, nil
}
