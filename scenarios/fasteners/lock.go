// Package fasteners holds InterProcessLock of harlowja/fasteners (Python, OpenStack): an
// fcntl lock on a file that stays. The documentation asks for one object per process;
// https://github.com/transparency-dev/tessera/pull/973 reports the same trap elsewhere.
package fasteners

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

const lock = "/var/lock/nova.lock"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "fasteners", Lock: lock, Report: "https://github.com/harlowja/fasteners", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "lockf/tasks", Does: "A record lock does not exclude the threads of one process.",
			Lock: protocol, In: kit.In(kit.Tasks(2)), Claims: kit.Broken(scenarios.MutualExclusion),
		},
		kit.Row{
			ID: "lockf/contend", Does: "The same between processes.",
			Lock: protocol, In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(scenarios.MutualExclusion),
		},
	)
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(lock, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
		if err != nil {
			return kit.Failed(err)
		}
		for retry := t.Retry(); retry.Next(); {
			if f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, false) == nil {
				return kit.Held(f)
			}
			t.Sleep(kit.Poll)
		}
		panic("unreachable")
	},
	Release: func(_ *scenarios.Task, h scenarios.Hold) error {
		return errors.Join(h.File.FcntlLock(fsfake.RecordLock{Type: fsfake.F_UNLCK}, false), h.File.Close())
	},
}
