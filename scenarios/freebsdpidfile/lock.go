// Package freebsdpidfile holds FreeBSD's flopen(3) and pidfile(3), lib/libutil; libbsd has
// them too. It is the shape to copy: lock, then compare the file with what stands at its
// name, and remove the name only while it is locked.
package freebsdpidfile

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

const lock = "/var/run/daemon.pid"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "freebsd-pidfile", Lock: lock, Report: "https://github.com/freebsd/freebsd-src/blob/main/lib/libutil/flopen.c", Source: source}
	return sys.Scenarios(kit.Row{
		ID: "flopen/contend", Does: "Whoever has locked the file compares it with what stands at its name; only a holder removes the name.",
		Lock: protocol, In: kit.In(kit.Contend(3)), Claims: kit.Holds(scenarios.MutualExclusion),
	})
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			f, err := kit.OpenFlock(t, lock, os.O_WRONLY, fsfake.LOCK_EX|fsfake.LOCK_NB)
			if err != nil {
				return kit.Failed(err)
			}
			if !kit.AtItsName(t, f, lock) {
				_ = f.Close()
				continue
			}
			if err := f.Truncate(0); err != nil {
				return kit.Failed(err)
			}
			_, err = f.WriteAt([]byte(kit.Me(t)), 0)
			return scenarios.Hold{File: f}, err
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, h scenarios.Hold) error {
		_, err := h.File.Stat() // is it still the file that was opened?
		return errors.Join(err, t.Unlink(lock), h.File.Close())
	},
}
