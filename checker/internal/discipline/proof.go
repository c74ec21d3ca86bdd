package discipline

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Copies is how many copies are run one after the other, where none leaves the files as it has found them. rounds is
// how often a copy that polls finds that somebody else has got the lock just before it asked; variants how many
// listings are tried.
// Few is how many copies of several commands are, and maxStates how many states of the files they may leave.
const (
	Copies    = 12
	Few       = 3
	maxStates = 16
	rounds    = 20
	variants  = 64
)

// A Proof is a lock that each copy keeps to.
type Proof struct {
	Path        string // of the lock; empty where copies change nothing
	Take, Leave string // the calls that take it and give it back, as the first copy makes them
	Ran         int    // copies that were run, one after the other
	Closed      bool   // the last of them left the files as they had been before
	Few         int    // how many copies it is proved for; 0 for any number
	Polls       bool   // a copy that does not get the lock asks again
	Timers      bool   // one runs in some copy beside its calls
}

// A serial is a run of a copy alone: where it began, its calls, and those between which it holds the lock.
type serial struct {
	process    int
	from       *fsfake.Machine
	ways       []fsfake.WayTaken // that its own processes went
	calls      []call
	cut        bool // it has met an earlier run, and goes on as that did
	took, left int  // the numbers of the calls that take the lock and give it back
}

// Prove proves that any number of copies of the scenario's processes leave behind what they leave behind one after the
// other, and that they all end. Processes are all the same command unless the scenario says which are. Of several
// commands that leave something new each time it proves so for up to [Few] copies, each of any of the commands. The
// error is a [NotProved], ctx's, or a fault of the program.
func Prove(ctx context.Context, sc *scenarios.Scenario) (*Proof, error) {
	copies := Copies
	if len(commandsOf(sc)) > 1 {
		copies = max(Few, len(commandsOf(sc))+1) // such that what each leaves unchanged in the end is closed
	}
	is, err := prove(ctx, sc, copies)
	if err != nil {
		return nil, err
	}
	if sc.Unjudged != nil {
		if why := sc.Unjudged(); why != "" {
			return nil, NotProved{why}
		}
	}
	if sc.Late != nil { // each run is followed again, with time passing on its way
		if why, err := sc.Late(ctx, false); why != "" || err != nil {
			return nil, errors.Join(err, notProvedIf(err == nil, "%s", why))
		}
	}
	return is, nil
}

func prove(ctx context.Context, sc *scenarios.Scenario, copies int) (*Proof, error) {
	x, err := newRunner(ctx, sc)
	if err != nil {
		return nil, err
	}
	s := &shared{names: map[string]bool{}, files: map[fsfake.InodeID]bool{}, dirs: map[fsfake.InodeID][]string{},
		texts: map[fsfake.InodeID][]string{}}
	runs, ran, closed, err := x.serially(s, copies)
	if err != nil {
		return nil, err
	}
	if len(s.names)+len(s.files) == 0 {
		return &Proof{Closed: true}, nil
	}
	all := Proof{Ran: ran, Closed: closed, Timers: x.timers}
	if !closed && len(x.commands) > 1 {
		all.Few = ran
	}
	why := error(notProved("a copy takes no exclusive lock on a file, and makes no name that keeps others out"))
	locks := locksOf(runs[0].calls)
	for i := range locks {
		l := &locks[i]
		is := all
		is.Path = l.path
		err := x.proves(s, l, runs, &is)
		if err == nil {
			return &is, nil
		}
		if !errors.As(err, &NotProved{}) {
			return nil, err
		}
		if i == 0 {
			why = err
		}
	}
	return nil, why
}

// serially runs copies one after the other: each command on each state of the files that others leave. While the states
// are new it does so twice, as processes with other pids. It sees what they change, and says how many copies may follow
// one another so, and whether that is any number.
func (x *runner) serially(s *shared, copies int) (runs []serial, ran int, closed bool, err error) {
	states := []*fsfake.Machine{x.first}
	from := 0
	for ran = 0; ran < copies && !closed; ran++ {
		to := len(states)
		if len(x.commands) > 1 && to > maxStates {
			return nil, 0, false, notProved("the commands leave behind more than %d states of the files", maxStates)
		}
		for _, m := range states[from:to] {
			for _, processes := range x.commands {
				as := []int{processes[0], processes[len(processes)-1]}
				if ran > 1 {
					as = as[:1]
				}
				left, err := x.as(s, as, m, &runs)
				if err != nil {
					return nil, 0, false, err
				}
				if !slices.ContainsFunc(states, func(m *fsfake.Machine) bool { return sameTree(m, left) }) {
					states = append(states, left)
				}
			}
		}
		from, closed = to, len(states) == to
	}
	return runs, ran, closed, nil
}

// as runs a command alone as each of some processes, and returns what it leaves behind.
func (x *runner) as(s *shared, processes []int, m *fsfake.Machine, runs *[]serial) (next *fsfake.Machine, err error) {
	for _, process := range slices.Compact(processes) {
		every := []serial{{process: process, from: m}}
		if process == processes[0] {
			every, err = x.everyWay(process, m)
		} else { // one order shows whether what it does depends on its pid
			every[0].calls, err = x.run(&every[0], m, nil, nil)
		}
		if err != nil {
			return nil, err
		}
		for n := range every {
			r := &every[n]
			if len(r.calls) == 0 {
				return nil, notProved("a copy makes no call on the files")
			}
			for i := range r.calls {
				s.see(&r.calls[i])
				x.timers = x.timers || r.calls[i].timer
			}
			if r.cut {
				continue
			}
			left, err := x.anew(r.calls[len(r.calls)-1].after)
			switch {
			case err != nil:
				return nil, err
			case n > 0 && (!sameTree(next, left) || ends(r.calls) != ends(every[0].calls)):
				return nil, notProved("what a copy leaves behind depends on the order of its own processes")
			case next != nil && !sameTree(next, left):
				return nil, notProved("what a copy leaves behind depends on its pid")
			}
			next = left
		}
		*runs = append(*runs, every...)
	}
	return next, nil
}

// ends is how a copy ends, and what it has printed then.
func ends(calls []call) string {
	i := slices.IndexFunc(calls, func(c call) bool { return c.op.Call == fsfake.CallEnd })
	if i < 0 {
		return ""
	}
	return calls[i].op.String() + calls[i].op.Data
}

// proves checks that all runs keep to a lock.
func (x *runner) proves(s *shared, l *lock, runs []serial, is *Proof) error {
	l.views(runs, x.first)
	h := make([]habits, len(x.commands))
	for i := range h {
		h[i] = habits{}
	}
	for i := range runs {
		r := &runs[i]
		if err := l.keeps(s, r); err != nil {
			return err
		}
		if r.took < 0 { // it has met another one first
			continue
		}
		if c := &r.calls[r.took]; !l.tries(c) || c.op.Wait != l.take.Wait {
			return notProved("commands take the lock on %s in different ways: %s, and %s", l.path, l.take, c.op)
		}
		if err := h[x.command(r.process)].add(s, l, r.process, r.calls[:r.took+1]); err != nil {
			return err
		}
	}
	is.Take, is.Leave = runs[0].calls[runs[0].took].op.String(), runs[0].calls[runs[0].left].op.String()
	if runs[0].calls[runs[0].took].timer {
		return notProved("a copy waits for the lock with a timeout: %s", l.take)
	}
	is.Polls = !l.waits()
	if err := x.sizes(s, l, runs, is.Closed || is.Few > 0); err != nil {
		return err
	}
	for i := range h {
		of := func(r serial) bool { return x.command(r.process) == i }
		first, last := slices.IndexFunc(runs, of), len(runs)-1
		for !of(runs[last]) || runs[last].cut {
			last--
		}
		for j := range runs {
			if r := &runs[j]; j == last || len(h) > 1 && of(*r) && !r.cut {
				if err := x.listings(s, r); err != nil {
					return err
				}
			}
		}
		if err := x.meetings(s, l, h[i], &runs[first], 2, learn.ExternalRounds); err != nil {
			return err
		}
		if err := x.meetings(s, l, h[i], &runs[last], 1, 2); err != nil {
			return err
		}
	}
	return nil
}

// keeps finds where a run holds the lock, and checks what it does elsewhere.
func (l *lock) keeps(s *shared, r *serial) error {
	r.took, r.left = -1, -1
	of := fsfake.InodeID(0)
	for i := range r.calls {
		c := &r.calls[i]
		was, is := l.held(c.before), l.held(c.after)
		id, there := c.after.LookupName(l.path)
		if there && of != 0 && id != of || !there && of != 0 && !l.byName {
			return notProved("%s is the lock, and a copy puts another file there: %s", l.path, c.op)
		}
		if !l.byName || is {
			of = id
		}
		switch {
		case !was && is && r.took < 0:
			r.took = i
		case was && !is && r.took >= 0 && r.left < 0:
			r.left = i
		case was != is || was && r.took < 0:
			return notProved("a copy takes the lock on %s more than once, or finds it taken: %s", l.path, c.op)
		case !was:
			if why := l.outside(s, c, r.took < 0); why != "" {
				return notProved("%s", why)
			}
		}
		if c.op.Ways() > 1 && !was {
			return notProved("outside of the lock processes of one copy make calls at the same time: %s", c.op)
		}
	}
	if (r.took < 0 || r.left < 0) && !r.cut {
		return notProved("a copy does not take the lock on %s and give it back", l.path)
	}
	return nil
}

// told are calls as a text, but for inode numbers and file times.
func told(calls []call) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%d.%d %s = %+v\n", c.by.Pid, c.by.N, c.op, c.shown())
	}
	return b.String()
}

// shown is what a call was answered, but for inode numbers and file times.
func (c *call) shown() fsfake.Result {
	r := c.result
	st := &r.Stat
	st.Ino, st.Atime, st.Mtime, st.Ctime, st.Btime = 0, 0, 0, 0, 0
	if c.op.Call == fsfake.CallReaddir {
		r.Value = nil // inode numbers
	}
	return r
}

func pid(process int) string { return strconv.Itoa(scenarios.Pid(process)) }
