package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/internal/lists"
	"lockpick/internal/native"
	left "lockpick/internal/outcome"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
	"lockpick/sched"
)

// ofKills reports whether kills show natively what a verdict says: what is left of files, and whether one more run gets
// through. What a reader or a recovery finds, and what other faults do, is asked of the model only.
func (n *challenge) ofKills(r *checker.Result) bool {
	if n.spec.Crashes == 0 || n.spec.Recover+n.spec.Read != "" ||
		r.Property.Native != scenarios.RunsWithKills && r.Property.Question != scenarios.LockedOut {
		return false
	}
	return r.Counterexample == nil || slices.ContainsFunc(r.Counterexample.Schedule, func(c sched.Choice) bool {
		return c.Action == sched.Kill
	}) && !slices.ContainsFunc(r.Counterexample.Schedule, func(c sched.Choice) bool {
		return c.Action == sched.PowerLoss || c.Action == sched.Stall || c.Fails != ""
	})
}

// kill kills each command natively after each of its calls. What is lost contradicts that nothing is; a run that does
// not get through contradicts nothing, for it may later.
func (n *challenge) kill(ctx context.Context, r *checker.Result) error {
	if n.killing == nil {
		t, err := n.task()
		if err != nil {
			return err
		}
		t.Refuses = func(string) bool { return true }
		if n.killing, err = native.Open(ctx, t); err != nil {
			return err
		}
	}
	n.begins()
	k := native.Kills{Steps: killSteps(n.spec, r), Again: r.Property.Question == scenarios.LockedOut,
		Group: n.spec.Kill == scenarios.KillGroup}
	if !k.Again {
		k.Lost = lost
	}
	got, err := n.killing.Kill(ctx, n.budget, k)
	if err != nil {
		return err
	}
	places := fmt.Sprint(got.Tried)
	if got.Tried < got.Places {
		places = fmt.Sprintf("%d of %d", got.Tried, got.Places)
	}
	tried := places + " runs with a kill, "
	if got.Drawn > 0 {
		tried = fmt.Sprintf("%s runs with a kill, %d random, ", places, got.Drawn)
	}
	switch bad := got.Bad; {
	case bad != nil && r.Verdict == checker.Broken:
		r.Native = fmt.Sprintf("confirmed: %s: %s (%d of %d runs)", bad.Schedule, bad.Differs[0], bad.Seen, bad.Runs)
	case r.Verdict == checker.Broken:
		r.Native = "not confirmed, which refutes nothing: " + tried + "none of which shows it"
	case bad != nil:
		r.Native = fmt.Sprintf("%s: %s (%d of %d runs)", bad.Schedule, bad.Differs[0], bad.Seen, bad.Runs)
		if !k.Again && r.Verdict == checker.Holds {
			r.Verdict, r.Complete, r.Why = checker.Unknown, false, contradicted
		}
		if k.Again {
			r.Native += "; it may later"
		}
	case k.Again:
		r.Native = tried + "after each of which one more run gets through"
	default:
		r.Native = tried + "each file as before or as after"
	}
	n.addUntried(r)
	return nil
}

// killSteps are the calls of a counterexample that has a kill, up to where one more run begins.
func killSteps(spec *command.Spec, r *checker.Result) []native.Step {
	if r.Counterexample == nil || len(r.Counterexample.Trace) == 0 {
		return nil
	}
	steps, _ := nativeSteps(spec, r)
	end := slices.IndexFunc(steps, func(s native.Step) bool { return s.Command >= len(spec.Commands) })
	if end < 0 {
		end = len(steps)
	}
	return steps[:end]
}

// lost says which file is neither as before nor as serial runs leave it.
func lost(before map[string]string, serial []map[string]string, now map[string]string) string {
	orders := lists.Map(serial, func(s map[string]string) left.Order { return left.Order{Outcome: outcomeOf(s)} })
	on := left.Passage{Rewritten: slices.Sorted(maps.Keys(before))}
	return left.NewAtomic(outcomeOf(before), orders, on).Judge(outcomeOf(now), nil)
}

func outcomeOf(names map[string]string) (o left.Outcome) {
	for name, text := range names { // order does not matter: they are sorted
		switch {
		case text == "directory":
			name, text = name+"/", ""
		case !strings.HasPrefix(text, `"`) && !strings.HasPrefix(text, "-> "):
			text = "= " + text
		}
		o.Tree = append(o.Tree, left.Entry{Name: name, Thing: left.Told(text)})
	}
	slices.SortFunc(o.Tree, func(a, b left.Entry) int { return strings.Compare(a.Name, b.Name) })
	return o
}

// untried says which of the faults that were allowed do not happen natively; "" for none.
func (n *challenge) untried(r *checker.Result) string {
	s, all := n.spec, []string(nil)
	add := func(allowed bool, what string) {
		if allowed {
			all = append(all, what)
		}
	}
	add(s.Crashes > 0 && !n.ofKills(r), "kills")
	add(s.PowerLosses > 0, "losses of power")
	add(s.FailingCalls > 0, "failing calls")
	add(s.Stalls > 0, "long delays")
	add(len(s.Skew) > 0, "clocks that are apart")
	if len(all) == 0 {
		return ""
	}
	return strings.Join(all, " and ") + " are shown on the model only"
}

// addUntried adds that to what was tried.
func (n *challenge) addUntried(r *checker.Result) {
	if text := n.untried(r); r.Native != "" && text != "" {
		r.Native += "; " + text
	}
}
