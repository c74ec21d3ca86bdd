package discipline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Copies is how many copies are run one after the other, where none leaves the files as it has found them. rounds is
// how often a copy that polls is told that somebody else has the lock; variants how many listings are tried.
const (
	Copies   = 12
	rounds   = 20
	variants = 64
)

// A Proof is a lock that each copy keeps to.
type Proof struct {
	Path        string // of the lock; empty where copies change nothing
	Take, Leave string // the calls that take it and give it back, as the first copy makes them
	Ran         int    // copies that were run, one after the other
	Closed      bool   // the last of them left the files as it had found them
	Polls       bool   // a copy that does not get the lock asks again
}

// A serial is a run of a copy alone: where it began, its calls, and those between which it holds the lock.
type serial struct {
	process    int
	from       *fsfake.Machine
	calls      []call
	took, left int // the numbers of the calls that take the lock and give it back
}

// Prove proves that any number of copies of the scenario's processes, which are all the same command, leave behind
// what they leave behind one after the other, and that they all end. The error is a [NotProved], ctx's, or a fault of
// the program.
func Prove(ctx context.Context, sc *scenarios.Scenario) (*Proof, error) {
	return prove(ctx, sc, Copies)
}

func prove(ctx context.Context, sc *scenarios.Scenario, copies int) (*Proof, error) {
	x, err := newRunner(ctx, sc)
	if err != nil {
		return nil, err
	}
	s := &shared{names: map[string]bool{}, files: map[fsfake.InodeID]bool{}, dirs: map[fsfake.InodeID][]string{}}
	runs, closed, err := x.serially(s, copies)
	if err != nil {
		return nil, err
	}
	if len(s.names)+len(s.files) == 0 {
		return &Proof{Closed: true}, nil
	}
	why := error(notProved("a copy takes no exclusive lock on a file, and makes no name that keeps others out"))
	locks := locksOf(runs[0].calls)
	for i := range locks {
		l := &locks[i]
		is := &Proof{Path: l.path, Ran: len(runs) - min(sc.Setting.Processes, len(runs)/2), Closed: closed}
		err := x.proves(s, l, runs, is)
		if err == nil {
			return is, nil
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

// serially runs copies one after the other, each twice as processes with other pids, and sees what they change.
func (x *runner) serially(s *shared, copies int) (runs []serial, closed bool, err error) {
	m, n := x.first, x.sc.Setting.Processes
	for k := 0; k < copies && !closed; k++ {
		var next *fsfake.Machine
		as := []int{k % n, n - 1 - k%n} // as another process, too, while the first of each run
		if k >= n {
			as = as[:1]
		}
		for _, process := range as {
			r := serial{process: process, from: m}
			if r.calls, err = x.run(process, m, nil); err != nil {
				return nil, false, err
			}
			if len(r.calls) == 0 {
				return nil, false, notProved("a copy makes no call on the files")
			}
			for i := range r.calls {
				s.see(&r.calls[i])
			}
			left, err := x.anew(r.calls[len(r.calls)-1].after)
			if err != nil {
				return nil, false, err
			}
			if next != nil && !sameTree(next, left) {
				return nil, false, notProved("what a copy leaves behind depends on its pid")
			}
			next, runs = left, append(runs, r)
		}
		closed = k+1 >= n && sameTree(m, next)
		m = next
	}
	return runs, closed, nil
}

// proves checks that all runs keep to a lock.
func (x *runner) proves(s *shared, l *lock, runs []serial, is *Proof) error {
	for i := range runs {
		if err := l.keeps(s, &runs[i]); err != nil {
			return err
		}
		if a, b := runs[0].before(), runs[i].before(); a != b {
			return notProved("before it takes the lock a copy does not always do the same")
		}
	}
	is.Take, is.Leave = runs[0].calls[runs[0].took].op.String(), runs[0].calls[runs[0].left].op.String()
	if runs[0].calls[runs[0].took].timer {
		return notProved("a copy waits for the lock with a timeout: %s", l.take)
	}
	last := &runs[len(runs)-1]
	if err := x.listings(s, last); err != nil {
		return err
	}
	var err error
	for _, w := range []struct {
		r     *serial
		fails int
	}{{&runs[0], 1}, {&runs[0], rounds}, {last, 2}} {
		if is.Polls, err = x.waits(s, l, w.r, w.fails); err != nil {
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
			if why := l.outside(s, c); why != "" {
				return notProved("%s", why)
			}
		}
	}
	if r.took < 0 || r.left < 0 {
		return notProved("a copy does not take the lock on %s and give it back", l.path)
	}
	return nil
}

// told are calls and answers as a text, but for inode numbers.
func told(calls []call) string {
	var b strings.Builder
	for _, c := range calls {
		r := c.result
		if r.Stat.Ino = 0; c.op.Call == fsfake.CallReaddir {
			r.Value = nil // inode numbers
		}
		fmt.Fprintf(&b, "%d.%d %s = %+v\n", c.by.Pid, c.by.N, c.op, r)
	}
	return b.String()
}

// before is what a run does before it takes the lock, whatever its pid.
func (r *serial) before() string {
	pid := fmt.Sprint(scenarios.Pid(r.process))
	return strings.ReplaceAll(told(r.calls[:r.took]), pid, "PID")
}

// waits runs a copy while somebody else has the lock, who lets it go after the copy has asked so often in vain. What
// it does then must be what it does alone.
func (x *runner) waits(s *shared, l *lock, r *serial, fails int) (polls bool, err error) {
	if take := l.take; take.Call == fsfake.CallFlock && take.Flags&fsfake.LOCK_NB == 0 || take.Wait {
		return false, nil // the kernel lets it wait
	}
	m := r.from.Clone()
	if err := l.occupy(m); err != nil {
		return true, err
	}
	var asked []int // the numbers of the calls that asked
	calls, err := x.run(r.process, m, func(m *fsfake.Machine, c *call) (*fsfake.Result, error) {
		if !l.tries(c) {
			return nil, nil
		}
		if len(asked) == fails {
			l.vacate(m)
		}
		asked = append(asked, 0)
		return nil, nil
	})
	if err != nil {
		return true, err
	}
	asked = asked[:0]
	for i := range calls {
		if l.tries(&calls[i]) {
			asked = append(asked, i)
		}
		if len(asked) <= fails {
			if why := l.outside(s, &calls[i]); why != "" {
				return true, notProved("%s", why)
			}
		}
	}
	if len(asked) <= fails {
		return true, notProved("a copy that does not get the lock gives up: %s", l.take)
	}
	round := func(k int) string { return awake(calls[asked[k]:asked[k+1]]) }
	for k := 1; k < fails; k++ {
		if round(k) != round(0) {
			return true, notProved("a copy that does not get the lock does something else in each round")
		}
	}
	if told(calls[asked[fails]:]) != told(r.calls[r.took:]) {
		return true, notProved("a copy that has waited for the lock does something else than one that has not")
	}
	return true, nil
}

// awake is calls as a text, but for sleeps, which may be of any length.
func awake(calls []call) string {
	return told(slices.DeleteFunc(slices.Clone(calls), func(c call) bool { return c.op.Call == fsfake.CallSleep }))
}

// other is the pid of who has the lock in [runner.waits].
const other = 97

// occupy has another process take the lock.
func (l *lock) occupy(m *fsfake.Machine) error {
	m.AddProc(fsfake.ProcSpec{Pid: other, Parent: 1, UID: m.View(1).UID, Start: 1})
	by := fsfake.Task{Pid: other, N: 1}
	op := l.take
	if l.byName {
		op.Path = l.path
	} else {
		r := m.Do(by, fsfake.Op{Call: fsfake.CallOpen, Path: l.path, Flags: fsfake.O_RDWR | fsfake.O_CREAT, Mode: 0o666})
		if !r.OK() {
			return notProved("the lock on %s cannot be taken by another process: %v", l.path, r.Errno)
		}
		op.FD = int(r.N)
	}
	if r := m.Do(by, op); !r.OK() {
		return notProved("the lock on %s cannot be taken by another process: %v", l.path, r.Errno)
	}
	return nil
}

// vacate has it let go.
func (l *lock) vacate(m *fsfake.Machine) {
	if l.byName {
		call := fsfake.CallUnlink
		if l.take.Call == fsfake.CallMkdir {
			call = fsfake.CallRmdir
		}
		m.Do(fsfake.Task{Pid: other, N: 1}, fsfake.Op{Call: call, Path: l.path})
	}
	m.KillProc(other)
}

// listings runs a copy with other listings of directories, where it lists one outside of the lock and copies make or
// remove names there: with each set of these names, in each listing. It must do the same.
func (x *runner) listings(s *shared, r *serial) error {
	var at []int
	total := 1
	for i := range r.calls {
		c := &r.calls[i]
		id, _ := c.before.FDInode(c.by.Pid, c.op.FD)
		if c.op.Call == fsfake.CallReaddir && c.result.N > 0 && (i < r.took || i > r.left) && len(s.dirs[id]) > 0 {
			at = append(at, i)
			if total *= 1 << min(len(s.dirs[id]), 10); total > variants {
				return notProved("outside of the lock a copy lists a directory in which copies make names: %s", c.op)
			}
		}
	}
	if len(at) == 0 {
		return nil
	}
	for v := range total {
		n, left := -1, v
		calls, err := x.run(r.process, r.from, func(m *fsfake.Machine, c *call) (*fsfake.Result, error) {
			if n++; n >= len(r.calls) || !slices.Contains(at, n) || c.op != r.calls[n].op {
				return nil, nil
			}
			id, _ := m.FDInode(c.by.Pid, c.op.FD)
			is := m.Do(c.by, c.op)
			left = listed(&is, s.dirs[id], left)
			return &is, nil
		})
		if err != nil {
			return err
		}
		if asked(calls) != asked(r.calls) {
			return notProved("outside of the lock a copy lists a directory, and what it does depends on names that "+
				"copies make there: %s", r.calls[at[0]].op)
		}
	}
	return nil
}

// asked are calls as a text.
func asked(calls []call) string {
	var b strings.Builder
	for _, c := range calls {
		fmt.Fprintf(&b, "%d.%d %s\n", c.by.Pid, c.by.N, c.op)
	}
	return b.String()
}

// listed changes a listing, so that some names are there and others are not, as the lowest bits of v say; and what is
// left of v.
func listed(r *fsfake.Result, names []string, v int) int {
	numbers := map[string]string{}
	of, numbered := r.Value.(string)
	all, inos := strings.Split(r.Data, "\x00"), strings.Fields(of)
	for i, name := range all {
		if i+2 < len(inos) {
			numbers[name] = inos[i+2]
		}
	}
	for _, name := range names {
		all = slices.DeleteFunc(all, func(n string) bool { return n == name })
		if v&1 == 1 {
			all = append(all, name)
		}
		v >>= 1
	}
	all = slices.DeleteFunc(all, func(n string) bool { return n == "" })
	slices.Sort(all)
	r.Data, r.N = strings.Join(all, "\x00"), int64(len(all))
	if !numbered {
		return v
	}
	inos = inos[:min(2, len(inos))]
	for i, name := range all {
		inos = append(inos, cmp.Or(numbers[name], strconv.Itoa(newNumber+i)))
	}
	r.Value = strings.Join(inos, " ")
	return v
}

// newNumber is more than any inode number.
const newNumber = 1 << 40
