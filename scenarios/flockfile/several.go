package flockfile

import (
	"errors"
	"os"
	"slices"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// conda has how conda-build locks several directories at once
// (https://github.com/conda/conda-build/issues/1524): one after the other, and all or none
// (https://github.com/conda/conda-build/pull/1540). Its locks have timeouts; here waiting is blocking.
func conda() []scenarios.Scenario {
	sys := kit.System{Name: "conda-build", Lock: condaFirst,
		Report: "https://github.com/conda/conda-build/issues/1524", Source: kit.Part(files, "conda")}
	both := func(l func(names ...string) scenarios.Protocol) []kit.Situation {
		return kit.In(kit.Roles(scenarios.Once(l(condaFirst, condaSecond)), scenarios.Once(l(condaSecond, condaFirst))))
	}
	other := []string{condaSecond}
	return sys.Scenarios(
		kit.Row{ID: "each-blocking/contend", Does: "Two processes take two locks in two orders.",
			In: both(condaEachBlocking), Claims: kit.Broken(scenarios.Deadlock), Watch: other},
		kit.Row{ID: "in-one-order/contend", Does: "Both take them in one order.",
			In: kit.In(kit.Roles(scenarios.Once(condaEachBlocking(condaFirst, condaSecond)),
				scenarios.Once(condaEachBlocking(condaFirst, condaSecond)))),
			Claims: kit.Holds(scenarios.Deadlock), Watch: other},
		kit.Row{ID: "all-or-release/starve",
			Does:   "Who is refused a further lock releases all and starts over: no deadlock, and no end either.",
			Report: "https://github.com/conda/conda-build/pull/1540", In: both(condaAllOrRelease),
			Claims: append(kit.Broken(scenarios.Starvation), kit.Holds(scenarios.Deadlock)...), Watch: other},
	)
}

const (
	condaFirst  = "/conda/pkgs/.lock"
	condaSecond = "/conda/bld/.lock"
)

func condaLocking(acquire func(t *scenarios.Task) []*fsfake.File) scenarios.Protocol {
	return scenarios.Protocol{
		Path: condaFirst,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			files := acquire(t)
			return scenarios.Hold{File: files[0], Data: files}, nil
		},
		Release: func(_ *scenarios.Task, h scenarios.Hold) error { return condaCloseAll(h.Data.([]*fsfake.File)) },
	}
}

func condaCloseAll(files []*fsfake.File) error {
	var errs []error
	for _, f := range files {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

func condaEachBlocking(names ...string) scenarios.Protocol {
	return condaLocking(func(t *scenarios.Task) []*fsfake.File {
		var files []*fsfake.File
		for _, name := range names {
			f, err := kit.OpenFlock(t, name, os.O_RDWR, fsfake.LOCK_EX)
			if err == nil {
				files = append(files, f)
			}
		}
		return files
	})
}

func condaAllOrRelease(names ...string) scenarios.Protocol {
	return condaLocking(func(t *scenarios.Task) []*fsfake.File {
		for retry := t.Retry(); retry.Next(); {
			var files []*fsfake.File
			for i, name := range names {
				how := fsfake.LOCK_EX
				if i > 0 {
					how |= fsfake.LOCK_NB
				}
				if f, err := kit.OpenFlock(t, name, os.O_RDWR, how); err == nil {
					files = append(files, f)
				} else {
					break
				}
			}
			if len(files) == len(names) {
				return files
			}
			for _, f := range slices.Backward(files) {
				_ = f.Close()
			}
			t.Sleep(kit.Poll)
		}
		panic("unreachable")
	})
}

// fasteners has InterProcessLock of harlowja/fasteners (Python, OpenStack): an fcntl lock on a file that stays.
// The documentation asks for one object per process; https://github.com/transparency-dev/tessera/pull/973
// reports the same trap elsewhere, and https://github.com/harlowja/fasteners/issues/93 asks for a lock that
// keeps threads apart as well: pex-tool/pex has one (https://github.com/pex-tool/pex/pull/2070), a mutex around
// the file's lock.
func fasteners() []scenarios.Scenario {
	me, both := scenarios.MutualExclusion, "https://github.com/harlowja/fasteners/issues/93"
	sys := kit.System{Name: "fasteners", Lock: fastenersLock, Report: "https://github.com/harlowja/fasteners",
		Source: kit.Part(files, "fasteners")}
	return sys.Scenarios(
		kit.Row{ID: "lockf/tasks", Does: "A record lock does not exclude the threads of one process.",
			Lock: fastenersProtocol, In: kit.In(kit.Tasks(2)), Claims: kit.Broken(me)},
		kit.Row{ID: "lockf/contend", Does: "The same between processes.", Lock: fastenersProtocol,
			In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(me)},
		kit.Row{ID: "flag/tasks",
			Does: "The process looks at a flag of its own, sets it, and takes the record lock: on an event loop " +
				"nobody comes between.", Report: both, Lock: fastenersWithin(fastenersLookAndSet, fastenersReset),
			In: kit.In(kit.Tasks(2, 1)), Claims: kit.Holds(me)},
		kit.Row{ID: "flag/threads",
			Does:   "Between threads somebody does: both find the flag down, and the record lock lets both in.",
			Report: both, Lock: fastenersWithin(fastenersLookAndSet, fastenersReset), In: kit.In(kit.Threads(2, 1)),
			Claims: kit.Broken(me)},
		kit.Row{ID: "mutex/threads", Does: "A mutex around the record lock.",
			Report: "https://github.com/pex-tool/pex/pull/2070",
			Lock:   fastenersWithin(fastenersWait, fastenersMutex.Unlock), In: kit.In(kit.Threads(2, 1)),
			Claims: kit.Holds(me, scenarios.Deadlock)},
	)
}

const fastenersLock = "/var/lock/nova.lock"

var fastenersProtocol = scenarios.Protocol{
	Path: fastenersLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(fastenersLock, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o666)
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

// fastenersWithin is the lock behind something that keeps the threads of a process apart: enter reports
// whether one may go on.
func fastenersWithin(enter func(*scenarios.Task) bool, leave func(*scenarios.Task)) scenarios.Protocol {
	return scenarios.Protocol{
		Path: fastenersLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if !enter(t) {
				return kit.Locked()
			}
			return fastenersProtocol.Acquire(t)
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			err := fastenersProtocol.Release(t, h)
			leave(t)
			return err
		},
	}
}

var (
	fastenersBusy  = fsfake.Cell[bool]{Name: "busy"}
	fastenersMutex = kit.Mutex{Name: "mutex"}
)

func fastenersLookAndSet(t *scenarios.Task) bool {
	if fastenersBusy.Load(t.Proc) {
		return false
	}
	fastenersBusy.Store(t.Proc, true)
	return true
}

func fastenersReset(t *scenarios.Task) { fastenersBusy.Store(t.Proc, false) }

func fastenersWait(t *scenarios.Task) bool {
	fastenersMutex.Lock(t)
	return true
}
