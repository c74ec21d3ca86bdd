package search

import (
	"cmp"

	"lockpick/checker/internal/engine"
	"lockpick/checker/internal/history"
	"lockpick/checker/trace"
	"lockpick/scenarios"
	"lockpick/sched"
)

// Traps of single runs: whoever draws schedules, follows one, or runs them all without a graph
// asks of a run whether it came into a trap. The state in which a run ends is asked, and every
// state before a fault, which alone leads out of a trap.

// A trapFinder knows of states whether they are in traps that break the property. It looks at
// what can be reached from them by steps: an end of somebody's, and it is none.
type trapFinder struct {
	x     *Explorer
	w     *engine.Expander
	known map[string][]trace.Wait // nil: in no such trap; faults left do not matter
	key   []byte
	most  int // states that may follow
	// ran is the run that was asked about last, and rows are its states: the next one often begins alike.
	ran  sched.Schedule
	rows [][]uint32
}

// trapStates bounds what is looked at from one state; most lead to an end within a run.
// knownStates bounds what is remembered.
const (
	trapStates  = 200_000
	knownStates = 1 << 16
)

func newTrapFinder(x *Explorer) *trapFinder {
	return &trapFinder{x: x, w: engine.NewExpander(x.Space), known: map[string][]trace.Wait{}, most: trapStates}
}

// at returns what a fresh process waits for where a state is in a trap that breaks the property,
// and nil elsewhere. It is not known where too many states follow.
func (f *trapFinder) at(row []uint32) (waits []trace.Wait, known bool, err error) {
	first := f.x.WithoutFaults(row)
	if w, ok := f.known[f.keyOf(first)]; ok {
		return w, true, nil
	}
	r, known, err := f.follow(first)
	if err != nil || !known {
		return nil, false, err
	}
	if r != nil {
		if waits, err = f.broken(r); err != nil {
			return nil, false, err
		}
	}
	if waits == nil {
		f.known[f.keyOf(first)] = nil
		return nil, true, nil
	}
	for i, row := range r.rows {
		if r.lasts(i) {
			f.known[f.keyOf(row)] = waits
		}
	}
	return waits, true, nil
}

// lost reports whether nobody comes to an end of everything from a state on, though it be in no circle yet: a timer
// that goes off again and again leaves something else in memory at first, and which rounds are the same hangs on which
// was seen first.
func (f *trapFinder) lost(row []uint32) (bool, error) {
	r, known, err := f.follow(f.x.WithoutFaults(row))
	return err == nil && known && r != nil && r.lasts(0), err
}

// A reached is what steps lead to from a state, the first.
type reached struct {
	rows [][]uint32
	into [][]int // by state: from where
	out  []bool  // see [Explorer.outlastsWaits]; nil where it marks all
}

func (r *reached) lasts(i int) bool { return r.out == nil || r.out[i] }

// follow returns what steps lead to, or nil when somebody comes to an end of everything there.
func (f *trapFinder) follow(first []uint32) (r *reached, known bool, err error) {
	r = &reached{rows: [][]uint32{first}, into: [][]int{nil}}
	number := map[string]int{f.keyOf(first): 0}
	for todo := []int{0}; len(todo) > 0; {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if err := f.w.Expand(r.rows[n]); err != nil {
			return nil, false, err
		}
		if !f.w.Unfinished() {
			return nil, true, nil
		}
		for i := range f.w.Out {
			if f.w.Out[i].Slot < 0 { // time that is left of a stall
				continue
			}
			to := f.w.State(&f.w.Out[i])
			key := f.keyOf(to)
			waits, ok := f.known[key]
			if f.w.Out[i].Bad || ok && waits == nil && f.lockedOut() { // a way out from there is one from here
				return nil, true, nil
			}
			k, ok := number[key]
			if !ok {
				k = len(r.rows)
				number[key] = k
				r.rows, r.into, todo = append(r.rows, append([]uint32(nil), to...)), append(r.into, nil), append(todo, k)
			}
			r.into[k] = append(r.into[k], n)
		}
		if len(r.rows) > f.most {
			return nil, false, nil
		}
	}
	if f.x.TimedWait() {
		r.out = make([]bool, len(r.rows))
		var todo []int
		for i, row := range r.rows {
			if r.out[i] = !f.w.InTime(row); r.out[i] {
				todo = append(todo, i)
			}
		}
		r.markBack(r.out, todo)
	}
	return r, true, nil
}

// statesOf returns the states of a run, from the first on. They are valid until it is asked again.
func (f *trapFinder) statesOf(s sched.Schedule) (rows [][]uint32, err error) {
	n := 0
	for n < min(len(s), len(f.ran)) && s[n] == f.ran[n] {
		n++
	}
	if f.rows == nil {
		f.rows = [][]uint32{append([]uint32(nil), f.x.Initial...)}
	}
	if rows, err = f.x.followOn(f.w, f.rows[:n+1], s); err != nil {
		f.ran, f.rows = nil, nil
		return nil, err
	}
	f.ran, f.rows = append(f.ran[:0], s...), rows
	return rows, nil
}

// lockedOut: the question is whether anybody can acquire.
func (f *trapFinder) lockedOut() bool { return f.x.Property.Question == scenarios.LockedOut }

// leadBack reports whether all states that last lead to the first: they are a circle.
func (r *reached) leadBack() bool {
	back := make([]bool, len(r.rows))
	back[0] = true
	r.markBack(back, []int{0})
	for i, is := range back {
		if !is && r.lasts(i) {
			return false
		}
	}
	return true
}

// markBack marks the states that lead to those that are marked, and to do.
func (r *reached) markBack(marked []bool, todo []int) {
	for len(todo) > 0 {
		at := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		for _, from := range r.into[at] {
			if !marked[from] {
				marked[from] = true
				todo = append(todo, from)
			}
		}
	}
}

// broken returns what a fresh process waits for where what can be reached breaks the property.
func (f *trapFinder) broken(r *reached) (waits []trace.Wait, err error) {
	switch {
	case !r.lasts(0):
		return nil, nil
	case !f.lockedOut():
		if r.leadBack() {
			waits = []trace.Wait{}
		}
		return waits, nil
	}
	for _, row := range r.rows {
		wedged, w, err := f.x.LockedOut(row)
		if err != nil || !wedged {
			return nil, err
		}
		if waits == nil {
			waits = w
		}
	}
	return waits, nil
}

// keyOf is a state as a string, with the faults that are left as they are.
func (f *trapFinder) keyOf(row []uint32) string {
	f.key = f.key[:0]
	for _, w := range row {
		f.key = append(f.key, byte(w), byte(w>>8), byte(w>>16), byte(w>>24))
	}
	return string(f.key)
}

// ExploreWith has the tester ask an explorer of the same scenario whether runs end in traps, which
// has learned the programs already.
func (t *Tester) ExploreWith(x *Explorer) { t.traps = newTrapFinder(x) }

// inTrap reports whether a run came into a trap that breaks the property, and cuts the run where
// it came into it.
func (t *Tester) inTrap(w *engine.World, o *Outcome) (bool, error) {
	faults := false
	for _, c := range o.Schedule {
		faults = faults || c.IsFault()
	}
	if t.NoTraps || t.TooLarge || !faults && !w.Unfinished() {
		return false, nil
	}
	if t.traps == nil || len(t.traps.known) > knownStates && !t.Sc.External {
		x, err := NewExplorer(t.Sc, t.Property)
		if err != nil {
			return false, err
		}
		defer x.Close()
		t.traps = newTrapFinder(x)
		t.traps.most = cmp.Or(t.TrapStates, trapStates)
	}
	rows, err := t.traps.statesOf(o.Schedule)
	if err != nil {
		return false, err
	}
	for i, row := range rows {
		if i < len(o.Schedule) && !o.Schedule[i].IsFault() {
			continue
		}
		waits, known, err := t.traps.at(row)
		if err != nil {
			return false, err
		}
		if t.TooLarge = !known; t.TooLarge {
			return false, nil
		}
		if waits == nil {
			continue
		}
		if i == 0 && len(o.Schedule) > 0 && t.traps.lockedOut() && !w.Unfinished() {
			// The fault leads out, so the end of the run says more.
			if ends, _, err := t.prober.Wedged(w.M); err != nil {
				return false, err
			} else if ends {
				continue
			}
		}
		for ; i > 0 && !o.Schedule[i-1].IsFault(); i-- {
			if before, _, err := t.traps.at(rows[i-1]); before == nil || err != nil {
				break
			}
		}
		return true, t.trapped(w, o, max(i, 1), waits) // there is nothing to see of a run without a step
	}
	if t.traps.x.TimedWait() && w.Unfinished() && !t.traps.lockedOut() {
		lost, err := t.traps.lost(rows[len(rows)-1])
		if lost && err == nil {
			err = t.trapped(w, o, len(o.Schedule), []trace.Wait{})
		}
		return lost, err
	}
	return false, nil
}

// trapped makes a run one that comes into a trap with its last choice, the nth.
func (t *Tester) trapped(w *engine.World, o *Outcome, n int, waits []trace.Wait) error {
	if n < len(o.Schedule) {
		w.History.Ops = history.Prefix(w.History.Ops, n-1)
		o.cut(n, w.Preempted)
	}
	o.Broken, o.Waits, o.said = true, waits, engine.TrapText(t.Property)
	if t.Property.Question != scenarios.LockedOut || o.Trace == nil {
		return nil
	}
	end := t.base
	if n := len(o.Trace); n > 0 {
		end = o.Trace[n-1].After
	}
	var err error
	o.attempt, err = t.prober.Attempted(end)
	return err
}
