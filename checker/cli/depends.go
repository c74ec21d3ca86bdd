package cli

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockpick/checker"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
	"lockpick/sched"
)

// A deciding makes a verdict on one property of a scenario.
type deciding func(sc *scenarios.Scenario, p *scenarios.Property) (checker.Result, error)

// ifRefused decides what holds so far once more with no exit status as a refusal. Where that is broken, the verdict depends on
// what the statuses mean, and only the user knows that.
func ifRefused(r checker.Result, strict *scenarios.Scenario, decide deciding) (
	checker.Result, error) {
	full, err := decide(strict, strict.Claims[0].Property)
	if err != nil || full.Verdict == checker.Holds {
		return r, err
	}
	r.Verdict, r.Complete, r.Counterexample = checker.Unknown, false, full.Counterexample
	statuses := failures(full.Counterexample)
	exit := "A failure"
	if statuses != "" {
		exit = "exit " + strings.ReplaceAll(statuses, ",", " or ")
	}
	r.Why = "it depends: it holds if a command that fails has done nothing; " +
		"say so with --refused STATUS, or --refused none"
	if full.Verdict == checker.Broken {
		r.Question = &checker.Question{
			Ask: fmt.Sprintf("Does %s mean that the command has done nothing?", exit),
			Yes: checker.Answer{Flags: "--refused " + cmp.Or(statuses, "STATUS"), Verdict: checker.Holds},
			No:  checker.Answer{Flags: "--refused none", Verdict: checker.Broken},
		}
		r.Question.Because = met(full.Counterexample)
	}
	return r, nil
}

// ifSkipped decides what is broken so far once more with runs that may skip: they exit 0 and change no file, because they find
// another one at work, as after flock -n || exit 0.
func ifSkipped(ctx context.Context, r checker.Result, spec *command.Spec, decide deciding) (
	checker.Result, error) {
	if !idles(r.Counterexample) || ctx.Err() != nil {
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
	q := &checker.Question{
		Ask: "Does exit 0 of a command that has changed no file mean that it may skip its work while another one runs?",
		Yes: checker.Answer{Flags: "--refused 0", Verdict: even.Verdict},
		No:  checker.Answer{Flags: "--refused none", Verdict: checker.Broken},
	}
	if even.Verdict == checker.Broken {
		r = even // what is lost then is lost in earnest
	} else {
		r.Verdict, r.Complete = checker.Unknown, false
		r.Why = "it depends: it holds if a command that exits 0 and has changed no file has skipped its work; " +
			"say so with --refused 0, or --refused none"
	}
	q.Because = met(r.Counterexample)
	r.Question = q
	return r, nil
}

// met says which command met another's lock last and how it ended then: what the question is about.
func met(cx *trace.Counterexample) (because string) {
	at := map[sched.Task]string{}
	for _, st := range cx.Trace {
		for _, c := range st.Calls {
			who := scenarios.ProcessName(st.Choice.Task.Process)
			switch {
			case c.Result.Errno != 0 && c.Op.Call.Contends(&c.Result):
				at[st.Choice.Task] = fmt.Sprintf("%s meets another's lock at step %d: %s answers %s.",
					who, st.N, c.Op, fsfake.ErrnoName(c.Result.Errno))
			case c.Op.Call == fsfake.CallEnd && at[st.Choice.Task] != "":
				because = fmt.Sprintf("%s Then it ends with status %d.", at[st.Choice.Task], c.Op.Flags&^fsfake.ExitIdle)
			}
		}
	}
	return because
}

// failures lists the exit statuses in a counterexample beside 0, in order: "1,75".
func failures(cx *trace.Counterexample) string {
	var statuses []int
	for _, c := range ends(cx) {
		if n := c.Op.Flags &^ fsfake.ExitIdle; n > 0 && n <= 255 {
			statuses = append(statuses, n)
		}
	}
	slices.Sort(statuses)
	var texts []string
	for _, n := range slices.Compact(statuses) {
		texts = append(texts, strconv.Itoa(n))
	}
	return strings.Join(texts, ",")
}

// ends lists the ends of the commands in a counterexample.
func ends(cx *trace.Counterexample) (out []trace.Call) {
	if cx == nil {
		return nil
	}
	for _, st := range cx.Trace {
		for _, c := range st.Calls {
			if c.Op.Call == fsfake.CallEnd {
				out = append(out, c)
			}
		}
	}
	return out
}

// idles reports whether a command ends with status 0 in a counterexample and has changed no file in it.
func idles(cx *trace.Counterexample) bool {
	if cx == nil {
		return false
	}
	changed := map[sched.Task]bool{}
	for _, st := range cx.Trace {
		for _, c := range st.Calls {
			if c.Op.Call.Changes() && c.Result.OK() {
				changed[st.Choice.Task] = true
			}
			if c.Op.Call == fsfake.CallEnd && c.Op.Flags == 0 && !changed[st.Choice.Task] {
				return true
			}
		}
	}
	return false
}
