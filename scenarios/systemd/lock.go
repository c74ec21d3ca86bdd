// Package systemd holds make_lock_file and release_lock_file of systemd,
// src/basic/lock-util.c: an OFD lock, a look at the link count, and a removal by the
// holder only. On NFS the link count is no witness; there is no NFS here.
package systemd

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

const lock = "/run/systemd/nspawn/locks/.#machine.lck"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "systemd", Lock: lock, Report: "https://github.com/systemd/systemd/blob/main/src/basic/lock-util.c", Source: source}
	return sys.Scenarios(kit.Row{
		ID: "make-lock-file/contend", Does: "Only a holder removes the name, and whoever has locked a removed file sees that it has no link.",
		Lock: protocol, In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(scenarios.MutualExclusion),
	})
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE|fsfake.O_NOFOLLOW, 0o600)
			if err != nil {
				return kit.Failed(err)
			}
			if err := f.OFDLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, true); err != nil {
				return kit.Failed(err)
			}
			if kit.Linked(f) {
				return kit.Held(f)
			}
			_ = f.Close()
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, h scenarios.Hold) error { return errors.Join(t.Unlink(lock), h.File.Close()) },
}
