package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Refused says by which exit statuses a command may refuse to do anything, so that it need
// not have run at all.
type Refused struct {
	// Declared: the statuses are as listed, also when none is. Otherwise any status but 0 may
	// be a refusal, or not: both are decided, and where they differ there is no verdict.
	Declared bool
	Statuses []int
}

// serializable is the id of the property that [Spec.serializable] makes.
const serializable = "serializable"

// serializable returns the property of commands whose serial runs are given.
func (s *Spec) serializable(serial []order) *scenarios.Property {
	return &scenarios.Property{
		ID:      serializable,
		Meaning: "What the commands leave behind is what they leave behind one after the other, in some order.",
		Invariant: func(v scenarios.View) string {
			if v.Running() > 0 {
				return ""
			}
			return s.judge(s.outcome(v), serial)
		},
		Table: func(v scenarios.View) [][]string { return s.table(s.outcome(v), serial) },
	}
}

// whole are the orders in which every one of so many commands has run.
func whole(serial []order, commands int) []order {
	return slices.DeleteFunc(slices.Clone(serial), func(o order) bool { return len(o.ran) < commands })
}

// An order is the outcome of running some commands one after the other, each to its end or until
// it is killed. Those that are left out have not run.
type order struct {
	ran     []int
	killed  []int // of those
	outcome Outcome
	called  string // a name of its own, or empty
}

// name is the order as people say it: "A then B".
func (o order) name() string {
	if o.called != "" {
		return o.called
	}
	var names []string
	for _, i := range o.ran {
		name := scenarios.ProcessName(i)
		if slices.Contains(o.killed, i) {
			name += " killed"
		}
		names = append(names, name)
	}
	if len(names) == 1 && len(o.outcome.Exits) > 1 {
		return names[0] + " alone"
	}
	return strings.Join(names, " then ")
}

// serial runs the commands in every order, and where refusals may count also in every order
// of some of them. A command whose own calls can go on side by side ends in as many ways as they
// have orders; where these are too many, only one is followed, here and in all that is decided.
func (s *Spec) serial(sc *scenarios.Scenario) ([]order, error) {
	s.early = s.startEarly()
	defer func() {
		s.early.close()
		s.early = nil
	}()
	out, err := s.orders(sc)
	if errors.Is(err, errManyOrders) {
		s.record, s.oneOrder = newRecord(len(s.Commands)), true
		out, err = s.orders(sc)
	}
	return out, err
}

// orders lists the outcomes of the serial runs, each once.
func (s *Spec) orders(sc *scenarios.Scenario) ([]order, error) {
	var out []order
	var run func(m *fsfake.Machine, ran, killed []int) error
	run = func(m *fsfake.Machine, ran, killed []int) error {
		if len(ran) == len(s.Commands) || len(ran) > 0 && s.mayRefuse() {
			out = addOrder(out, order{ran: slices.Clone(ran), killed: slices.Clone(killed), outcome: s.outcome(scenarios.NewView(m))})
		}
		for i := range s.Commands {
			if slices.Contains(ran, i) {
				continue
			}
			ends, err := s.everyWay(sc, m, i, len(ran) == 0 && !s.Left)
			if (len(killed) > 0 || s.Left) && errors.As(err, new(stuck)) {
				err = nil // for want of what a killed one has not done: this order has no end
			}
			if err != nil {
				return err
			}
			if len(ran) == 0 && !s.hasEarlier(i) && ends[0].m != nil {
				if err := s.asOnTheKernel(sc, i, ends[0].steps, ends[0].m); err != nil {
					return err
				}
			}
			if len(ran) == 0 && i == 0 && s.changes(m, ends) {
				s.early.startAgain()
			}
			for _, e := range ends {
				if err := s.runOn(run, e, i, ran, killed); err != nil {
					return err
				}
			}
		}
		return nil
	}
	err := run(sc.NewMachine(), nil, nil)
	return out, err
}

// changes reports whether a command leaves other files behind than it has found.
func (s *Spec) changes(m *fsfake.Machine, ends []aloneEnd) bool {
	was := s.tree(scenarios.NewView(m), s.Dir, "")
	return slices.ContainsFunc(ends, func(e aloneEnd) bool {
		return e.m != nil && !slices.Equal(s.tree(scenarios.NewView(e.m), s.Dir, ""), was)
	})
}

// runOn goes on with the others when a command has ended, or has been killed.
func (s *Spec) runOn(run func(m *fsfake.Machine, ran, killed []int) error, e aloneEnd, i int, ran, killed []int) error {
	ran = append(slices.Clone(ran), i)
	if e.m != nil {
		if err := run(e.m, ran, killed); err != nil {
			return err
		}
	}
	if len(killed) == s.Crashes {
		return nil
	}
	for _, m := range e.cuts {
		if err := run(m, ran, append(slices.Clone(killed), i)); err != nil {
			return err
		}
	}
	return nil
}

// addOrder adds an order, unless it is there with the same outcome.
func addOrder(list []order, o order) []order {
	all := func(int) bool { return true }
	if slices.ContainsFunc(list, func(k order) bool {
		return slices.Equal(k.ran, o.ran) && slices.Equal(k.killed, o.killed) && k.outcome.key(all) == o.outcome.key(all)
	}) {
		return list
	}
	return append(list, o)
}

func (s *Spec) mayRefuse() bool { return !s.Refused.Declared || len(s.Refused.Statuses) > 0 }

// has reports whether an outcome's exit is among the statuses.
func (r Refused) has(exit string) bool {
	return slices.ContainsFunc(r.Statuses, func(n int) bool { return exit == fmt.Sprintf("exit %d", n) })
}

// refuses reports whether a command may have ended by a refusal.
func (s *Spec) refuses(o Outcome, i int) bool {
	return o.Exits[i] != "exit 0" && (!s.Refused.Declared || s.Refused.has(o.Exits[i]))
}

// explains reports whether an order can be that of an outcome: whoever has not run in it has
// refused.
func (s *Spec) explains(k order, o Outcome) bool {
	for i := range s.Commands {
		if !slices.Contains(k.ran, i) && !s.refuses(o, i) {
			return false
		}
	}
	return true
}

// judge compares an outcome with those of the serial orders. It returns "" when it is one
// of them.
func (s *Spec) judge(o Outcome, serial []order) string {
	for _, k := range serial {
		ran := func(i int) bool { return slices.Contains(k.ran, i) }
		if s.explains(k, o) && o.key(ran) == k.outcome.key(ran) {
			return ""
		}
	}
	return "no order of the commands ends like this"
}
