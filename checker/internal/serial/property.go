package serial

import (
	"fmt"
	"slices"
	"time"

	"lockpick/checker/internal/engine"
	"lockpick/fsfake"
	"lockpick/internal/outcome"
	"lockpick/scenarios"
)

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
		return nil, fmt.Errorf("checker: %s: %s is asked of commands by `lockpick run`, and was not claimed: claim what command.Spec makes of it", sc.ID, p)
	case sc.Setting.Daemons:
		return nil, fmt.Errorf("checker: %s: %s compares what is left behind when all have ended, and with Daemons nobody ends: leave Daemons out", sc.ID, p)
	case p.Question != scenarios.Unserial:
		return left(sc, p)
	}
	return compared(sc, p)
}

// compared is [scenarios.Serializable] in a scenario.
func compared(sc *scenarios.Scenario, p *scenarios.Property) (*scenarios.Property, error) {
	if st := &sc.Setting; st.FailingCalls > 0 || st.Signals > 0 {
		return nil, fmt.Errorf("checker: %s: %s does not tell a run in which no call fails and no signal comes from one in which that happens: ask it without failing calls and signals", sc.ID, p)
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
		bound.Evidence.Lacks = func([]scenarios.Fact) string { return text + ": whoever does something ends with status 0" }
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
