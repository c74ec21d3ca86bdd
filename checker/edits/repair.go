package edits

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"lockpick/checker"
	"lockpick/checker/internal/edit"
	"lockpick/fsfake"
	"lockpick/internal/lists"
	"lockpick/internal/outcome"
	"lockpick/scenarios"
)

// A Repair is a change to a protocol that is broken, and what was decided of it.
type Repair struct {
	// Text says what is changed, with the places.
	Text string `json:"text"`
	// Proof says of what it holds; empty where it does not, and then Why says why not.
	Proof string `json:"proof,omitempty"`
	Why   string `json:"why,omitempty"`
	// Calls is its size where it holds: the [Distance] from what was broken.
	Calls int `json:"calls,omitempty"`
	// Still lists what other rows of the protocol have broken, and have so with the change.
	Still []string `json:"still,omitempty"`
	// Open: it is not known whether it holds.
	Open bool `json:"open,omitempty"`
	// Changed is the scenario with the change.
	Changed scenarios.Scenario `json:"-"`
}

// RepairStates is how many states decide a change, where the options do not say: many are tried, and most that are
// broken are so in few. What holds with two processes has ten times as many with three.
const RepairStates = 30_000

// RepairProtocol tries changes to a protocol in Go that is broken, the smallest first: one call more, left out, or
// later; then a lock around operations, by itself and with one call more or less. It returns the first that holds:
// everything that the scenario claims something of, in its setting and with three processes where it has two; nothing
// else may break that did not, neither here nor in the other rows of the protocol, family. One after the other,
// processes must get what they did before. One that also holds all that those rows claim comes before others. see
// gets what was tried.
func RepairProtocol(ctx context.Context, sc *scenarios.Scenario, family []scenarios.Scenario, o checker.Options,
	see func(Repair)) (*Repair, error) {
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
	m := mender{row: rowOf(sc), o: o}
	for i := range family {
		m.family = append(m.family, rowOf(&family[i]))
	}
	if err := m.ask(ctx, &r); err != nil {
		return nil, err
	}
	var first *Repair
	for _, c := range m.changes(r.Sites()) {
		fix := m.try(ctx, c)
		if ctx.Err() != nil {
			break
		}
		see(fix)
		switch {
		case fix.Proof != "" && fix.Still == nil:
			return &fix, nil
		case fix.Proof != "" && first == nil:
			first = &fix
		}
	}
	if first != nil {
		return first, nil
	}
	return nil, ctx.Err()
}

// A row is a scenario of the protocol, and what its tasks do one after the other.
type row struct {
	sc     *scenarios.Scenario
	serial [][]ran
	spins  bool // a process makes calls without an end, in a loop that is not marked
}

func rowOf(sc *scenarios.Scenario) row { return row{sc, serially(sc), spins(sc)} }

// A mender tries changes to one scenario.
type mender struct {
	row
	o      checker.Options
	asked  []*scenarios.Property // what is broken first
	family []row
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
	o.States *= 10
	var unknown error
	for _, bounded := range []checker.Options{quick, o} {
		m.asked, m.broken, unknown = nil, 0, nil
		for _, c := range m.sc.Claims {
			how := bounded
			if c.Property.OfCycles() { // they have no bound on preemptions
				how = o
			}
			res, err := decided(ctx, &noted, c.Property, how)
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

// full are the options with which nothing is left out.
func (m *mender) full() checker.Options {
	o := m.o
	o.SkipOdds, o.Tried, o.Workers = true, &checker.Tried{}, 1
	return o
}

// decided is [checker.Check], to the first counterexample.
func decided(ctx context.Context, sc *scenarios.Scenario, p *scenarios.Property, o checker.Options) (checker.Result,
	error) {
	within, stop := context.WithCancel(ctx)
	defer stop()
	var met *checker.Result
	o.Found = func(r *checker.Result) {
		first := *r
		met = &first
		stop()
	}
	r, err := checker.Check(within, sc, p, o)
	if met != nil {
		return *met, nil
	}
	return r, err
}

// changes lists what to try: one change before two, and of as many the one of fewer calls.
func (m *mender) changes(sites []*edit.Site) (all [][]*edit.Edit) {
	synced := m.sc.Setting.PowerLosses > 0
	excl := !slices.ContainsFunc(sites, func(s *edit.Site) bool { return s.Op.Call.IsLock() })
	var without, added, later, over, own []*edit.Edit
	each := func(s *edit.Site) {
		// What is looked at and judged must be looked at.
		if s.OfName() && !s.Looks() || s.Op.Call == fsfake.CallSetfd {
			without = append(without, s.Without()...)
		}
		added = append(added, s.Added(synced, excl && !m.stays(s.Op.Path))...)
		over = append(over, s.Takeovers()...)
		if e := s.IfOwn(); e != nil {
			own = append(own, e)
		}
	}
	for _, s := range sites {
		if line := s.Line(sites); line != nil {
			each(line)
		}
		each(s)
		for _, next := range s.Next() {
			// What is done under a lock is not moved out of it.
			if e := s.Swapped(next); e != nil && next.Op.Call != edit.Work.Call {
				later = append(later, e)
			}
		}
	}
	if i := slices.IndexFunc(sites, func(s *edit.Site) bool { return s.Op.Call == fsfake.CallSetlk }); i >= 0 {
		added = append(added, sites[i].OfDescription())
	}
	var guards []*edit.Edit
	for _, span := range []edit.Span{edit.Operation, edit.Held, edit.Task} {
		guards = append(guards, edit.Guard(m.guard(), span))
	}
	alone := func(of ...[]*edit.Edit) {
		for _, e := range slices.Concat(of...) {
			all = append(all, []*edit.Edit{e})
		}
	}
	alone(added, without, own, later, guards)
	for _, g := range guards {
		for _, e := range slices.Concat(added, without, over, own) {
			all = append(all, []*edit.Edit{e, g})
		}
	}
	for _, g := range guards {
		for _, e := range over {
			for _, f := range slices.Concat(without, own) {
				all = append(all, []*edit.Edit{e, f, g})
			}
		}
	}
	return m.bySize(all)
}

// bySize sorts changes; those that are as large stay in their order.
func (m *mender) bySize(all [][]*edit.Edit) [][]*edit.Edit {
	type sized struct {
		change       []*edit.Edit
		edits, calls int
	}
	var sizes []sized
	was := callsOf(m.sc)
	for _, c := range all {
		is := changedBy(*m.sc, c)
		sizes = append(sizes, sized{c, len(c), distance(was, callsOf(&is))})
	}
	slices.SortStableFunc(sizes, func(a, b sized) int {
		return cmp.Or(cmp.Compare(a.edits, b.edits), cmp.Compare(a.calls, b.calls))
	})
	for i, s := range sizes {
		all[i] = s.change
	}
	return all
}

// stays reports whether a name is there when all have ended: with O_EXCL whoever comes later could not open it.
func (m *mender) stays(name string) bool {
	return slices.ContainsFunc(m.serial, func(run []ran) bool {
		return slices.ContainsFunc(run[len(run)-1].tree, func(e outcome.Entry) bool { return "/"+e.Name == name })
	})
}

// guard is the name of a lock file of its own: beside what the scenario watches, or further up, where it is in nobody's
// way who lists the directory.
func (m *mender) guard() string {
	if len(m.sc.Watch) == 0 {
		return "/tmp/guard"
	}
	name := path.Base(m.sc.Watch[0]) + ".guard"
	for dir := path.Dir(m.sc.Watch[0]); ; dir = path.Dir(dir) {
		file := path.Join(dir, name)
		_, err := m.sc.NewMachine().Proc(1).Stat(dir)
		if err == nil && m.serially([]*edit.Edit{edit.Guard(file, edit.Operation)}) == "" {
			return file
		}
		if dir == "/" {
			return path.Join("/tmp", name)
		}
	}
}

// try decides one change.
func (m *mender) try(ctx context.Context, change []*edit.Edit) (fix Repair) {
	changed := changedBy(*m.sc, change)
	fix.Text, fix.Changed = textOf(change), changed
	var watch edit.Recorder
	changed = edit.Through(changed, watch.Watch)
	if fix.Why = m.serially(change); fix.Why != "" {
		return fix
	}
	counts := []int{m.sc.Setting.Processes}
	for n := counts[0] + 1; n <= 3; n++ {
		if _, err := changed.WithProcesses(n); err == nil {
			counts = append(counts, n)
		}
	}
	var still []string
	for i, n := range counts {
		is, was, o := changed, *m.sc, m.full()
		is.More, was.More = false, false // each number is asked for itself
		if n != counts[0] {
			is, _ = changed.WithProcesses(n)
			was, _ = m.sc.WithProcesses(n)
		}
		if n > 2 {
			o.States *= 10
		}
		if c := m.breaks(ctx, &is, &was, o); c.why != "" {
			fix.Why, fix.Open = fmt.Sprintf("with %s %s", processes(n), c.why), c.open
			return fix
		}
		if watch.Refuses() && !m.refuses {
			fix.Why = "somebody is refused the lock who got it before"
			return fix
		}
		if i > 0 {
			continue
		}
		// Before more processes are asked, which takes longer.
		c := m.takesOver(ctx, change, &is, o)
		if c.why == "" {
			still, c = m.elsewhere(ctx, change)
		}
		if c.why != "" {
			fix.Why, fix.Open = c.why, c.open
			return fix
		}
	}
	for _, e := range change {
		if fix.Why = e.Doubt(); fix.Why != "" {
			fix.Open = true
			return fix
		}
	}
	held := lists.Map(m.asked, func(p *scenarios.Property) string { return p.ID })
	with := map[int]string{1: processes(counts[0]), 2: "2 and 3 processes",
		3: "1 to 3 processes"}[len(counts)]
	fix.Calls = Distance(m.sc, &changed)
	fix.Still, fix.Proof = still, strings.Join(held, ", ")+" with "+with+"; nothing else that was asked is worse"
	return fix
}

// textOf says what is changed, with the places.
func textOf(change []*edit.Edit) string {
	var texts []string
	for _, e := range change {
		text := e.Text
		if e.Answer != "" {
			text += " (taken to " + e.Answer + ")"
		}
		if at := placeOf(e); at != "" {
			text += " (" + at + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; and ")
}

// fewPreemptions show most of what is broken.
const fewPreemptions = 3

// breaks says what is asked and does not hold, or is not known, or else what is worse.
func (m *mender) breaks(ctx context.Context, is, was *scenarios.Scenario, o checker.Options) comparison {
	few := fewPreemptions
	quick := o
	quick.Preemptions, quick.States = &few, min(o.States, RepairStates)
	for i, p := range slices.Concat(m.asked[:m.broken], m.asked) {
		how := quick
		if i >= m.broken || p.OfCycles() { // cycles have no bound on preemptions
			how = o
		}
		r, err := decided(ctx, is, p, how)
		switch {
		case i < m.broken && (err != nil || r.Verdict != checker.Broken): // what is broken shows soon, mostly
		case errors.Is(err, checker.ErrNothingToJudge):
			return comparison{why: fmt.Sprintf("nobody comes so far that %s could be judged", p)}
		case err != nil:
			if _, cannot := decided(ctx, was, p, how); cannot == nil { // else it is not asked of so many
				return comparison{why: fmt.Sprintf("%s is not known: %v", p, err), open: true}
			}
		case r.Verdict == checker.Broken:
			return comparison{why: fmt.Sprintf("%s is broken by %s", p, r.Counterexample.Schedule)}
		case r.Verdict != checker.Holds:
			return comparison{why: fmt.Sprintf("%s is not known: %s", p, r.Why), open: true}
		}
	}
	return m.worse(ctx, is, was, o)
}

func processes(n int) string {
	if n == 1 {
		return "1 process"
	}
	return fmt.Sprintf("%d processes", n)
}
