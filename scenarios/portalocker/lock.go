package portalocker

import (
	_ "embed"
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	pidFile = "/run/lock/app.pid"
	lock    = "/run/lock/app.pid.lock"
	report  = "https://github.com/wolph/portalocker/issues/115"
)

// Scenarios lists the versions of the lock, each in its situations.
func Scenarios() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "portalocker", Lock: lock, Report: report, Source: source}
	twice := file(true, true)
	return sys.Scenarios(
		kit.Row{
			ID: "unlink-after-unlock/contend", Does: "The file is removed after it was unlocked (3.x).",
			Lock: file(false, false), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "second-release/contend", Does: "An object that holds nothing still removes the file when it is released once more.",
			Lock: twice,
			In:   kit.In(kit.Roles(releaseTwice(twice), scenarios.Once(twice), scenarios.Once(twice))), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "verify-only/contend", Does: "Half of the fix: who locks looks whether the file is still at its name; it is removed after it was unlocked.",
			Lock: file(true, false), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "verify-and-unlink-held/contend", Does: "Who locks looks whether the file is still at its name, and only a holder removes it (4.0.0).",
			Lock: file(true, true), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(me),
		},
		kit.Row{
			ID: "pidfile-sidecar/ask", Does: "The pid file is written while its sidecar is locked (4.0.0).",
			Lock: sidecar, In: kit.In(kit.Roles(kit.Ask(sidecar, owner), scenarios.Once(sidecar))),
			Claims: kit.Holds(scenarios.OwnerInfo), Watch: []string{pidFile},
		},
	)
}

// file is TemporaryFileLock: verify is the look at the name after locking, held the
// removal before unlocking.
func file(verify, held bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := kit.OpenFlock(t, lock, os.O_WRONLY|os.O_APPEND, fsfake.LOCK_EX|fsfake.LOCK_NB)
				if err != nil {
					return kit.Failed(err)
				}
				if verify && !kit.AtItsName(t, f, lock) {
					_ = f.Close()
					continue
				}
				return scenarios.Hold{File: f}, f.Truncate(0)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			if held {
				return errors.Join(t.Unlink(lock), h.File.Flock(fsfake.LOCK_UN), h.File.Close())
			}
			return errors.Join(h.File.Flock(fsfake.LOCK_UN), h.File.Close(), t.Unlink(lock))
		},
	}
}

// releaseTwice holds once, and releases once more later: a second call, or the garbage
// collection of the object.
func releaseTwice(l scenarios.Protocol) scenarios.Program {
	return func(t *scenarios.Task) {
		_ = scenarios.Locked(t, l, func() { t.Work() })
		_ = t.Unlink(lock)
	}
}

// sidecar is PidFileLock: the pid file is written under the lock beside it.
var sidecar = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		h, err := file(true, true).Acquire(t)
		if err != nil {
			return h, err
		}
		p, err := t.OpenFile(pidFile, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
		if err != nil {
			return h, err
		}
		if err := p.Truncate(0); err != nil {
			return h, err
		}
		_, err = p.WriteString(kit.Me(t))
		return h, errors.Join(err, p.Close())
	},
	Release: func(t *scenarios.Task, h scenarios.Hold) error {
		return errors.Join(t.Unlink(pidFile), file(true, true).Release(t, h))
	},
}

// owner reads the pid file.
func owner(t *scenarios.Task) int {
	text, _ := kit.ReadAll(t, pidFile)
	return kit.PidIn(text)
}
