package engine

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"lockpick/checker/internal/learn"
	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/model"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A scenario may have several locks, and each is judged for itself: an operation carries the name
// of its lock, a history is divided by it, and a machine marks who holds which. That asks for
// three things. A property must be able to tell locks apart; operations must say which lock they
// are of; and two names must be two locks, or what is done under one name would not count under
// the other. Where one of them is missing there is no verdict.

// Locks collects the locks of a scenario.
type Locks struct {
	all   []string // sorted
	names []string // those that the property is about, sorted
	// unnamed is an operation that does not say which lock it is of, and by whom; empty for none.
	unnamed string
}

// add adds the lock of an operation of a task.
func (l *Locks) add(p *scenarios.Property, task sched.Task, input any) {
	name, ofLock := model.LockOf(input)
	if !ofLock {
		return
	}
	l.all = withName(l.all, name)
	if p.Spec.Apply != nil && !p.Spec.Accepts(input) {
		return
	}
	l.names = withName(l.names, name)
	if name == "" && l.unnamed == "" {
		l.unnamed = fmt.Sprintf("%v by task %s", input, task)
	}
}

// withName adds a name to a sorted list, in which each is once; the empty one is none.
func withName(names []string, name string) []string {
	at, found := slices.BinarySearch(names, name)
	if found || name == "" {
		return names
	}
	return slices.Insert(names, at, name)
}

// Add adds other locks.
func (l *Locks) Add(m *Locks) {
	for _, name := range m.all {
		l.all = withName(l.all, name)
	}
	for _, name := range m.names {
		l.names = withName(l.names, name)
	}
	l.unnamed = cmp.Or(l.unnamed, m.unnamed)
}

// lockOf names the lock that the operation is of which begins; empty for none, or for the only one.
func lockOf(begins *learn.Effects) string {
	name, _ := model.LockOf(begins.Input)
	return name
}

// AddLocks adds the locks that the tasks of a run have used.
func (w *World) AddLocks(l *Locks) {
	for i := range w.History.Ops {
		if op := &w.History.Ops[i]; op.ClientId < len(w.actors) {
			l.add(w.property, w.actors[op.ClientId].task, op.Input)
		}
	}
}

// lockSteps bounds the run in which the locks of a scenario are looked for.
const lockSteps = 1_000

// LocksOf are the locks that the tasks of a scenario use in a run without preemptions.
func LocksOf(sc *scenarios.Scenario, p *scenarios.Property) *Locks {
	var l Locks
	if sc.External {
		return &l // its operations name no locks
	}
	w := NewWorld(sc, p, sc.NewMachine())
	defer w.Stop()
	for w.Err == nil && !w.Spins() && w.Steps < lockSteps && w.Look() {
		c, err := sched.RunToCompletion{}.Next(&w.View)
		if err != nil {
			break
		}
		w.Apply(c, nil)
	}
	w.AddLocks(&l)
	return &l
}

// Locks are those of what was learned. Nobody may learn meanwhile.
func (x *Space) Locks() *Locks {
	var l Locks
	for i, a := range x.automata {
		task := x.Slots[i].Task
		l.add(x.Property, task, a.Node(a.First()).Begins.Input)
		a.Each(func(e learn.Edge) bool {
			l.add(x.Property, task, e.Effects.Input)
			return true
		})
	}
	return &l
}

// Named reports whether locks are told by their names: there is more than one.
func (l *Locks) Named() bool { return len(l.all) > 1 }

// Several reports whether the property is about more than one.
func (l *Locks) Several() bool { return len(l.names) > 1 }

// Judgeable is the error for a property that cannot be judged where these are the locks.
func (l *Locks) Judgeable(sc *scenarios.Scenario, p *scenarios.Property) error {
	if !l.Several() || !p.OfLock() {
		return nil
	}
	bad := fmt.Sprintf("checker: %s cannot be judged by %s: its tasks ask for %d locks, %s, and ", sc.ID, p, len(l.names), strings.Join(l.names, " and "))
	switch {
	case p.OfOneLock():
		return unjudgeable{fmt.Sprintf("%s%s is said of one; make a scenario for each, or a property that tells them apart (model.LockByLock, Property.PerLock)", bad, p)}
	case l.unnamed != "":
		return unjudgeable{fmt.Sprintf("%s%s does not say which it is of: name it (Task.ReleaseOf, GrantOf, UseOf, WhoHolds.Lock)", bad, l.unnamed)}
	}
	return nil
}

// Distinct is the error for two names that are one lock on a machine: they lead to one file, or
// to one place in a directory. What is done under one name would not count under the other.
func (l *Locks) Distinct(sc *scenarios.Scenario, p *scenarios.Property, m *fsfake.Machine) error {
	if !l.Several() || !p.OfLock() {
		return nil
	}
	for i, a := range l.names {
		for _, b := range l.names[:i] {
			if how := sameLock(m, a, b); how != "" {
				return unjudgeable{fmt.Sprintf("checker: %s cannot be judged by %s: its tasks ask for the locks %s and %s, and these are %s: where that is one lock, give Acquire one path for both (Hold.Path can tell the names)",
					sc.ID, p, b, a, how)}
			}
		}
	}
	return nil
}

// sameLock says how two names are one on a machine, or "".
func sameLock(m *fsfake.Machine, a, b string) string {
	same := func(find func(string) (fsfake.InodeID, bool), a, b string) bool {
		x, ok := find(a)
		y, too := find(b)
		return ok && too && x == y
	}
	switch {
	case path.Base(a) == path.Base(b) && same(m.Lookup, path.Dir(a), path.Dir(b)):
		return "one name in one directory"
	case same(m.LookupName, a, b), same(m.Lookup, a, b):
		return "names of one file"
	}
	return ""
}

// Judgeable is the error for a space whose property cannot be judged because of its locks. Nobody
// may learn meanwhile.
func (x *Space) Judgeable() error {
	_, err := x.JudgeableWith(&Locks{})
	return err
}

// JudgeableWith is Judgeable where others use more locks, for a part of a space. It returns the names of all
// locks that it has looked at.
func (x *Space) JudgeableWith(more *Locks) (names []string, err error) {
	l := x.Locks()
	l.Add(more)
	if err := l.Judgeable(x.Sc, x.Property); err != nil || !l.Several() {
		return l.names, err
	}
	for id := range uint32(x.machines.len()) {
		if err := l.Distinct(x.Sc, x.Property, x.machines.get(id)); err != nil {
			return l.names, err
		}
	}
	return l.names, nil
}

// Unnamed takes the names of locks out of a trace, where there is one lock: it is "the lock" then.
func Unnamed(t trace.Trace) {
	for i := range t {
		t[i].Invoked = model.Unnamed(t[i].Invoked)
		for k := range t[i].Holders {
			t[i].Holders[k].Lock = ""
		}
	}
}
