package flockfile

import (
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// cargo has a mix of versions of cargo, src/cargo/util/flock.rs: a new one locks .cargo-build-lock in the build
// directory, an old one, or an old cargo library, locks .cargo-lock
// (https://github.com/rust-lang/cargo/issues/16853).
func cargo() []scenarios.Scenario {
	sys := kit.System{Name: "cargo", Lock: cargoOlder, Report: "https://github.com/rust-lang/cargo/issues/16853",
		Source: kit.Part(files, "cargo")}
	return sys.Scenarios(
		kit.Row{ID: "two-names/contend", Does: "Two versions lock two names: no timing is needed.",
			In: kit.In(kit.Roles(scenarios.Once(cargoLocking(cargoOlder)),
				scenarios.Once(cargoLocking(cargoNewer)))),
			Claims: kit.Broken(scenarios.MutualExclusion), Watch: []string{cargoNewer}},
		kit.Row{ID: "both-names/contend", Does: "The new version locks both names, the old one first.",
			In: kit.In(kit.Roles(scenarios.Once(cargoLocking(cargoOlder)),
				scenarios.Once(cargoLocking(cargoOlder, cargoNewer)), scenarios.Once(cargoLocking(cargoOlder,
					cargoNewer)))),
			Claims: kit.Holds(scenarios.MutualExclusion), Watch: []string{cargoNewer}},
	)
}

const (
	cargoOlder = "/src/target/.cargo-lock"
	cargoNewer = "/src/target/.cargo-build-lock"
)

// cargoLocking takes the locks of several names, in order. What is protected is one build
// directory, so the lock has one name in histories.
func cargoLocking(names ...string) scenarios.Protocol {
	return scenarios.Protocol{
		Path: cargoOlder,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			var files []*fsfake.File
			for _, name := range names {
				f, err := kit.OpenFlock(t, name, os.O_RDWR, fsfake.LOCK_EX)
				if err != nil {
					return kit.Failed(err)
				}
				files = append(files, f)
			}
			return scenarios.Hold{File: files[0], Path: names[0], Data: files}, nil
		},
		Release: func(_ *scenarios.Task, h scenarios.Hold) error {
			var errs []error
			for _, f := range h.Data.([]*fsfake.File) {
				errs = append(errs, f.Flock(fsfake.LOCK_UN), f.Close())
			}
			return errors.Join(errs...)
		},
	}
}

// dpkg has dpkg's /var/lib/dpkg/lock, lib/dpkg/file.c (apt does the same): an fcntl lock on a file that is
// never removed. The kernel knows the owner.
func dpkg() []scenarios.Scenario {
	sys := kit.System{Name: "dpkg", Lock: dpkgLock,
		Report: "https://github.com/guillemj/dpkg/blob/main/lib/dpkg/file.c", Source: kit.Part(files, "dpkg")}
	return sys.Scenarios(kit.Row{ID: "fcntl-permanent/contend", Does: "A record lock on a file that is never removed.",
		Lock: dpkgProtocol, In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(scenarios.MutualExclusion)})
}

const dpkgLock = "/var/lib/dpkg/lock"

var dpkgProtocol = scenarios.Protocol{
	Path: dpkgLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(dpkgLock, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o640)
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

// lucene has the native lock of Apache Lucene's index, write.lock: an fcntl lock, behind a set of paths that
// this JVM has locked, as record locks do not exclude threads of one process. The file is created by a call of
// its own before the set is asked, and the close of that descriptor drops the lock that another thread may have
// taken meanwhile: no report of that is known. That removing the file cannot be made safe is said in
// https://issues.apache.org/jira/browse/LUCENE-5612.
func lucene() []scenarios.Scenario {
	sys := kit.System{Name: "lucene", Lock: luceneLock,
		Report: "https://github.com/apache/lucene/blob/main/lucene/core/src/java/org/apache/lucene/store/" +
			"NativeFSLockFactory.java", Source: kit.Part(files, "lucene")}
	return sys.Scenarios(
		kit.Row{ID: "native/tasks",
			Does: "A thread that creates the file closes it before the set of locked paths is asked: the close " +
				"drops another thread's lock.", Lock: luceneProtocol, In: kit.In(kit.Tasks(2, 1)),
			Claims: kit.Broken(scenarios.MutualExclusion)},
		kit.Row{ID: "native/existing",
			Does: "The same where the file is there already: the set keeps threads apart, the record lock processes.",
			Lock: luceneProtocol, In: kit.In(kit.Tasks(2, 1), kit.File(luceneLock, "")),
			Claims: kit.Holds(scenarios.MutualExclusion)},
	)
}

const luceneLock = "/index/write.lock"

// luceneHeld is LOCK_HELD: whether this JVM has the path in its set.
var luceneHeld = fsfake.Cell[bool]{Name: "LOCK_HELD"}

var luceneProtocol = scenarios.Protocol{
	Path: luceneLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		if err := kit.Create(t, luceneLock, ""); err != nil && !kit.Exists(err) {
			return kit.Failed(err)
		}
		if _, err := t.Stat(luceneLock); err != nil { // toRealPath and the creation time
			return kit.Failed(err)
		}
		if luceneHeld.Load(t.Proc) {
			return kit.Locked()
		}
		luceneHeld.Store(t.Proc, true) // one step with the look
		f, err := t.OpenFile(luceneLock, os.O_WRONLY|os.O_CREATE, 0o666)
		if err != nil {
			luceneHeld.Store(t.Proc, false)
			return kit.Failed(err)
		}
		if err := f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, false); err != nil {
			err = errors.Join(err, f.Close())
			luceneHeld.Store(t.Proc, false)
			return kit.Failed(err)
		}
		return kit.Held(f)
	},
	Release: func(t *scenarios.Task, h scenarios.Hold) error {
		err := errors.Join(h.File.FcntlLock(fsfake.RecordLock{Type: fsfake.F_UNLCK}, false), h.File.Close())
		luceneHeld.Store(t.Proc, false)
		return err
	},
}

// rocksdb has RocksDB's LOCK file: an fcntl lock, and a set of the paths that this process has locked. That a
// second open in one process drops the lock is reported in https://github.com/facebook/rocksdb/issues/1780 and
// fixed in https://github.com/facebook/rocksdb/pull/3993.
func rocksdb() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "rocksdb", Lock: rocksdbLock, Report: "https://github.com/facebook/rocksdb/issues/1780",
		Source: kit.Part(files, "rocksdb")}
	return sys.Scenarios(
		kit.Row{ID: "open-then-table/tasks",
			Does: "A second thread opens the file, finds the path in the set, and closes: the kernel drops the " +
				"lock of the first.", Lock: rocksdbProtocol(false), In: kit.In(kit.Tasks(2, 1)),
			Claims: kit.Broken(me)},
		kit.Row{ID: "table-then-open/tasks", Does: "The set is asked before the file is opened.",
			Report: "https://github.com/facebook/rocksdb/pull/3993", Lock: rocksdbProtocol(true),
			In: kit.In(kit.Tasks(2, 1)), Claims: kit.Holds(me)},
	)
}

const rocksdbLock = "/db/LOCK"

// rocksdbTable is lockedFiles: whether this process has locked the path. The mutex is held for
// as long as a file is locked or unlocked.
var (
	rocksdbTable = fsfake.Cell[bool]{Name: "lockedFiles"}
	rocksdbMutex = kit.Mutex{Name: "mutex_lockedFiles"}
)

func rocksdbProtocol(tableFirst bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: rocksdbLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			rocksdbMutex.Lock(t)
			f, err := rocksdbAcquire(t, tableFirst)
			if err == nil {
				rocksdbTable.Store(t.Proc, true)
			}
			rocksdbMutex.Unlock(t)
			return scenarios.Hold{File: f}, err
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			rocksdbMutex.Lock(t)
			rocksdbTable.Store(t.Proc, false)
			err := errors.Join(h.File.FcntlLock(fsfake.RecordLock{Type: fsfake.F_UNLCK}, false), h.File.Close())
			rocksdbMutex.Unlock(t)
			return err
		},
	}
}

func rocksdbAcquire(t *scenarios.Task, tableFirst bool) (*fsfake.File, error) {
	if tableFirst && rocksdbTable.Load(t.Proc) {
		return nil, scenarios.ErrLocked
	}
	f, err := t.OpenFile(rocksdbLock, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	if !tableFirst && rocksdbTable.Load(t.Proc) || f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, false) != nil {
		return nil, errors.Join(scenarios.ErrLocked, f.Close())
	}
	return f, nil
}
