package checker

import (
	"fmt"
	"slices"
	"strings"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/learn"
	"lockpick/internal/lists"
	"lockpick/scenarios"
)

// A Case is the verdict under assumptions about the file system. A program that looks at an
// inode number or a file time is told what the file system makes of them, so its verdict may
// depend on it; one that does not look gets the same answer everywhere, and has no cases.
type Case struct {
	// Assume fixes everything that is looked at.
	Assume  scenarios.Assumptions `json:"assume"`
	Verdict Verdict               `json:"verdict"`
	// Why says, for Unknown, which budget ended first.
	Why string `json:"why,omitempty"`
}

// severalCases reports whether what was looked at leaves more than one case to decide.
func severalCases(sc *scenarios.Scenario, looks engine.Observed) bool {
	return len(sc.Setting.Assumed().Cases(looks.Inodes(), looks.Times())) > 1
}

// comparedFirst decides a scenario in which numbers never come back on a machine that numbers files
// for each process as it meets them, which forgets what it will not compare again: a loop that makes
// a file in every round has an end there, and none where each file has its number for good. The two
// can be told apart only with a number itself; where somebody gets hold of one, the latter decides.
func comparedFirst(sc *scenarios.Scenario, ask bool, decide func(*scenarios.Scenario, bool) (Result, error)) (Result, error) {
	st, ok := sc.Setting.Compared()
	if !ok || sc.AssumesOneCase() {
		return decide(sc, ask)
	}
	in, err := sc.In(st)
	if err != nil {
		return Result{}, err
	}
	res, err := decide(&in, ask)
	if err != nil || res.looks.Numbers() {
		return decide(sc, ask)
	}
	st = res.Scenario.Setting
	st.Machine.InodeNumbers = sc.Setting.Machine.InodeNumbers
	out, err := res.Scenario.In(st)
	res.Scenario = &out
	return res, err
}

// byCases decides a scenario again in each case that is open, if there are several. r is the
// result on the machine as the setting has it.
func (r Result) byCases(sc *scenarios.Scenario, decide func(*scenarios.Scenario) (Result, error)) (Result, error) {
	assumed, looks := sc.Setting.Assumed(), r.looks
	if sc.AssumesOneCase() {
		return r.reusing(sc, decide)
	}
	for {
		cases := assumed.Cases(looks.Inodes(), looks.Times())
		if len(cases) == 1 {
			return r, nil
		}
		var results []Result
		seen := looks
		if r.undecided { // each case says itself whether its verdict depends on sleeps
			seen.Slept = false
		}
		for _, c := range cases {
			st := sc.Setting
			st.Assume = c
			in, err := sc.In(st)
			if err != nil {
				return Result{}, err
			}
			res, err := decide(&in)
			if err != nil {
				return Result{}, fmt.Errorf("%w (assuming %s)", err, c)
			}
			seen = seen.Or(res.looks)
			results = append(results, res)
		}
		if len(assumed.Cases(seen.Inodes(), seen.Times())) == len(cases) {
			// All cases broken: then the counterexample is that of the machine as the setting has it.
			if r.undecided && !slices.ContainsFunc(results, func(c Result) bool { return c.Verdict != Broken }) {
				whole, err := decide(sc)
				if err != nil {
					return Result{}, err
				}
				r, seen.Slept = whole, seen.Slept || whole.looks.Slept
			}
			r.looks = seen
			return r.merged(cases, results), nil
		}
		looks = seen // something is looked at in one case only: tell that apart, too
	}
}

// reusing decides programs again where inode numbers come back, if they were shown some and r, for which none does, holds. Of
// file times Conditions says what is assumed.
func (r Result) reusing(sc *scenarios.Scenario, decide func(*scenarios.Scenario) (Result, error)) (Result, error) {
	assumed := sc.Setting.Assumed()
	if r.Verdict != Holds || !r.looks.Inodes() || assumed.Inodes != scenarios.InodesOpen {
		return r, nil
	}
	cases := assumed.Cases(true, false)
	st := sc.Setting
	st.Assume = cases[1]
	in, err := sc.In(st)
	if err != nil {
		return Result{}, err
	}
	res, err := decide(&in)
	if err != nil {
		return Result{}, fmt.Errorf("%w (assuming %s)", err, cases[1])
	}
	r.looks = r.looks.Or(res.looks)
	return r.merged(cases, []Result{r, res}), nil
}

// merged joins the results of all cases. r, on the machine as the setting has it, is one of
// them or between them: its counterexample stands for all when all are broken.
func (r Result) merged(assumed []scenarios.Assumptions, results []Result) Result {
	first := 0 // the one that decides: broken if any is, else unknown if any is
	var cases []Case
	var stats Stats
	for i := range results {
		c := &results[i]
		cases = append(cases, Case{Assume: assumed[i], Verdict: c.Verdict, Why: c.Why})
		if rank(c.Verdict) > rank(results[first].Verdict) {
			first = i
		}
		stats.add(c.Stats)
	}
	out := results[first]
	if differ := (&Result{Cases: cases}).Depends(); !differ && (out.Verdict != Broken || r.Verdict == Broken) {
		if out.Verdict == Broken {
			out = r
		}
		out.Scenario = r.Scenario
	}
	out.Claim, out.Claimed = r.Claim, r.Claimed
	out.Cases, out.looks, out.Stats, out.checked = cases, r.looks, stats, true
	if out.Verdict == Unknown {
		out.Why = "where " + cases[first].Assume.Where() + ": " + out.Why
	}
	return out
}

// rank orders verdicts by what one case says of the whole.
func rank(v Verdict) int { return [...]int{Unknown: 1, Holds: 0, Broken: 2}[v] }

// claim is what the scenario claims of the property, nil for nothing.
func (r *Result) claim() *scenarios.Claim {
	i := slices.IndexFunc(r.Scenario.Claims, func(c scenarios.Claim) bool { return c.Property.ID == r.Property.ID })
	if i < 0 {
		return nil
	}
	return &r.Scenario.Claims[i]
}

// casesAsClaimed reports whether each case has the verdict that is claimed of it. A claim
// that depends on what nobody looks at is not met.
func (r *Result) casesAsClaimed() bool {
	claim := r.claim()
	if claim == nil {
		return true
	}
	if r.Cases == nil && r.checked {
		assumed := r.Scenario.Setting.Assumed()
		open := claim.Where.Inodes != 0 && assumed.Inodes == 0 || claim.Where.Times != 0 && assumed.Times == 0
		return !open
	}
	return !slices.ContainsFunc(r.Cases, func(c Case) bool { return c.Verdict != claim.Under(c.Assume) })
}

// ClaimText is the claim in words: "broken where inodes-reused". It is empty when nothing
// is claimed.
func (r *Result) ClaimText() string {
	if !r.Claimed {
		return ""
	}
	if c := r.claim(); r.Claim == Broken && c != nil && c.Where != (scenarios.Assumptions{}) {
		return r.Claim.String() + " where " + c.Where.String()
	}
	return r.Claim.String()
}

// Conditions says in sentences what the verdict depends on that is not the program's doing:
// how the file system gives numbers and times, and that nobody is delayed; and of which of several
// locks it says nothing, since nothing happened there that could have been wrong. There are none
// for a program that looks at neither, and of what breaks anyway.
//
// One thing is assumed of every marked retry loop and is not among them; see [Result.Patience].
func (r *Result) Conditions() []string { return scenarios.Texts(r.conditions()) }

// Conditioned are the conditions and what is assumed of retry loops, with their codes.
func (r *Result) Conditioned() []scenarios.Premise {
	all := r.conditions()
	if text := r.Patience(); text != "" {
		all = append(all, scenarios.Premise{Code: "retries-go-on", Text: text})
	}
	return all
}

func (r *Result) conditions() []scenarios.Premise {
	if r.Scenario == nil { // it came with an error
		return nil
	}
	var out []scenarios.Premise
	add := func(code, text string) { out = append(out, scenarios.Premise{Code: code, Text: text}) }
	if text := r.depends(); text != "" {
		add("in-some-cases", text)
	}
	if text := r.sleeps(); text != "" {
		add("sleeps", text)
	}
	if r.Verdict == Broken {
		if r.FollowsOneOrder() {
			add("one-order",
				"does not follow all orders of the calls that processes or threads of one program make side by side; "+
					"the program alone was tried in others, too, and never ends like this")
		}
		return out
	}
	if r.Verdict == Holds {
		for _, text := range unjudged(r.Property, r.Facts) {
			add("lock-not-judged", "says nothing of "+text)
		}
	}
	if set := &r.Scenario.Setting; r.looks.Clock && (set.Stalls == 0 || set.SetsBack()) {
		add("nobody-delayed", "assumes that nobody is delayed: the clock is read, and no stall is allowed")
	}
	if set := &r.Scenario.Setting; r.looks.Clock && set.Stalls > 0 && len(set.Punctual) > 0 {
		add("punctual", "assumes that "+set.PunctualNames()+" delayed: no time passes but what is slept")
	}
	if r.looks.Loops {
		times := engine.BelievedAfter
		if r.Verdict == Holds {
			times = learn.LateForks
		}
		add("loops-go-on", fmt.Sprintf("assumes that a loop that has done the same %d times goes on for ever", times))
	}
	if r.looks.Joined {
		add("polls-forget",
			"assumes that a program that polls forgets what it saw when it sleeps, as it did wherever "+
				"that was tried out")
	}
	if r.looks.Has(scenarios.TimersLast) {
		add("timers-outlast-calls",
			"assumes that no call of a program takes as long as a timer that runs in it meanwhile")
	}
	if r.looks.Has(scenarios.Mapped) {
		add("mappings-keep", "assumes that who maps a file goes on to see what it held then")
	}
	if a := r.Scenario.Setting.Assumed(); r.Scenario.AssumesOneCase() {
		if r.looks.Inodes() && a.Inodes == scenarios.InodesOpen && len(r.Cases) == 0 {
			add("inodes-not-reused", "assumes that the inode numbers shown never come back")
		}
		if r.looks.Times() && a.Times == scenarios.TimesOpen && !r.ordered {
			add("times-shared", "assumes that changes may share the file times shown")
		}
	}
	return out
}

// Unconditional reports whether there is a verdict, and it depends on nothing that [Result.Conditions] and
// [Result.Patience] tell. That it is the same in all cases is no condition.
func (r *Result) Unconditional() bool {
	n := len(r.conditions())
	if len(r.Cases) > 0 && !r.Depends() {
		n--
	}
	return r.Verdict != Unknown && n <= 0 && r.Patience() == ""
}

// FollowsOneOrder reports whether processes or threads of one program made calls side by side on the way, and one order
// of these was followed.
func (r *Result) FollowsOneOrder() bool { return r.looks.Has(scenarios.OneOrder) }

// Depends reports whether the verdict is not the same in all cases.
func (r *Result) Depends() bool {
	return slices.ContainsFunc(r.Cases, func(c Case) bool { return c.Verdict != r.Cases[0].Verdict })
}

// depends says in which cases the verdict is which.
func (r *Result) depends() string {
	if len(r.Cases) == 0 {
		return ""
	}
	var parts []string
	for _, v := range []Verdict{Broken, Holds, Unknown} {
		var in []scenarios.Assumptions
		for _, c := range r.Cases {
			if c.Verdict == v {
				in = append(in, c.Assume)
			}
		}
		switch {
		case len(in) == len(r.Cases):
			return v.String() + " whether or not " + r.looked()
		case len(in) > 0:
			parts = append(parts, v.String()+" "+r.where(in))
		}
	}
	if len(parts) == 2 && strings.HasPrefix(parts[1], Holds.String()) {
		// One of the two says it all: the one in the words of the case that people choose.
		if strings.HasPrefix(parts[1], "holds if") {
			return parts[1]
		}
		return parts[0]
	}
	return strings.Join(parts, "; ")
}

// looked names what the cases differ in.
func (r *Result) looked() string {
	var words []string
	assumed := r.Cases[0].Assume
	last := r.Cases[len(r.Cases)-1].Assume
	if assumed.Inodes != last.Inodes {
		words = append(words, "inode numbers are reused")
	}
	if assumed.Times != last.Times {
		words = append(words, "a change after a look shows in the time stamp")
	}
	return strings.Join(words, ", and whether or not ")
}

// where describes some of the cases by as few assumptions as say which they are.
func (r *Result) where(in []scenarios.Assumptions) string {
	for _, a := range []scenarios.Assumptions{
		{Times: scenarios.TimesShow}, {Times: scenarios.TimesDiffer}, {Times: scenarios.TimesShared},
		{Inodes: scenarios.InodesReused}, {Inodes: scenarios.InodesNotReused},
	} {
		if !slices.ContainsFunc(r.Cases, func(c Case) bool { return a.Allows(c.Assume) != slices.Contains(in, c.Assume) }) {
			if a.Times == scenarios.TimesShow {
				return "if " + a.Where()
			}
			return "where " + a.Where()
		}
	}
	texts := lists.Map(in, func(a scenarios.Assumptions) string { return "where " + a.Where() })
	return strings.Join(texts, ", or ")
}

// Patience says what is assumed of loops that are marked as retries (scenarios.Task.Retry), where some went round
// that often; empty otherwise. A protocol that gives up later than that is not followed so far.
func (r *Result) Patience() string {
	if !r.looks.Retries || r.Verdict == Broken {
		return ""
	}
	return fmt.Sprintf("assumes that a retry loop whose rounds do the same %d times goes on for ever",
		learn.UnrolledRounds)
}
