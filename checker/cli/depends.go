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
	even, err := withRefused(spec, command.Refused{Declared: true, Skips: true}, decide)
	if err != nil || even.Verdict == checker.Unknown {
		return r, err
	}
	flags := "--refused 0"
	if statuses := even.Counterexample.Failures(); even.Verdict == checker.Broken && statuses != "" {
		// By a failure, which may have been a refusal so far: the two together.
		even, err = withRefused(spec, command.Refused{Skips: true}, decide)
		if err != nil || even.Verdict == checker.Unknown {
			return r, err
		}
		if even.Verdict == checker.Holds {
			flags += "," + statuses
		}
	}
	if even.Verdict == checker.Broken && slices.Equal(even.Counterexample.Schedule, r.Counterexample.Schedule) {
		return r, nil // nobody skips in it
	}
	q := &trace.Question{
		Ask: "Does exit 0 of a command that has changed no file mean that it may skip its work while another one runs?",
		Yes: trace.Answer{Flags: flags, Verdict: even.Verdict},
		No:  trace.Answer{Flags: "--refused none", Verdict: checker.Broken},
	}
	if even.Verdict == checker.Broken {
		r = even // what is lost then is lost in earnest
	} else {
		r.Verdict, r.Complete = checker.Unknown, false
		r.Why = "it depends: it holds if a command that exits 0 and has changed no file has skipped its work; " +
			"say so with " + flags + ", or --refused none"
	}
	q.Because = r.Counterexample.Met()
	r.Question = q
	return r, nil
}

// withRefused decides commands whose exit statuses mean something else.
func withRefused(spec *command.Spec, refused command.Refused, decide deciding) (checker.Result, error) {
	other := *spec
	other.Refused = refused
	sc, err := other.Scenario()
	if err != nil {
		return checker.Result{}, err
	}
	return decide(&sc, sc.Claims[0].Property)
}
