package anynumber

import (
	"context"
	"errors"
	"slices"

	"lockpick/checker/internal/learn"
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// maxNamed is how many processes a configuration may name, maxText how long a file may be.
const (
	maxNamed = scenarios.MaxProcesses
	maxText  = 160
)

// How is what views remember beside what programs can see: whether somebody else holds a lock, and who made a file.
// Names has views show names that hold the pids of others, which a program may say.
type How struct {
	K                     int
	Inside, Makers, Names bool
}

// A Proof is a set of views that no step leads out of, and in which nothing is bad. Timed says that the program looks
// at the clock or at file times, so that nobody may be delayed.
type Proof struct {
	How            How
	Views          map[string]Config
	Configurations int
	Timed          bool
}

// An Outcome is what a search has come to.
type Outcome uint8

// The outcomes: a proof; a configuration that is bad and perhaps no run leads to; or the budget is used up.
const (
	Proved Outcome = iota + 1
	Spurious
	Exhausted
)

// A search looks for the least set of views that is closed under steps.
type search struct {
	*System
	how     How
	bad     func(*Config) bool
	asserts bool
	budget  int // configurations that may be glued
	glued   int
	proof   *Proof
	loud    map[string]bool // by view of one: others may notice its next step
	work    []seenView
	index   map[string][]half
	without int
	out     Outcome
}

// A half is a view, and which of its processes the view that is glued to it has not.
type half struct {
	v seenView
	a int
}

// badOf is what breaks a property in one configuration; nil where the property is not asked of any number.
func (s *System) badOf(p *scenarios.Property) func(*Config) bool {
	switch p.Shows {
	case scenarios.InTwoHolders:
		return together
	case scenarios.InAHolder:
		return s.misplaced
	case scenarios.InAStep:
		return func(*Config) bool { return false } // steps tell
	}
	return nil
}

// together: two processes hold one lock.
func together(c *Config) bool {
	held := slices.Clone(c.Inside)
	for i := range c.Procs {
		for _, h := range c.Procs[i].Place.Holds {
			if slices.ContainsFunc(held, func(l string) bool { return sameLock(l, h.Lock) }) {
				return true
			}
		}
		held = append(held, c.Procs[i].holds()...)
	}
	return false
}

// misplaced: a process holds a lock whose path leads to another file than the one that it acquired.
func (s *System) misplaced(c *Config) bool {
	var m *fsfake.Machine
	for i := range c.Procs {
		for _, h := range c.Procs[i].Place.Holds {
			if h.Path == "" {
				continue
			}
			if m == nil {
				m = c.machine(s.kind, s.rest)
			}
			is, ok := m.LookupName(h.Path)
			to, leads := m.Lookup(h.Path)
			if !(ok && is == h.Inode || leads && to == h.Inode) {
				return true
			}
		}
	}
	return false
}

// Prove looks for a proof with views as how says, and gives up after a number of configurations. The error is a
// [Refused], ctx's, or a fault of the program.
func (s *System) Prove(ctx context.Context, p *scenarios.Property, how How, budget int) (*Proof, Outcome, error) {
	return s.prove(ctx, p, how, budget, 0)
}

// prove begins with programs that say no name with the pid of another process, and look at no size. Where one does, it
// begins again. For tests a rule of the gluing may be left out.
func (s *System) prove(ctx context.Context, p *scenarios.Property, how How, budget, without int) (
	*Proof, Outcome, error) {
	proof, out, err := s.search(ctx, p, how, budget, without)
	names, sizes := errors.Is(err, Refused{othersNamed}), errors.Is(err, Refused{sizeSeen})
	if names || sizes {
		again, err := New(s.sc)
		if err != nil {
			return nil, 0, err
		}
		how.Names, again.sizes = how.Names || names, s.sizes || sizes
		*s = *again
		return s.prove(ctx, p, how, budget, without)
	}
	return proof, out, err
}

func (s *System) search(ctx context.Context, p *scenarios.Property, how How, budget, without int) (
	*Proof, Outcome, error) {
	s.makers, s.names = how.Makers, how.Names
	x := &search{System: s, how: how, bad: s.badOf(p), asserts: p.Shows == scenarios.InAStep, budget: budget,
		proof: &Proof{How: how, Views: map[string]Config{}},
		loud:  map[string]bool{}, index: map[string][]half{}, without: without}
	if x.bad == nil {
		return nil, 0, Refused{"the property " + p.ID + " is about a history, not about what few processes see at once"}
	}
	c := s.begin(how.K + 1)
	if s.why == "" {
		x.add(&c)
	}
	for len(x.work) > 0 && !x.stopped() {
		v := x.work[0]
		x.work = x.work[1:]
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		x.alone(&v)
		for a := range how.K {
			x.pair(v, a)
		}
	}
	if err := s.refused(); err != nil {
		return nil, 0, err
	}
	if x.out == 0 {
		x.out = Proved
	}
	if x.out != Proved {
		return nil, x.out, nil
	}
	x.proof.Timed = s.timed
	var tried learn.Tried
	if err := s.a.Unroll(ctx, &tried, false); err != nil {
		return nil, 0, err
	}
	if err := s.a.Verify(ctx, &tried, learn.Repeats); err != nil {
		return nil, 0, err
	}
	return x.proof, Proved, s.alike()
}

// stopped reports whether the search has come to its end before there is a proof.
func (x *search) stopped() bool { return x.out != 0 || x.why != "" }

// add adds the views of a configuration.
func (x *search) add(c *Config) {
	subsets(c.full(), x.how.K, func(keep []int) bool {
		v := c.canonical(keep, x.how)
		if v.why != "" {
			x.refuse(string(v.why))
		} else if _, ok := x.proof.Views[v.Key]; !ok {
			x.proof.Views[v.Key] = v.Config
			x.work = append(x.work, v)
		}
		return true
	})
}

// subsets visits those of n elements, until visit returns false.
func subsets[T any](all []T, n int, visit func([]T) bool) bool {
	var rec func(at int, s []T) bool
	rec = func(at int, s []T) bool {
		if len(s) == n {
			return visit(s)
		}
		for i := at; i < len(all); i++ {
			if !rec(i+1, append(slices.Clone(s), all[i])) {
				return false
			}
		}
		return true
	}
	return rec(0, nil)
}

// pair glues a view without its process number a to all views before that agree with it in the rest.
func (x *search) pair(v seenView, a int) {
	others := slices.Delete(v.full(), a, a+1)
	key := v.canonical(others, x.how).Key
	x.index[key] = append(x.index[key], half{v, a})
	for _, h := range slices.Clone(x.index[key]) {
		if x.quiet(&v) && x.quiet(&h.v) && (!v.holding() || !h.v.holding()) {
			continue
		}
		theirs := slices.Delete(h.v.full(), h.a, h.a+1)
		permute(theirs, 0, func(order []int) {
			var shared [][2]int
			for i, p := range others {
				shared = append(shared, [2]int{p, order[i]})
			}
			g := &gluing{v: &v.Config, w: &h.v.Config, a: v.full()[a], b: h.v.full()[h.a], pids: map[int]int{},
				whose: map[int]int{},
				files: map[fsfake.InodeID]fsfake.InodeID{}, which: map[fsfake.InodeID]fsfake.InodeID{}, without: x.without,
				visit: func(u Config) { x.among(u, union(v.Inside, h.v.Inside)) }}
			if !x.stopped() {
				g.glue(shared)
			}
		})
	}
}

// among expands a configuration with each set of locks that others may hold: some of those that either view tells of.
func (x *search) among(u Config, locks []string) {
	for n := range len(locks) + 1 {
		subsets(locks, n, func(held []string) bool {
			u.Inside = held
			x.expand(&u)
			return !x.stopped()
		})
	}
}

// expand adds what can happen in a configuration of which all views are known.
func (x *search) expand(u *Config) {
	x.refuse(string(u.why))
	if x.stopped() {
		return
	}
	if x.glued++; x.glued > x.budget {
		x.out = Exhausted
		return
	}
	var quiet []int
	if !subsets(u.full(), x.how.K, func(keep []int) bool {
		v := u.canonical(keep, x.how)
		if x.refuse(string(v.why)); x.quiet(&v) {
			quiet = append(quiet, keep[0])
		}
		_, ok := x.proof.Views[v.Key]
		return ok
	}) {
		return
	}
	x.proof.Configurations++
	if x.bad(u) {
		x.out = Spurious
		return
	}
	for _, pid := range u.full() {
		if slices.Contains(quiet, pid) {
			continue
		}
		x.next(u, pid, func(d step) {
			if d.failed && x.asserts || x.bad(&d.Config) {
				x.out = Spurious
			}
			if !x.stopped() {
				x.add(&d.Config)
			}
		})
	}
}

// Hows lists what to try, the cheapest first.
func Hows() []How {
	return []How{{K: 1}, {K: 1, Inside: true}, {K: 1, Makers: true}, {K: 2}}
}

// Asks reports whether a property is asked of any number of processes.
func Asks(p *scenarios.Property) bool { return p.Shows != scenarios.InHistories }
