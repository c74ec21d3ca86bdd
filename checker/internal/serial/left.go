package serial

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockpick/checker/internal/engine"
	"lockpick/fsfake"
	"lockpick/internal/outcome"
	"lockpick/scenarios"
)

// left is [scenarios.Atomic] or [scenarios.Durable] in a scenario.
func left(sc *scenarios.Scenario, p *scenarios.Property) (*scenarios.Property, error) {
	if err := askable(sc, p); err != nil {
		return nil, err
	}
	calm := *sc // serial runs in which nothing befalls anybody
	st := &calm.Setting
	st.Crashes, st.PowerLosses, st.FailingCalls, st.Signals, st.Reboot = 0, 0, 0, 0, nil
	base, err := engine.MachineAtFirst(&calm, p)
	if err != nil {
		return nil, err
	}
	of := func(v scenarios.View) outcome.Outcome {
		o := outcome.Of(v, sc.Setting.Processes)
		for _, e := range outcome.Tree(v, "/", nil) {
			if e.Name = "/" + e.Name; sc.IsData(strings.TrimSuffix(e.Name, "/")) {
				o.Tree = append(o.Tree, e)
			}
		}
		return o
	}
	before := of(scenarios.NewView(base))
	var passage outcome.Passage
	at := func(name string) string { return strings.TrimSuffix(name, "/") }
	look := func(m *fsfake.Machine) {
		passage.See(base, m, before.Tree, at)
		passage.SeeLocks(m, of(scenarios.NewView(m)).Tree, at)
	}
	exits := *p
	exits.Question, exits.KeepsExits = scenarios.NoQuestion, true
	orders, err := orders(&calm, &exits, base, of, look)
	if err != nil {
		return nil, err
	}
	orders = slices.DeleteFunc(orders, func(o outcome.Order) bool { return afterReboot(sc, o.Ran) })
	a := outcome.NewAtomic(before, orders, passage)
	if names := a.Databases(); len(names) > 0 {
		return nil, fmt.Errorf("checker: %s: %s cannot judge %s, which begins as a database does that its readers "+
			"recover: leave it out of Data", sc.ID, p, names[0])
	}
	strangers, fails := strangers(&calm, base), sc.Setting.FailingCalls > 0 && sc.Setting.PowerLosses == 0
	bound := a.Ask(p, outcome.Look{
		Of: of, Path: at, Failing: fails,
		Over: func(v scenarios.View) (string, bool) { return "", v.RunningBut(strangers) == 0 },
	})
	bound.KeepsExits = true
	if asksNew := fails || p.Question == scenarios.Forgets; !a.Changed() && !(asksNew && a.Changes()) {
		return nil, fmt.Errorf("checker: %s: %s: %w: alone, the processes change none of the files that it judges: "+
			"let Setup make them", sc.ID, p, engine.ErrNothing)
	}
	return bound, nil
}

// askable is an error where nothing befalls anybody, or where more than one process has something to keep.
func askable(sc *scenarios.Scenario, p *scenarios.Property) error {
	st := &sc.Setting
	workers := st.Processes - len(st.Reboot)
	switch {
	case p.Question == scenarios.Forgets && st.PowerLosses == 0:
		return fmt.Errorf("checker: %s: %s: %w: the power is not lost: set PowerLosses", sc.ID, p, engine.ErrNothing)
	case st.Crashes == 0 && st.PowerLosses == 0 && st.FailingCalls == 0:
		return fmt.Errorf("checker: %s: %s: %w: nobody is killed, and no power or call fails: set Crashes, "+
			"PowerLosses or FailingCalls", sc.ID, p, engine.ErrNothing)
	case workers > 1 && (p.Question == scenarios.Forgets || st.FailingCalls > 0):
		return fmt.Errorf("checker: %s: %s is asked of one process where the power is lost or calls fail, and there "+
			"are %d: what one has done another may change", sc.ID, p, workers)
	}
	return nil
}

// afterReboot reports whether somebody runs after a process that begins when the power is back.
func afterReboot(sc *scenarios.Scenario, ran []int) bool {
	return !slices.IsSortedFunc(ran, func(a, b int) int {
		back := func(i int) int {
			if sc.Setting.AfterReboot(i) {
				return 1
			}
			return 0
		}
		return back(a) - back(b)
	})
}

// Bind returns what a property is in one scenario: p itself, or in place of one that compares with serial runs the
// invariant that the scenario claims under its id, or else one that is made of the serial runs of its programs.
// The error says why they cannot be compared with.
func Bind(sc *scenarios.Scenario, p *scenarios.Property) (*scenarios.Property, error) {
	if p == nil || !p.OfSerialRuns() {
		return p, nil
	}
	for _, c := range sc.Claims {
		if c.Property.ID == p.ID && !c.Property.OfSerialRuns() {
			return c.Property, nil
		}
	}
	if err := sc.Validate(); err != nil {
		return nil, err
	}
	switch {
	case sc.External:
		return nil, fmt.Errorf("checker: %s: %s is asked of commands by `lockpick run`, and was not claimed: claim "+
			"what command.Spec makes of it", sc.ID, p)
	case sc.Setting.Daemons:
		return nil, fmt.Errorf("checker: %s: %s compares what is left behind when all have ended, and with Daemons "+
			"nobody ends: leave Daemons out", sc.ID, p)
	case p.Question != scenarios.Unserial:
		return left(sc, p)
	}
	return compared(sc, p)
}

// compared is [scenarios.Serializable] in a scenario.
func compared(sc *scenarios.Scenario, p *scenarios.Property) (*scenarios.Property, error) {
	if st := &sc.Setting; st.FailingCalls > 0 || st.Signals > 0 {
		return nil, fmt.Errorf("checker: %s: %s does not tell a run in which no call fails and no signal comes from "+
			"one in which that happens: ask it without failing calls and signals", sc.ID, p)
	}
	bound := *p
	bound.Question, bound.KeepsExits = scenarios.NoQuestion, true
	base, err := engine.MachineAtFirst(sc, &bound)
	if err != nil {
		return nil, err
	}
	of := func(v scenarios.View) outcome.Outcome { return endOf(sc, base.Now(), v) }
	orders, err := orders(sc, &bound, base, of, nil)
	if err != nil {
		return nil, err
	}
	c := &outcome.Serial{What: "processes", Orders: orders, Strangers: strangers(sc, base), Refuses: refuses}
	bound.Invariant = c.Invariant(of)
	bound.Table = func(v scenarios.View) [][]string { return c.Table(of(v)) }
	lives := slices.ContainsFunc(c.Strangers, func(pid int) bool { return pid != 1 }) // that may be what keeps them out
	if text := c.OnlyRefusals(); text != "" && !lives {
		bound.Evidence.Lacks = func([]scenarios.Fact) string {
			return text + ": whoever does something ends with status 0"
		}
	}
	return &bound, nil
}

// strangers are the processes that Setup has added.
func strangers(sc *scenarios.Scenario, base *fsfake.Machine) []int {
	return slices.DeleteFunc(base.Pids(), func(pid int) bool {
		i, ok := scenarios.ProcessOf(pid)
		return ok && i < sc.Setting.Processes
	})
}

// endOf is what a run of a scenario has left behind.
func endOf(sc *scenarios.Scenario, start time.Time, v scenarios.View) outcome.Outcome {
	o := outcome.Of(v, sc.Setting.Processes)
	o.Tree = outcome.Tree(v, "/", nil)
	if sc.Setting.Stalls > 0 && sc.Setting.Assume.Sleeps != scenarios.SleepsLast {
		// Nothing else moves it, but the nanoseconds that make changes show in time stamps.
		o.Clock = "+" + v.Now().Sub(start).Round(time.Millisecond).String()
	}
	return o
}

// refuses reports whether a process has ended by a refusal: with a status of its own that is not 0.
func refuses(o outcome.Outcome, process int) bool {
	return o.Exits[process] != "exit 0" && o.Exits[process] != outcome.ExitText(fsfake.Exit{}, false)
}
