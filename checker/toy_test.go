package checker

import (
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// Buggy and correct toy locks, as fixtures: the smallest programs that show each
// property.

const toyLock = "/lock"

// toyStatThenWrite looks first and creates afterwards: broken.
func toyStatThenWrite() scenarios.Protocol {
	return scenarios.Protocol{
		Path: toyLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if _, err := t.Stat(toyLock); err == nil {
				return scenarios.Hold{}, scenarios.ErrLocked
			}
			return scenarios.Hold{}, t.WriteFile(toyLock, []byte("x"), 0o644)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(toyLock) },
	}
}

// toyExcl creates with O_EXCL: correct without crashes.
func toyExcl() scenarios.Protocol {
	return scenarios.Protocol{
		Path: toyLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile(toyLock, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
			return scenarios.Hold{File: f}, err
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			if err := h.File.Close(); err != nil {
				return err
			}
			return t.Unlink(toyLock)
		},
	}
}

// toyExclWait polls until it has the lock.
func toyExclWait() scenarios.Protocol {
	p := toyExcl()
	once := p.Acquire
	p.Acquire = func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			if h, err := once(t); err == nil {
				return h, nil
			}
			t.Sleep(1e6)
		}
		panic("unreachable")
	}
	return p
}

// toyFlock locks a permanent file, and waits.
func toyFlock() scenarios.Protocol {
	return scenarios.Protocol{
		Path: toyLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile(toyLock, os.O_CREATE|os.O_RDWR, 0o644)
			if err != nil {
				return scenarios.Hold{}, err
			}
			return scenarios.Hold{File: f}, f.Flock(fsfake.LOCK_EX)
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
	}
}

func toy(id string, l scenarios.Protocol, st scenarios.Setting, claims ...scenarios.Claim) *scenarios.Scenario {
	if len(claims) == 0 {
		claims = []scenarios.Claim{{Property: scenarios.MutualExclusion, Verdict: scenarios.Holds}}
	}
	return &scenarios.Scenario{
		ID: id, Setting: st, Claims: claims, Watch: []string{toyLock},
		Program: func(int, int) scenarios.Program { return scenarios.Once(l) },
		Probe:   scenarios.Attempt(l),
	}
}
