// Package rocksdb holds RocksDB's LOCK file: an fcntl lock, and a set of the paths that
// this process has locked. That a second open in one process drops the lock is reported in
// https://github.com/facebook/rocksdb/issues/1780 and repaired in
// https://github.com/facebook/rocksdb/pull/3993.
package rocksdb

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

const lock = "/db/LOCK"

// Scenarios lists the lock as reported, and as repaired.
func Scenarios() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "rocksdb", Lock: lock, Report: "https://github.com/facebook/rocksdb/issues/1780", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "open-then-table/tasks", Does: "A second thread opens the file, finds the path in the set, and closes: the kernel drops the lock of the first.",
			Lock: protocol(false), In: kit.In(kit.Tasks(2, 1)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "table-then-open/tasks", Does: "The set is asked before the file is opened.",
			Report: "https://github.com/facebook/rocksdb/pull/3993",
			Lock:   protocol(true), In: kit.In(kit.Tasks(2, 1)), Claims: kit.Holds(me),
		},
	)
}

// table is lockedFiles: whether this process has locked the path. The mutex is held for
// as long as a file is locked or unlocked.
var (
	table = fsfake.Cell[bool]{Name: "lockedFiles"}
	mutex = kit.Mutex{Name: "mutex_lockedFiles"}
)

func protocol(tableFirst bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			mutex.Lock(t)
			f, err := acquire(t, tableFirst)
			if err == nil {
				table.Store(t.Proc, true)
			}
			mutex.Unlock(t)
			return scenarios.Hold{File: f}, err
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			mutex.Lock(t)
			table.Store(t.Proc, false)
			err := errors.Join(h.File.FcntlLock(fsfake.RecordLock{Type: fsfake.F_UNLCK}, false), h.File.Close())
			mutex.Unlock(t)
			return err
		},
	}
}

func acquire(t *scenarios.Task, tableFirst bool) (*fsfake.File, error) {
	if tableFirst && table.Load(t.Proc) {
		return nil, scenarios.ErrLocked
	}
	f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if !tableFirst && table.Load(t.Proc) || f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, false) != nil {
		return nil, errors.Join(scenarios.ErrLocked, f.Close())
	}
	return f, nil
}
