// Package dpkg holds dpkg's /var/lib/dpkg/lock, lib/dpkg/file.c (apt does the same): an
// fcntl lock on a file that is never removed. The kernel knows the owner.
package dpkg

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

const lock = "/var/lib/dpkg/lock"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "dpkg", Lock: lock, Report: "https://github.com/guillemj/dpkg/blob/main/lib/dpkg/file.c", Source: source}
	return sys.Scenarios(kit.Row{
		ID: "fcntl-permanent/contend", Does: "A record lock on a file that is never removed.",
		Lock: protocol, In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(scenarios.MutualExclusion),
	})
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o640)
		if err != nil {
			return kit.Failed(err)
		}
		whole := fsfake.RecordLock{Type: fsfake.F_WRLCK}
		if err := f.FcntlLock(whole, false); err != nil {
			_, gerr := f.FcntlGetLock(whole) // for the message: who holds it
			return kit.Failed(errors.Join(scenarios.ErrLocked, gerr, f.Close()))
		}
		return kit.Held(f)
	},
	Release: func(_ *scenarios.Task, h scenarios.Hold) error {
		return errors.Join(h.File.FcntlLock(fsfake.RecordLock{Type: fsfake.F_UNLCK}, false), h.File.Close())
	},
}
