// Package zclockfile holds zc.lockfile (Python: Zope, ZEO, CherryPy),
// src/zc/lockfile/__init__.py: flock(2) on a file that stays and names its holder. The
// code's comment sees that two may create it, and calls that harmless. No report of what
// the row shows is known; mutual exclusion holds.
package zclockfile

import (
	_ "embed"
	"errors"
	"io"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/var/zope/Data.fs.lock"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "zc-lockfile", Lock: lock, Report: "https://github.com/zopefoundation/zc.lockfile", Source: source}
	ask := kit.Ask(protocol, func(t *scenarios.Task) int {
		text, _ := kit.ReadAll(t, lock)
		return kit.PidIn(text)
	})
	return sys.Scenarios(kit.Row{
		ID: "append-on-create/ask", Does: "Two find no file, and open one for appending: the second's pid goes behind the first's.",
		Lock: protocol, In: kit.In(kit.Roles(ask, scenarios.Once(protocol))),
		Claims: append(kit.Broken(scenarios.OwnerInfo), kit.Holds(scenarios.MutualExclusion)...),
	})
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(lock, os.O_RDWR, 0)
		if kit.Missing(err) {
			f, err = t.OpenFile(lock, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o666)
		}
		if err != nil {
			return kit.Failed(err)
		}
		if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) != nil {
			_, _ = f.ReadAt(make([]byte, 20), 1) // the owner, for the log
			return kit.Failed(errors.Join(scenarios.ErrLocked, f.Close()))
		}
		_, err1 := f.WriteString(" " + kit.Me(t))
		at, err2 := f.Seek(0, io.SeekCurrent)
		return scenarios.Hold{File: f}, errors.Join(err1, err2, f.Truncate(at))
	},
	Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
}
