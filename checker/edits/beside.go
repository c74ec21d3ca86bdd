package edits

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"lockpick/checker"
	"lockpick/checker/internal/edit"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
)

// beside are questions that nothing is claimed of, each in circumstances made of a scenario's. Whoever waits for ever
// breaks nothing else. Of more processes than the scenario has only those are asked that are short then.
var beside = []struct {
	property *scenarios.Property
	in       func(scenarios.Scenario) scenarios.Scenario
	short    bool
}{
	{scenarios.MutualExclusion, nil, true}, {scenarios.RWExclusion, nil, false}, {scenarios.ForeignRelease, nil, false},
	{scenarios.Deadlock, nil, true}, {scenarios.Wedge, nil, false}, {scenarios.Wedge, killed, false},
}

// killed is a scenario in which somebody may be killed, if its setting can be so: that shows whom a lock outlives.
func killed(sc scenarios.Scenario) scenarios.Scenario {
	return set(sc, func(st *scenarios.Setting) { st.Crashes = max(st.Crashes, 1) })
}

// calm is a scenario in which nothing befalls anybody.
func calm(sc scenarios.Scenario) scenarios.Scenario {
	return set(sc, func(st *scenarios.Setting) {
		st.Crashes, st.Stalls, st.PowerLosses, st.FailingCalls, st.Signals = 0, 0, 0, 0, 0
	})
}

func set(sc scenarios.Scenario, change func(*scenarios.Setting)) scenarios.Scenario {
	st := sc.Setting
	change(&st)
	if in, err := sc.In(st); err == nil {
		return in
	}
	return sc
}

// got is a file that whoever gets a lock makes.
const got = "/.got"

// served asks whether somebody gets the lock, where so many processes come at once: whoever always refuses breaks
// nothing else.
func served(processes int) *scenarios.Property {
	return &scenarios.Property{
		ID: "not-all-refused", Meaning: "when all have ended somebody has had the lock.", KeepsExits: true,
		Invariant: func(v scenarios.View) string {
			if _, had := v.Stat(got); had {
				return ""
			}
			for i := range processes {
				if _, ended := v.Exit(scenarios.ProcessName(i)); !ended {
					return ""
				}
			}
			return "everybody is refused"
		},
	}
}

// counted is a calm scenario in which whoever gets a lock leaves a file, and who has come to an end ends.
func counted(sc scenarios.Scenario) scenarios.Scenario {
	sc = set(calm(sc), func(st *scenarios.Setting) { st.Daemons = false })
	return edit.Through(sc, func(_ *scenarios.Task, p fsfake.Port) fsfake.Port { return &counting{p} })
}

type counting struct{ fsfake.Port }

// Note leaves the file.
func (c *counting) Note(v any) {
	c.Port.Note(v)
	r, _ := v.(scenarios.Returned)
	if a, ok := r.Output.(model.Acquired); ok && a.OK {
		c.Do(fsfake.Op{Call: fsfake.CallMkdir, Path: got, Mode: 0o700})
	}
}

// A comparison is what became of one property with a change.
type comparison struct {
	why  string // it is broken now, or not known (open); empty when it is as good as it was
	open bool
	same bool // it is broken, as it was
}

// compare asks a property of a changed scenario, and of the scenario as it was. What breaks both must not break the
// changed one alone where nothing befalls anybody.
func compare(ctx context.Context, p *scenarios.Property, is, was scenarios.Scenario, o checker.Options) comparison {
	o.Tried = &checker.Tried{}
	r, err := decided(ctx, &is, p, o)
	if err == nil && r.Verdict == checker.Holds {
		return comparison{}
	}
	o.Tried = &checker.Tried{}
	before, cannot := decided(ctx, &was, p, o)
	switch {
	case cannot != nil && err != nil, errors.Is(err, checker.ErrNothingToJudge): // whoever keeps away breaks nothing
		return comparison{}
	case cannot == nil && before.Verdict == checker.Broken && (err != nil || r.Verdict == checker.Broken):
		if c := calm(was); c.Setting.Format() != was.Setting.Format() {
			if alone := compare(ctx, p, calm(is), c, o); alone.why != "" {
				return alone
			}
		}
		return comparison{same: true}
	case err != nil:
		return comparison{why: fmt.Sprintf("%s is not known: %v", p, err), open: true}
	case r.Verdict == checker.Broken:
		return comparison{why: fmt.Sprintf("%s is broken by %s", p, r.Counterexample.Schedule)}
	}
	return comparison{why: fmt.Sprintf("%s is not known: %s", p, r.Why), open: true}
}

// worse says which of the questions beside what is asked a change breaks that were not broken. Of more processes than
// the scenario has only whether they keep apart and end, for that takes long.
func (m *mender) worse(ctx context.Context, is, was *scenarios.Scenario, o checker.Options) comparison {
	more := was.Setting.Processes > m.sc.Setting.Processes
	for _, b := range beside {
		if more && !b.short {
			continue
		}
		if b.property.NeedsProbe() && was.Probe == nil || b.in == nil && slices.Contains(m.asked, b.property) {
			continue
		}
		now, before := *is, *was
		if b.in != nil {
			now, before = b.in(now), b.in(before)
		}
		if c := compare(ctx, b.property, now, before, o); c.why != "" {
			return c
		}
	}
	if more {
		return comparison{}
	}
	return compare(ctx, served(was.Setting.Processes), counted(*is), counted(*was), o)
}

// takesOver says of a change that leaves a takeover out why somebody may need it: with it nobody is to wait in vain for
// the dead. That the original has them wait, too, after some kills, does not count. Of a protocol that removes the lock
// file of the dead although the kernel gives back their lock it is the fix.
func (m *mender) takesOver(ctx context.Context, change []*edit.Edit, is *scenarios.Scenario, o checker.Options) (
	c comparison) {
	if !slices.ContainsFunc(change, (*edit.Edit).OmitsTakeover) {
		return c
	}
	const why = "it is not known whether somebody waits for the dead whose lock is not taken over"
	in := killed(*is)
	if in.Setting.Crashes == 0 {
		return comparison{why: why, open: true}
	}
	r, err := decided(ctx, &in, scenarios.Wedge, o)
	switch {
	case err != nil:
		return comparison{why: why + ": " + err.Error(), open: true}
	case r.Verdict == checker.Broken:
		c.why = fmt.Sprintf("the lock of the dead is not taken over: %s is broken by %s", scenarios.Wedge,
			r.Counterexample.Schedule)
	case r.Verdict != checker.Holds:
		c = comparison{why: why + ": " + r.Why, open: true}
	}
	return c
}

// elsewhere asks of a change what the other rows of the protocol claim something of. It lists what is broken there as
// it was.
func (m *mender) elsewhere(ctx context.Context, change []*edit.Edit) (still []string, c comparison) {
	o := m.full()
	o.States *= 10
	for _, row := range m.family {
		is := changedBy(*row.sc, change)
		for _, claim := range row.sc.Claims {
			c := compare(ctx, claim.Property, is, *row.sc, o)
			if c.why != "" {
				c.why = fmt.Sprintf("in %s, %s", row.sc.ID, c.why)
				return nil, c
			}
			if c.same {
				still = append(still, fmt.Sprintf("%s in %s", claim.Property, row.sc.ID))
			}
		}
	}
	return still, comparison{}
}

// serially says what processes get or leave one after the other that they did not, in any row; or why nothing could be
// decided of that.
func (m *mender) serially(change []*edit.Edit) string {
	for i, row := range append([]row{m.row}, m.family...) {
		is := changedBy(*row.sc, change)
		why := differs(row.serial, serially(&is))
		if why == "" && !row.spins && spins(&is) {
			why = "a process makes calls without an end where another one stands still"
		}
		if why != "" && i > 0 {
			why = fmt.Sprintf("in %s, %s", row.sc.ID, why)
		}
		if why != "" {
			return why
		}
	}
	return ""
}

// changedBy is a scenario with all changes.
func changedBy(sc scenarios.Scenario, change []*edit.Edit) scenarios.Scenario {
	for _, e := range change {
		sc = edit.Through(sc, e.Change)
	}
	return sc
}
