package edits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/internal/edit"
	"lockpick/internal/lists"
	"lockpick/scenarios"
)

// A Weight is what one change does to a protocol that holds.
type Weight struct {
	// Text says what is changed, Place where it is.
	Text, Place string
	// Verdict is on all that the scenario claims to hold: [checker.Holds] means that the change breaks none of it.
	Verdict checker.Verdict
	// Broken is the evidence where a property breaks; nil where nobody gets so far that there is anything to judge.
	Broken *checker.Result
	// Property is the one that breaks, or is not known.
	Property *scenarios.Property
	// With names the later look that a look is compared with, and with which it is left out; empty for none.
	With string
	// Why says why it is not known; of a call left out that only looks, what it is taken to answer.
	Why string
	// Answer is what a call that only looks is taken to answer each time.
	Answer string
}

// ErrBroken says that a scenario does not hold, so that nothing carries it.
var ErrBroken = errors.New("it does not hold")

// Weigh decides a protocol with each of its calls left out, and each two neighbours swapped, by the properties that
// its scenario claims to hold. see gets each answer as soon as it is known. It returns how many pairs of neighbours
// cannot be swapped, since the second hangs on the answer of the first. The error is ErrBroken, ErrUnknown, or that of
// [checker.Check].
func Weigh(ctx context.Context, sc *scenarios.Scenario, o checker.Options, see func(Weight)) (apart int, err error) {
	sites, held, err := sitesOf(ctx, sc, o)
	if err != nil {
		return 0, err
	}
	for _, s := range sites {
		if a := s.Later(); a != nil {
			see(Weight{Text: "without " + s.String(), Place: s.Place(), With: fmt.Sprintf("%s (%s)", a, a.Place())})
		}
		var ways []Weight
		for _, e := range s.Without() {
			ways = append(ways, decide(ctx, sc, held, e, o))
			if e.Answer == "" {
				see(ways[0])
				ways = nil
			}
		}
		if len(ways) > 0 {
			see(taken(ways))
		}
	}
	for _, s := range sites {
		for _, next := range s.Next() {
			if e := s.Swapped(next); e == nil {
				apart++
			} else {
				see(decide(ctx, sc, held, e, o))
			}
		}
	}
	return apart, ctx.Err()
}

// taken is what a call carries that only looks: where it is taken to answer one thing each time that breaks
// something, it carries that. An answer with which nobody ever gets anywhere tells nothing beside others.
func taken(ways []Weight) Weight {
	rank := func(w Weight) int {
		switch {
		case w.Broken != nil:
			return 0
		case w.Verdict == checker.Broken:
			return 3
		case w.Verdict == checker.Unknown:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(ways, func(a, b Weight) int { return cmp.Compare(rank(a), rank(b)) })
	w := ways[0]
	for _, other := range ways[1:] {
		if w.Verdict == checker.Broken && other.Verdict == checker.Holds {
			w.Why += "; holds where it is taken to " + other.Answer
		}
	}
	return w
}

// sitesOf lists the calls of a scenario that holds, and what holds of it.
func sitesOf(ctx context.Context, sc *scenarios.Scenario, o checker.Options) (sites []*edit.Site,
	held []*scenarios.Property, err error) {
	if sc.External {
		return nil, nil, fmt.Errorf("edits: %s runs commands: only the calls of protocols in Go can be changed", sc.ID)
	}
	var r edit.Recorder
	if err := r.Alone(sc); err != nil {
		return nil, nil, err
	}
	noted := edit.Through(*sc, r.Change)
	o.Workers, o.SkipOdds = 1, true // one order of what is noted
	for _, c := range sc.Claims {
		if c.Verdict != scenarios.Holds {
			continue
		}
		res, err := checker.Check(ctx, &noted, c.Property, o)
		switch {
		case err != nil:
			return nil, nil, err
		case res.Verdict == checker.Broken:
			return nil, nil, fmt.Errorf("%w: %s is broken by %s", ErrBroken, c.Property, res.Counterexample.Schedule)
		case res.Verdict != checker.Holds:
			return nil, nil, fmt.Errorf("%w: %s: %s", ErrUnknown, c.Property, res.Why)
		}
		held = append(held, c.Property)
	}
	if held == nil {
		return nil, nil, ErrBroken
	}
	return r.Sites(), held, nil
}

// decide asks what holds of a scenario whether it does with a change, too.
func decide(ctx context.Context, sc *scenarios.Scenario, held []*scenarios.Property, e *edit.Edit,
	o checker.Options) Weight {
	w := Weight{Text: e.Text, Place: placeOf(e), Verdict: checker.Holds}
	changed := edit.Through(*sc, e.Change)
	o.SkipOdds, o.Tried = true, &checker.Tried{}
	for _, p := range held {
		r, err := checker.Check(ctx, &changed, p, o)
		switch {
		case errors.Is(err, checker.ErrNothingToJudge):
			w.Verdict, w.Property = checker.Broken, p
		case err != nil:
			w.Verdict, w.Property, w.Why = checker.Unknown, p, err.Error()
		case r.Verdict == checker.Broken:
			w.Verdict, w.Property, w.Broken = checker.Broken, p, &r
		case r.Verdict == checker.Unknown:
			w.Verdict, w.Property, w.Why = checker.Unknown, p, r.Why
			continue // another one may be broken
		}
		if d := e.Doubt(); d != "" && !clear(e, &r) {
			w.Verdict, w.Property, w.Broken, w.Why = checker.Unknown, p, nil, d
		}
		if w.Verdict != checker.Holds {
			break
		}
	}
	if w.Answer = e.Answer; w.Answer != "" && w.Verdict == checker.Broken {
		w.Why = "where it is taken to " + w.Answer + " each time"
	}
	return w
}

// clear reports whether the run that breaks a property raises no doubt by itself.
func clear(e *edit.Edit, r *checker.Result) bool {
	if r.Verdict != checker.Broken {
		return false
	}
	e.Forget()
	again, err := checker.Replay(r.Scenario, r.Property, r.Counterexample.Schedule)
	return err == nil && again.Broken && e.Doubt() == ""
}

// placeOf says where an edit's calls are.
func placeOf(e *edit.Edit) string {
	all := lists.Map(e.Sites, (*edit.Site).Place)
	return strings.Join(all, " before ")
}
