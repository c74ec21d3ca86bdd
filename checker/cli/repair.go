package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"lockpick/checker"
	"lockpick/checker/parameterized"
	"lockpick/checker/report"
	"lockpick/checker/trace"
	"lockpick/internal/native"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
	"lockpick/scenarios/command"
)

// repairTime is how long one setting of a repair may take where --timeout says nothing else, and soonTime before a lock
// around each command was tried.
const repairTime, soonTime = time.Minute, 8 * time.Second

// repair tries changes to commands that are broken until one mends all, and prints those that hold: as a command or a
// diff to paste, with what was decided of them. What was tried and does not hold is a line.
func (a *app) repair(ctx context.Context, spec *command.Spec, args []string, results []checker.Result,
	f *runFlags) error {
	i := slices.IndexFunc(results, func(r checker.Result) bool { return r.Counterexample != nil })
	if i < 0 {
		return nil
	}
	say := func(label, text string) { a.say(a.style(a.stdout, f.draw.width), label, text) }
	_, _ = fmt.Fprintln(a.stdout)
	strict := *spec
	if !strict.Refused.Declared { // no exit status is a refusal then
		strict.Refused = command.Refused{Declared: true}
	}
	spec = &strict
	t := &trials{f: f, spec: spec, broken: idsOf(results), here: f.challenge(spec, args).from != "",
		alone: map[string]bool{}}
	found := false
	var uses []string
	for _, s := range results[i].Counterexample.Trace {
		for _, c := range s.Calls {
			uses = append(uses, c.Op.Path, c.Op.Path2)
		}
	}
	why := ""
	queue := spec.Repairs(spoiled(spec, &results[i]), uses)
	around := slices.IndexFunc(queue, func(r command.Repair) bool { return r.Around })
	for n := 0; n < len(queue); n++ {
		r := &queue[n]
		if r.Instead && why != otherwiseAlone {
			continue
		}
		if t.limit, t.late = repairTime, false; n < around {
			t.limit = soonTime
		}
		var proof string
		var err error
		proof, why, err = t.tries(ctx, r)
		switch {
		case err != nil && ctx.Err() != nil:
			return err
		case t.late && proof == "" && n < around && f.timeout == 0:
			queue = append(queue, *r)
			say("tried", fmt.Sprintf("%s: it was not decided in %v, and is tried again if nothing else holds", r.Name,
				t.limit))
		case errors.Is(err, context.DeadlineExceeded):
			t.open = true
			say("tried", r.Name+": it was not decided in time: --timeout gives more")
		case err != nil:
			say("tried", r.Name+": it could not be decided: "+strings.TrimPrefix(err.Error(), "command: "))
		case why != "":
			say("tried", r.Name+": "+why)
		default:
			if !found && f.draw.html() {
				if mended, err := r.Trials()[0].Spec.Scenario(); err == nil {
					a.beside(&mended, results, r.Name)
				}
			}
			say("fix", r.Name+": holds with "+proof)
			for _, l := range r.Paste {
				_, _ = fmt.Fprintln(a.stdout, "          "+l)
			}
			found = true
		}
		if proof != "" && !t.part { // what follows is more intrusive
			break
		}
	}
	if found && len(t.assumes) > 0 {
		say("assumed", "with "+t.number+": "+strings.Join(t.assumes, "; ")+".")
	}
	switch {
	case found:
	case t.open:
		say("fix", "none of these is known to hold. Each says why; where it was stopped, --timeout gives more time")
	default:
		say("fix", "none of these holds; see the cause")
	}
	return nil
}

// beside has pages show the counterexamples beside the same order with a change.
func (a *app) beside(changed *scenarios.Scenario, results []checker.Result, text string) {
	for i := range results {
		r := &results[i]
		if r.Counterexample == nil {
			continue
		}
		var err error
		if r.Counterexample.Beside, err = checker.Beside(changed, r.Counterexample, text); err != nil {
			a.note("--html: %s is not shown beside the run with the change: %v", r.Property, err)
		}
	}
}

// idsOf lists the properties that are broken.
func idsOf(results []checker.Result) (ids []string) {
	for _, r := range results {
		if r.Verdict == checker.Broken && !slices.Contains(ids, r.Property.ID) {
			ids = append(ids, r.Property.ID)
		}
	}
	return ids
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

// trials decide repairs.
type trials struct {
	f      *runFlags
	spec   *command.Spec
	broken []string // what is to be mended
	// alone says of properties whether a kill breaks them of a command that runs alone, which no lock mends.
	alone   map[string]bool
	number  string        // of processes that were proved by a lock
	assumes []string      // by that
	here    bool          // files outside of the directory are those of this machine
	open    bool          // a repair was not decided
	limit   time.Duration // of each setting
	late    bool          // something was not decided within the limit
	part    bool          // the last one that holds mends not all that is to be mended
}

// tries decides a repair. It is tried natively, too, beside that.
func (t *trials) tries(ctx context.Context, r *command.Repair) (proof, why string, err error) {
	r.Trials() // which share what is executed
	within, cancel := context.WithCancel(ctx)
	native, bad, failed := "", "", error(nil)
	var beside sync.WaitGroup
	beside.Go(func() { native, bad, failed = t.natively(within, r) })
	defer beside.Wait()
	defer cancel()
	if proof, why, err = t.holds(ctx, r); err != nil || proof == "" {
		return "", why, err
	}
	if beside.Wait(); failed != nil || bad != "" {
		return "", bad, failed
	}
	return proof + native, "", nil
}

const otherwiseAlone = "a command does something else then, when it runs alone"

// holds decides a repair in every setting of its trials. It returns these, or why it is not one. What is broken
// alone, too, is no reason against it, if it mends something else. Nor is a kill of which it is not known what it
// breaks: the proof says so.
func (t *trials) holds(ctx context.Context, fix *command.Repair) (proof, why string, err error) {
	same, err := t.spec.SameAlone(fix)
	if err != nil || !same {
		return "", otherwiseAlone, err
	}
	var names, anyway []string
	var first *scenarios.Scenario
	by, err := t.throughout(ctx, fix)
	if err != nil {
		return "", "", err
	}
	open := ""          // of a kill, which is told last: what holds without is a repair
	proved := by != nil // of more processes
	for i, trial := range fix.Trials() {
		killed := trial.Spec.Crashes > fix.Spec.Crashes
		if i == 1 && !killed && !proved {
			proved = t.copies(ctx, fix, first)
		}
		if proved && !killed {
			if !slices.Contains(names, t.number) {
				names = append(names, t.number)
			}
			continue
		}
		is := t.decide(ctx, &trial.Spec, t.limit, by, "")
		results, sc, err := is.results, is.sc, is.err
		t.late = t.late || is.late
		switch {
		case errors.Is(err, command.ErrTooLong):
			open = fmt.Sprintf("; with %s it is not decided: %v, ask it of the changed commands with --crashes 1",
				trial.Name, command.ErrTooLong)
		case err != nil && killed && ctx.Err() == nil:
			open = fmt.Sprintf("; with %s it could not be decided: %v", trial.Name, err)
		case err != nil:
			return "", "", err
		}
		for _, r := range results {
			alone := false
			if r.Verdict == checker.Broken {
				if alone, err = t.brokenAlone(ctx, fix, &r); err != nil {
					return "", "", err
				}
			}
			unknown := fmt.Sprintf("with %s it is unknown whether %s holds: %s", trial.Name, r.Property, r.Why)
			switch {
			case r.Verdict == checker.Unknown && killed:
				open = cmp.Or(open, "; "+unknown)
			case r.Verdict == checker.Unknown:
				t.open, why = true, unknown
				if len(names) > 0 {
					why = "holds with " + strings.Join(names, ", with ") + "; " + why
				}
				return "", why, nil
			case r.Verdict == checker.Holds:
			case alone:
				anyway = append(anyway, r.Property.ID)
			default:
				return "", fmt.Sprintf("with %s %s is broken by %s", trial.Name, r.Property,
					r.Counterexample.Schedule), nil
			}
		}
		if open != "" {
			break
		}
		if names = append(names, trial.Name); len(names) == 1 {
			first = sc
		}
	}
	keeps := func(id string) bool { return slices.Contains(anyway, id) }
	t.part = slices.ContainsFunc(t.broken, keeps)
	if proof = strings.Join(names, ", with "); len(anyway) > 0 {
		slices.Sort(anyway)
		broken := strings.Join(slices.Compact(anyway), " and ")
		if mends := func(id string) bool { return !keeps(id) }; !slices.ContainsFunc(t.broken, mends) {
			return "", "it mends nothing: a kill breaks " + broken + " of the commands as they are, too", nil
		}
		proof += "; but a kill still breaks " + broken + ", as it does of the commands as they are"
	}
	return proof + open, "", nil
}

// throughout looks whether each command has a lock from its beginning to its end; nil where it has not. Then nothing
// needs to be explored, but what a kill leaves behind.
func (t *trials) throughout(ctx context.Context, fix *command.Repair) (*command.Throughout, error) {
	within, cancel := context.WithTimeout(ctx, cmp.Or(t.f.timeout, t.limit, repairTime))
	defer cancel()
	is, _, err := fix.Throughout(within)
	if is == nil || err != nil {
		return nil, cmp.Or(ctx.Err(), err)
	}
	t.number = "any number of copies"
	t.assumes = []string{fmt.Sprintf("each command keeps the lock until it ends, as in %s, whatever the time is and "+
		"whatever numbers it draws", numbers.Count(is.Runs, "run", "runs"))}
	return is, nil
}

// brokenAlone reports whether what breaks a property of a repair is a kill that breaks it of a command that runs alone,
// too, or of one that runs before another as they are. A change that only adds a lock leaves the commands as they are:
// then it is so where none of them is interrupted.
func (t *trials) brokenAlone(ctx context.Context, fix *command.Repair, r *checker.Result) (bool, error) {
	id := r.Property.ID
	if fix.OnlyLocks && r.Property.Judged != nil && r.Counterexample.Cost.Preemptions == 0 {
		return true, nil
	}
	if broken, known := t.alone[id]; known {
		return broken, nil
	}
	for _, trial := range t.spec.KilledAlone() {
		if t.alone[id] || len(trial.Spec.Commands) > 1 && r.Counterexample.Cost.Preemptions > 0 {
			continue
		}
		is := t.decide(ctx, &trial.Spec, repairTime, nil, id)
		if is.err != nil && ctx.Err() != nil {
			return false, is.err
		}
		// What fails alone breaks nothing there.
		t.alone[id] = slices.ContainsFunc(is.results, func(r checker.Result) bool {
			return r.Verdict == checker.Broken && r.Counterexample.Cost.Preemptions == 0
		})
	}
	return t.alone[id], nil
}

// copies proves that more processes hold by the lock that all keep to, with no look at their interleavings. Where it
// does not, for whatever reason, these are looked at.
func (t *trials) copies(ctx context.Context, r *command.Repair, few *scenarios.Scenario) bool {
	sc, err := r.Copies()
	if err != nil || sc == nil || few.Setting.Assume.Sleeps == scenarios.SleepsLast {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(t.f.timeout, t.limit, repairTime))
	defer cancel()
	proof, _, err := parameterized.Commands(ctx, sc)
	if err != nil || proof == nil || proof.Few > 0 && proof.Few <= few.Setting.Processes {
		return false
	}
	t.assumes, t.number = anyAssumes(proof), "any number of copies"
	if proof.Few > 0 {
		t.number = fmt.Sprintf("any %d copies of these commands", proof.Few)
	}
	return true
}

// natively looks on the machine as it is for an end of a repair that no serial order gives, with a process more. It
// returns what was tried, to be added to the proof, or why it is no repair.
func (t *trials) natively(ctx context.Context, r *command.Repair) (tried, why string, err error) {
	trials := r.Trials()
	trial := &trials[min(1, len(trials)-1)]
	if trial.Spec.Crashes > r.Spec.Crashes {
		trial = &trials[0]
	}
	n := &challenge{spec: &trial.Spec, here: t.here, budget: t.f.budget, begins: func() {}}
	defer n.close()
	if n.budget == 0 {
		return "", "", nil
	}
	var rep native.Report
	c, err := n.check(ctx, trial.Spec.Refused.Declared)
	if err == nil {
		rep, err = c.Sweep(ctx, n.budget, true)
	}
	switch {
	case err == nil && rep.Bad != nil:
		return "", fmt.Sprintf("with %s it is broken natively: %s: %s", trial.Name, rep.Bad.Schedule,
			strings.Join(rep.Bad.Differs, "; ")), nil
	case err == nil:
		return "; natively, with " + trial.Name + ": " + sweptText(&rep), "", nil
	case ctx.Err() != nil:
		return "", "", err
	}
	return "; not tried natively: " + oneLine(err.Error()), "", nil
}

// A decision is what comes of a trial. late: something was not decided within the limit.
type decision struct {
	results []checker.Result
	sc      *scenarios.Scenario
	late    bool
	err     error
}

// decide decides everything that is asked of some commands, or one property; by a lock that they have from their
// beginnings to their ends, as far as that decides it.
func (t *trials) decide(ctx context.Context, spec *command.Spec, limit time.Duration, by *command.Throughout,
	only string) (is decision) {
	within, cancel := context.WithTimeout(ctx, cmp.Or(t.f.timeout, limit, repairTime))
	defer cancel()
	by.Asks(spec)
	sc, err := spec.Scenario()
	if err != nil {
		return decision{err: err}
	}
	is.sc = &sc
	tried := &checker.Tried{}
	for _, c := range sc.Claims {
		if only != "" && c.Property.ID != only {
			continue
		}
		r := checker.NewResult(&sc, c.Property, nil)
		holds, why, decided, err := by.Judges(within, &sc, c.Property)
		switch {
		case err != nil:
			return decision{late: within.Err() != nil, err: err}
		case !decided:
		case why != "":
			r.Verdict, r.Why = checker.Unknown, why
		case holds:
			r.Verdict = checker.Holds
		default:
			r.Verdict, r.Counterexample = checker.Broken, &trace.Counterexample{} // with no preemption
		}
		if decided {
			is.results = append(is.results, r)
			continue
		}
		r, err = checker.Check(within, &sc, c.Property, checker.Options{Workers: 1, States: t.f.states, SkipOdds: true,
			Tried: tried})
		if is.late = is.late || within.Err() != nil; err != nil {
			return decision{late: is.late, err: err}
		}
		is.results = append(is.results, r)
	}
	return is
}
