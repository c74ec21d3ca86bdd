// Package toys holds the smallest scenarios that show something: fixtures for the tests
// of reports and of the command line.
//
// It knows the vocabulary of scenarios and must not know how they are checked.
package toys

import (
	"os"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Lock is the name of every toy's lock.
const Lock = "/run/lock"

// All lists the toys: a broken lock, its fix, a wedge, a deadlock, a lease and two
// tasks of one process.
func All() []scenarios.Scenario {
	two := scenarios.Setting{Processes: 2}
	return []scenarios.Scenario{
		toy("toy/look/contend", "Look, then create: two calls.", look(), two, broken(scenarios.MutualExclusion)),
		toy("toy/excl/contend", "Create or fail: one call.", excl(), two, holds(scenarios.MutualExclusion), holds(scenarios.ForeignRelease)),
		toy("toy/excl/crash", "Create or fail, and one process may be killed.", excl(),
			scenarios.Setting{Processes: 2, Crashes: 1}, holds(scenarios.MutualExclusion), broken(scenarios.Wedge)),
		toy("toy/wrong/contend", "A claim that is not so.", look(), two, holds(scenarios.MutualExclusion)),
		abba(),
		lease(),
		toy("toy/look/tasks", "The same between two tasks of one process, with a peer.", look(),
			scenarios.Setting{Processes: 2, Tasks: []int{2, 1}}, broken(scenarios.MutualExclusion)),
	}
}

func holds(p *scenarios.Property) scenarios.Claim {
	return scenarios.Claim{Property: p, Verdict: scenarios.Holds}
}

func broken(p *scenarios.Property) scenarios.Claim {
	return scenarios.Claim{Property: p, Verdict: scenarios.Broken}
}

func toy(id, summary string, l scenarios.Protocol, st scenarios.Setting, claims ...scenarios.Claim) scenarios.Scenario {
	return scenarios.Scenario{
		ID: id, Summary: summary, Setting: st, Claims: claims, Watch: []string{Lock},
		Setup: func(m *fsfake.Machine) {
			if err := m.Proc(1).Mkdir("/run", 0o755); err != nil {
				panic(err)
			}
		},
		Program: func(int, int) scenarios.Program { return scenarios.Once(l) },
		Probe:   scenarios.Attempt(l),
	}
}

// look looks first and creates afterwards.
func look() scenarios.Protocol {
	return scenarios.Protocol{
		Path: Lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if _, err := t.Stat(Lock); err == nil {
				return scenarios.Hold{}, scenarios.ErrLocked
			}
			return scenarios.Hold{}, t.WriteFile(Lock, []byte(t.Process), 0o644)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(Lock) },
	}
}

func excl() scenarios.Protocol { return Excl(Lock) }

// Excl creates the lock with O_EXCL, and removes it: correct without crashes.
func Excl(lock string) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile(lock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			return scenarios.Hold{File: f}, err
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			if err := h.File.Close(); err != nil {
				return err
			}
			return t.Unlink(lock)
		},
	}
}

// abba takes two locks, each process in its own order.
func abba() scenarios.Scenario {
	sc := toy("toy/abba/contend", "Two locks, in two orders.", excl(), scenarios.Setting{Processes: 2, Fixed: true}, broken(scenarios.Deadlock))
	sc.Watch = []string{"/run/first", "/run/second"}
	sc.Program = func(process, _ int) scenarios.Program {
		names := []string{"/run/first", "/run/second"}
		return func(t *scenarios.Task) {
			for i := range names {
				f, err := t.OpenFile(names[(i+process)%2], os.O_CREATE|os.O_RDWR, 0o644)
				if err != nil || f.Flock(fsfake.LOCK_EX) != nil {
					return
				}
			}
		}
	}
	return sc
}

// expiring takes the lock to be free when it is older than that.
func expiring(stale time.Duration) scenarios.Protocol {
	l := excl()
	create := l.Acquire
	l.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		info, err := t.Stat(Lock)
		if err == nil && t.Now().Sub(info.ModTime()) > stale {
			_ = t.Unlink(Lock)
		}
		return create(t)
	}
	return l
}

// lease takes the lock to be free when it is old.
func lease() scenarios.Scenario {
	return toy("toy/lease/stall", "A lock that is a minute old is taken for dead.", expiring(time.Minute),
		scenarios.Setting{Processes: 2, Stalls: 1, StallFor: 2 * time.Minute}, broken(scenarios.MutualExclusion))
}
