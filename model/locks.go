package model

import (
	"fmt"
	"slices"
)

// A history may be of several locks. Locks are objects of their own, so that it is linearizable
// exactly if the part of it that is of each lock is (Herlihy and Wing, Linearizability, 1990:
// the property is local). What names no lock, above all the death of a process, is told to each:
// dying lets go of one lock and of another, and nothing is between the two.

// LockOf returns the name of the lock that an operation is of, as its method LockName tells; ok
// is false for one that is not of a lock. The empty name means the only lock that there is.
func LockOf(input any) (name string, ok bool) {
	of, ok := input.(interface{ LockName() string })
	if !ok {
		return "", false
	}
	return of.LockName(), true
}

// LockByLock makes a specification of one lock a specification of any number: a history is
// judged lock by lock, by [LockOf]. The state is that of one lock.
func LockByLock(s Spec) Spec {
	s.PerLock = true
	return s
}

// locks lists the locks that are named by operations which the specification accepts, in order.
func (s Spec) locks(inputs []any) []string {
	var names []string
	for _, in := range inputs {
		name, _ := LockOf(in)
		if at, found := slices.BinarySearch(names, name); name != "" && !found && s.Accepts(in) {
			names = slices.Insert(names, at, name)
		}
	}
	return names
}

// parts lists the locks into which a history is divided: one that is empty stands for all of it.
func (s Spec) parts(inputs []any) []string {
	if s.PerLock {
		if names := s.locks(inputs); len(names) > 1 {
			return names
		}
	}
	return []string{""}
}

// isOf reports whether an operation belongs to the part of a history that is of a lock.
func (s Spec) isOf(input any, lock string) bool {
	name, _ := LockOf(input)
	return s.Accepts(input) && (lock == "" || name == "" || name == lock)
}

// called renders an operation: "acquire(A)", and of one lock among several "acquire(A, /x.lock)".
func called(operation, argument, lock string) string {
	if lock == "" {
		return fmt.Sprintf("%s(%s)", operation, argument)
	}
	return fmt.Sprintf("%s(%s, %s)", operation, argument, lock)
}

// asked renders a question: "held?", and of one lock among several "held /x.lock?".
func asked(question, lock string) string {
	if lock == "" {
		return question + "?"
	}
	return question + " " + lock + "?"
}

// Unnamed returns an operation without the name of its lock, for where there is only one.
func Unnamed(input any) any {
	return mapped(input, same, func(string) string { return "" })
}

// Renamed returns an input or output with its owner's name replaced. The
// specifications of this package treat owners alike: a history is as good as the same
// history under other names.
func Renamed(v any, owner func(string) string) any {
	return mapped(v, owner, same)
}

func same(name string) string { return name }

// mapped returns an input or output with the names of owners and locks in it replaced.
func mapped(v any, owner, lock func(string) string) any {
	switch v := v.(type) {
	case Acquire:
		return Acquire{owner(v.Owner), lock(v.Lock)}
	case Release:
		return Release{owner(v.Owner), lock(v.Lock)}
	case RAcquire:
		return RAcquire{owner(v.Owner), lock(v.Lock)}
	case WAcquire:
		return WAcquire{owner(v.Owner), lock(v.Lock)}
	case RRelease:
		return RRelease{owner(v.Owner), lock(v.Lock)}
	case WRelease:
		return WRelease{owner(v.Owner), lock(v.Lock)}
	case Grant:
		return Grant{owner(v.Owner), lock(v.Lock)}
	case Use:
		return Use{v.Token, lock(v.Lock)}
	case WhoHolds:
		return WhoHolds{lock(v.Lock)}
	case IsHeld:
		return IsHeld{lock(v.Lock)}
	case Crash:
		return Crash{owner(v.Owner)}
	case Holder:
		return Holder{owner(v.Owner)}
	}
	return v
}

// The operations that several specifications share: taking a lock, giving it
// back, and dying. They are recorded once and judged by each.
//
// Lock, here and in other operations of a lock, says which one an operation is of: its name,
// as package scenarios makes it of a path. Empty means the only one that there is.

// Acquire asks for the lock. Owner is the name of the process, such as "A":
// tasks of one process may share, processes never do. It returns [Acquired].
type Acquire struct{ Owner, Lock string }

// String renders the operation: "acquire(A)", "acquire(A, /x.lock)".
func (a Acquire) String() string { return called("acquire", a.Owner, a.Lock) }

// LockName is the lock's name.
func (a Acquire) LockName() string { return a.Lock }

// Acquired is the answer to [Acquire], and to [RAcquire] and [WAcquire].
type Acquired struct {
	OK     bool // the lock was obtained
	Shared bool // by joining a hold of the same owner
}

// String renders the answer: "ok", "shared" or "locked".
func (a Acquired) String() string {
	switch {
	case a.OK && a.Shared:
		return "shared"
	case a.OK:
		return "ok"
	}
	return "locked"
}

// Release gives the lock back, once. It returns [Released].
type Release struct{ Owner, Lock string }

// String renders the operation: "release(A)", "release(A, /x.lock)".
func (r Release) String() string { return called("release", r.Owner, r.Lock) }

// LockName is the lock's name.
func (r Release) LockName() string { return r.Lock }

// Released is the answer to [Release], and to [RRelease] and [WRelease].
type Released struct{}

// String renders the answer.
func (Released) String() string { return "released" }

// Crash is the death of a process: it is no longer inside the critical section of any lock.
// It returns [Crashed]. Crash matches the whole name and forgets it: a process
// that is started again may use it.
type Crash struct{ Owner string }

// String renders the operation: "crash(A)".
func (c Crash) String() string { return fmt.Sprintf("crash(%s)", c.Owner) }

// Crashed is the answer to [Crash].
type Crashed struct{}

// String renders the answer.
func (Crashed) String() string { return "dead" }
