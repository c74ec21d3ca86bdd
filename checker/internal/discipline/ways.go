package discipline

import (
	"math/bits"
	"slices"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Processes of one copy that make calls at the same time, while it has the lock. Nobody else does anything meanwhile,
// so each order of their calls is one of the copy alone: it is run in every one.

// maxOrders is how many orders of its own calls a copy may have.
const maxOrders = 200

// choose takes the first way that is open. What commutes with the others' calls goes first ([fsfake.Machine.LocalWay]).
func (x *runner) choose(r *serial, m *fsfake.Machine, op *fsfake.Op) error {
	shut := m.Shut(fsfake.Task{Pid: scenarios.Pid(r.process), N: 1}, *op)
	if which := m.LocalWay(op, true, &x.changes); which >= 0 {
		shut = ^(1 << which)
	}
	open := bits.TrailingZeros64(^shut)
	r.ways = append(r.ways, fsfake.WayTaken{Which: open, Of: op.Ways(), Shut: shut})
	return notProvedIf(open >= op.Ways(), "processes of one copy wait for each other: %s", op)
}

// again is a run to be made once more, which keeps its ways.
func (r serial) again() *serial { return &r }

// everyWay runs a copy in every order of its own calls. What was left out hangs on what copies change, of which is
// known what was seen: where more is seen, all begins anew.
func (x *runner) everyWay(process int, m *fsfake.Machine) (runs []serial, err error) {
	for {
		x.changes.Rely()
		runs, err = x.someWays(process, m)
		if err != nil || !x.changes.Refuted() {
			return runs, err
		}
	}
}

// someWays is everyWay, as far as what was relied on holds.
func (x *runner) someWays(process int, m *fsfake.Machine) (runs []serial, err error) {
	met := map[string]bool{}
	for ways, first := []fsfake.WayTaken(nil), true; first || len(ways) > 0; first = false {
		r := serial{process: process, from: m, ways: ways}
		if r.calls, err = x.run(&r, m, met, nil); err != nil {
			return nil, err
		}
		if len(r.ways) > 0 && slices.ContainsFunc(r.calls, func(c call) bool { return c.by.N > 1 }) {
			return nil, notProved("threads of one copy make calls at the same time")
		}
		if runs = append(runs, r); len(runs) > maxOrders {
			return nil, notProved("processes of one copy make calls at the same time, in more than %d orders",
				maxOrders)
		}
		ways = fsfake.NextWays(r.ways, 0)
	}
	return runs, nil
}
