package command

import (
	"errors"
	"fmt"
	"slices"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Serial runs in which the clock jumps. It may do so before each call of a command, and when the command has ended.

// maxStalledRuns is how many runs of one command in which the clock jumps are made at one place of a serial order.
const maxStalledRuns = 2000

// stalled runs a command alone with 1 to most jumps of the clock, at all places, and hands on each end that is new,
// with the number of its jumps.
func (o *ordering) stalled(m *fsfake.Machine, process, most int, on func(e aloneEnd, jumps int) error) error {
	s, sc := o.s, o.sc
	seen := map[string]bool{}
	runs := 0
	var from func(stalls []int, steps int) error
	from = func(stalls []int, steps int) error {
		if len(stalls) == most {
			return nil
		}
		first := 0
		if n := len(stalls); n > 0 {
			first = stalls[n-1]
		}
		for at := first; at <= steps; at++ {
			if runs++; runs > maxStalledRuns {
				return fmt.Errorf("command: %s (%s), run alone, has more than %d places for jumps of the clock: allow fewer "+
					"with --stalls",
					scenarios.ProcessName(process), s.Commands[process], maxStalledRuns)
			}
			jumps := append(slices.Clone(stalls), at)
			port, err := o.stalledAt(m, process, jumps)
			end := aloneEnd{m: port.m}
			if errors.As(err, new(stuck)) { // this order has no end
				continue
			}
			if err != nil {
				return err
			}
			end.steps = port.steps
			for _, jump := range jumps {
				if jump == len(end.steps) {
					end.m.Stall(sc.Setting.StallFor, 0)
				}
			}
			for _, b := range port.before {
				if !b.family.Ended && !s.Outlives(b.family) {
					s.KillOn(b.m, scenarios.Pid(process))
					end.cuts = append(end.cuts, b.m)
				}
			}
			key := fmt.Sprint(len(jumps)) + string(end.m.AppendKey(nil)) + s.outcome(scenarios.NewView(end.m)).Key(nil)
			if !seen[key] || len(end.cuts) > 0 {
				seen[key] = true
				if err := on(end, len(jumps)); err != nil {
					return err
				}
			}
			if err := from(jumps, len(end.steps)); err != nil {
				return err
			}
		}
		return nil
	}
	return from(nil, s.stepsAlone(sc, m, process))
}

// stalledAt runs a command alone with jumps of the clock before some of its steps. A program that looks at the clock is
// told something else for each of them, on its way to the same calls mostly. So it is learned what it does, and that is
// looked at again: an execution that begins anew is seldom needed then.
func (o *ordering) stalledAt(m *fsfake.Machine, process int, jumps []int) (port *alonePort, err error) {
	kept := &o.kept[process]
	kept[1].Again = true
	for i := range kept {
		with := *o.s
		with.keeps = &kept[i]
		if port, err = with.alone(o.sc, m.Clone(), process, false, nil, never, nil, jumps...); err != nil {
			break
		}
	}
	return port, err
}

// stepsAlone is how many steps a command makes alone.
func (s *Spec) stepsAlone(sc *scenarios.Scenario, m *fsfake.Machine, process int) int {
	if s.Stalls == 0 {
		return 0
	}
	port, _ := s.alone(sc, m.Clone(), process, false, nil, never, nil)
	return len(port.steps)
}
