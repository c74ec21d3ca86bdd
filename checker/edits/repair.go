package edits

import (
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/internal/edit"
	"lockpick/internal/numbers"
	"lockpick/scenarios"
)

// A Repair is a change to a protocol that is broken, and what was decided of it.
type Repair struct {
	// Text says what is changed, with the places.
	Text string
	// Proof says of what it holds; empty where it does not, and then Why says why not.
	Proof, Why string
	// Open: it is not known whether it holds.
	Open bool
}

// RepairStates is how many states decide a change, where the options do not say: many are tried, and most that are
// broken are so in few. What holds with two processes has ten times as many with three.
const RepairStates = 30_000

// RepairProtocol tries changes to a protocol in Go that is broken, the smallest first: one call more, left out, or
// later; then a lock around operations, by itself and with one call more or less. It returns the first that holds:
// everything that the scenario claims something of, in its setting and with three processes where it has two, and
// no deadlock and no wedge where there was none. One after the other, processes must get what they did before. see
// gets what was tried.
func RepairProtocol(ctx context.Context, sc *scenarios.Scenario, o checker.Options, see func(Repair)) (*Repair, error) {
	if sc.External {
		return nil, fmt.Errorf("edits: %s runs commands: lockpick run --repair changes these", sc.ID)
	}
	if o.States == 0 {
		o.States = RepairStates
	}
	var r edit.Recorder
	if err := r.Alone(sc); err != nil {
		return nil, err
	}
	m := mender{sc: sc, o: o, serial: serially(sc)}
	if err := m.ask(ctx, &r); err != nil {
		return nil, err
	}
	for _, c := range m.changes(r.Sites()) {
		fix := m.try(ctx, c)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		see(fix)
		if fix.Proof != "" {
			return &fix, nil
		}
	}
	return nil, nil
}

// A mender tries changes to one scenario.
type mender struct {
	sc     *scenarios.Scenario
	o      checker.Options
	asked  []*scenarios.Property // what is broken first
	serial []ran
	// refuses: somebody may be refused a lock; broken says how many of those asked are broken.
	refuses bool
	broken  int
}

// ErrHolds says that a scenario needs no repair, ErrUnknown that it is not known whether it holds.
var (
	ErrHolds   = errors.New("nothing that it claims is broken")
	ErrUnknown = errors.New("it is not known whether it holds")
)

// ask finds out what is broken, and notes the scenario's calls.
func (m *mender) ask(ctx context.Context, r *edit.Recorder) error {
	noted := edit.Through(*m.sc, r.Change)
	o := m.full()
	o.Workers = 1
	few := fewPreemptions
	quick := o
	quick.Preemptions = &few
	o.States = max(o.States, checker.SurveyStates)
	var unknown error
	for _, bounded := range []checker.Options{quick, o} {
		m.asked, m.broken, unknown = nil, 0, nil
		for _, c := range m.sc.Claims {
			how := bounded
			if c.Property.OfCycles() { // they have no bound on preemptions
				how = o
			}
			res, err := checker.Check(ctx, &noted, c.Property, how)
			switch {
			case err != nil:
				return err
			case res.Verdict == checker.Broken:
				m.asked = slices.Insert(m.asked, m.broken, c.Property)
				m.broken++
			default:
				m.asked = append(m.asked, c.Property)
				if res.Verdict == checker.Unknown {
					unknown = fmt.Errorf("%w: %s: %s", ErrUnknown, c.Property, res.Why)
				}
			}
		}
		if m.refuses = r.Refuses(); m.broken > 0 {
			return nil
		}
	}
	if unknown != nil {
		return unknown
	}
	return ErrHolds
}

// worse says which property breaks with a change and not without, although nothing is claimed of it, or after a
// kill, or is not known (open); empty for none. Whoever waits for ever breaks nothing else.
func (m *mender) worse(ctx context.Context, changed *scenarios.Scenario, o checker.Options) (why string, open bool) {
	for i, p := range []*scenarios.Property{scenarios.MutualExclusion, scenarios.RWExclusion, scenarios.ForeignRelease,
		scenarios.Deadlock, scenarios.Wedge, scenarios.Wedge} {
		after := i == 5 // a kill, which shows whom a lock outlives
		if p.NeedsProbe() && m.sc.Probe == nil || !after && slices.Contains(m.asked, p) {
			continue
		}
		in, was := *changed, *m.sc
		if after {
			in, was = killed(in), killed(was)
		}
		o.Tried = &checker.Tried{}
		r, err := checker.Check(ctx, &in, p, o)
		if errors.Is(err, checker.ErrNothingToJudge) || err == nil && r.Verdict == checker.Holds {
			continue
		}
		o.Tried = &checker.Tried{}
		before, cannot := checker.Check(ctx, &was, p, o)
		switch {
		case cannot != nil && err != nil, cannot == nil && before.Verdict == checker.Broken:
		case err != nil:
			return fmt.Sprintf("%s is not known: %v", p, err), true
		case r.Verdict == checker.Broken:
			return fmt.Sprintf("%s is broken by %s", p, r.Counterexample.Schedule), false
		default:
			return fmt.Sprintf("%s is not known: %s", p, r.Why), true
		}
	}
	return "", false
}

// killed is a scenario in which somebody may be killed, if its setting can be so.
func killed(sc scenarios.Scenario) scenarios.Scenario {
	st := sc.Setting
	st.Crashes = max(st.Crashes, 1)
	if in, err := sc.In(st); err == nil {
		return in
	}
	return sc
}

// full are the options with which nothing is left out.
func (m *mender) full() checker.Options {
	o := m.o
	o.SkipOdds, o.Tried = true, &checker.Tried{}
	return o
}

// changes lists what to try, the smallest first.
func (m *mender) changes(sites []*edit.Site) (all [][]*edit.Edit) {
	synced := m.sc.Setting.PowerLosses > 0
	excl := !slices.ContainsFunc(sites, func(s *edit.Site) bool { return s.Op.Call.IsLock() })
	var without, added, later []*edit.Edit
	for _, s := range sites {
		if s.OfName() && !s.Looks() { // what is looked at and judged must be looked at
			without = append(without, s.Without()...)
		}
		added = append(added, s.Added(synced, excl)...)
		for _, next := range s.Next() {
			// What is done under a lock is not moved out of it.
			if e := s.Swapped(next); e != nil && next.Op.Call != edit.Work.Call {
				later = append(later, e)
			}
		}
	}
	ops, whole := edit.Guard(m.guard(), false), edit.Guard(m.guard(), true)
	for _, e := range slices.Concat(added, without, later, []*edit.Edit{ops, whole}) {
		all = append(all, []*edit.Edit{e})
	}
	for _, g := range []*edit.Edit{ops, whole} {
		for _, e := range slices.Concat(added, without) {
			all = append(all, []*edit.Edit{e, g})
		}
	}
	return all
}

// guard is the name of a lock file of its own: beside what the scenario watches, if that directory is there.
func (m *mender) guard() string {
	name := "guard"
	dir := "/tmp"
	if len(m.sc.Watch) > 0 {
		name = path.Base(m.sc.Watch[0]) + ".guard"
		if _, err := m.sc.NewMachine().Proc(1).Stat(path.Dir(m.sc.Watch[0])); err == nil {
			dir = path.Dir(m.sc.Watch[0])
		}
	}
	return path.Join(dir, name)
}

// try decides one change.
func (m *mender) try(ctx context.Context, change []*edit.Edit) Repair {
	changed := *m.sc
	var texts []string
	for _, e := range change {
		changed = edit.Through(changed, e.Change)
		text := e.Text
		if e.Answer != "" {
			text += " (taken to " + e.Answer + ")"
		}
		if at := placeOf(e); at != "" {
			text += " (" + at + ")"
		}
		texts = append(texts, text)
	}
	var watch edit.Recorder
	changed = edit.Through(changed, watch.Change)
	fix := Repair{Text: strings.Join(texts, "; and ")}
	if fix.Why = differs(m.serial, serially(&changed)); fix.Why != "" {
		return fix
	}
	counts := []int{m.sc.Setting.Processes}
	if _, err := changed.WithProcesses(3); err == nil && counts[0] == 2 {
		counts = append(counts, 3)
	}
	for _, n := range counts {
		in, o := changed, m.full()
		if n != counts[0] {
			in, _ = changed.WithProcesses(n)
			o.States *= 10
		}
		if fix.Why, fix.Open = m.breaks(ctx, &in, o); fix.Why != "" {
			fix.Why = fmt.Sprintf("with %d processes %s", n, fix.Why)
			return fix
		}
		if watch.Refuses() && !m.refuses {
			fix.Why = "somebody is refused the lock who got it before"
			return fix
		}
	}
	for _, e := range change {
		if fix.Why = e.Doubt(); fix.Why != "" {
			fix.Open = true
			return fix
		}
	}
	var held []string
	for _, p := range m.asked {
		held = append(held, p.ID)
	}
	with := numbers.Count(counts[0], "process", "processes")
	if len(counts) > 1 {
		with = "2 and 3 processes"
	}
	fix.Proof = strings.Join(held, ", ") + " with " + with + "; nothing else is worse"
	return fix
}

// fewPreemptions show most of what is broken.
const fewPreemptions = 3

// breaks says what is asked and does not hold, or is not known (open); empty when all does.
func (m *mender) breaks(ctx context.Context, sc *scenarios.Scenario, o checker.Options) (why string, open bool) {
	few := fewPreemptions
	quick := o
	quick.Preemptions = &few
	for i, p := range slices.Concat(m.asked[:m.broken], m.asked) {
		how := quick
		if i >= m.broken || p.OfCycles() { // cycles have no bound on preemptions
			how = o
		}
		r, err := checker.Check(ctx, sc, p, how)
		switch {
		case i < m.broken && (err != nil || r.Verdict != checker.Broken): // what is broken shows soon, mostly
		case errors.Is(err, checker.ErrNothingToJudge):
			return fmt.Sprintf("nobody comes so far that %s could be judged", p), false
		case err != nil:
			return fmt.Sprintf("%s is not known: %v", p, err), true
		case r.Verdict == checker.Broken:
			return fmt.Sprintf("%s is broken by %s", p, r.Counterexample.Schedule), false
		case r.Verdict != checker.Holds:
			return fmt.Sprintf("%s is not known: %s", p, r.Why), true
		}
	}
	return m.worse(ctx, sc, o)
}
