// Package fasteners holds InterProcessLock of harlowja/fasteners (Python, OpenStack): an
// fcntl lock on a file that stays. The documentation asks for one object per process;
// https://github.com/transparency-dev/tessera/pull/973 reports the same trap elsewhere, and
// https://github.com/harlowja/fasteners/issues/93 asks for a lock that keeps threads apart as well:
// pex-tool/pex has one (https://github.com/pex-tool/pex/pull/2070), a mutex around the file's lock.
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
	me, both := scenarios.MutualExclusion, "https://github.com/harlowja/fasteners/issues/93"
	sys := kit.System{Name: "fasteners", Lock: lock, Report: "https://github.com/harlowja/fasteners", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "lockf/tasks", Does: "A record lock does not exclude the threads of one process.",
			Lock: protocol, In: kit.In(kit.Tasks(2)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "lockf/contend", Does: "The same between processes.",
			Lock: protocol, In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(me),
		},
		kit.Row{
			ID: "flag/tasks", Does: "The process looks at a flag of its own, sets it, and takes the record lock: on an event loop nobody comes between.",
			Report: both, Lock: within(lookAndSet, reset), In: kit.In(kit.Tasks(2, 1)), Claims: kit.Holds(me),
		},
		kit.Row{
			ID: "flag/threads", Does: "Between threads somebody does: both find the flag down, and the record lock lets both in.",
			Report: both, Lock: within(lookAndSet, reset), In: kit.In(kit.Threads(2, 1)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "mutex/threads", Does: "A mutex around the record lock.",
			Report: "https://github.com/pex-tool/pex/pull/2070",
			Lock:   within(wait, mutex.Unlock), In: kit.In(kit.Threads(2, 1)), Claims: kit.Holds(me, scenarios.Deadlock),
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

// within is the lock behind something that keeps the threads of a process apart: enter reports
// whether one may go on.
func within(enter func(*scenarios.Task) bool, leave func(*scenarios.Task)) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if !enter(t) {
				return kit.Locked()
			}
			return protocol.Acquire(t)
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			err := protocol.Release(t, h)
			leave(t)
			return err
		},
	}
}

var (
	busy  = fsfake.Cell[bool]{Name: "busy"}
	mutex = kit.Mutex{Name: "mutex"}
)

func lookAndSet(t *scenarios.Task) bool {
	if busy.Load(t.Proc) {
		return false
	}
	busy.Store(t.Proc, true)
	return true
}

func reset(t *scenarios.Task) { busy.Store(t.Proc, false) }

func wait(t *scenarios.Task) bool {
	mutex.Lock(t)
	return true
}
