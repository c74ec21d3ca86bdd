package serial

import (
	"fmt"
	"slices"
	"strings"

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
		return fmt.Errorf("checker: %s: %s: %w: nobody is killed, and no power or call fails: set Crashes, PowerLosses or "+
			"FailingCalls", sc.ID, p, engine.ErrNothing)
	case workers > 1 && (p.Question == scenarios.Forgets || st.FailingCalls > 0):
		return fmt.Errorf("checker: %s: %s is asked of one process where the power is lost or calls fail, and there are %d: "+
			"what one has done another may change", sc.ID, p, workers)
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
