package flockfile

import (
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// bundler has Bundler's ProcessLock, lib/bundler/process_lock.rb in ruby/rubygems at 07d81161: one bundle
// install at a time, by flock(2) on a file that is removed after it was unlocked. No report is known.
func bundler() []scenarios.Scenario {
	sys := kit.System{Name: "bundler", Lock: bundlerLock,
		Report: "https://github.com/ruby/rubygems/blob/07d81161/lib/bundler/process_lock.rb",
		Source: kit.Part(files, "bundler")}
	ask := kit.Ask(bundlerProtocol, func(t *scenarios.Task) int {
		text, _ := kit.ReadAll(t, bundlerLock)
		return kit.PidIn(text)
	})
	return sys.Scenarios(
		kit.Row{ID: "process-lock/contend",
			Does: "The file is removed after it was unlocked: somebody else may hold it by then.",
			Lock: bundlerProtocol, In: kit.In(kit.Contend(3)), Claims: kit.Broken(scenarios.MutualExclusion)},
		kit.Row{ID: "process-lock/ask", Does: "Whoever tries the lock empties the file that names the holder.",
			Lock: bundlerProtocol, In: kit.In(kit.Roles(ask, scenarios.Once(bundlerProtocol))),
			Claims: kit.Broken(scenarios.OwnerInfo)},
	)
}

const bundlerLock = "/srv/bundle/bundler.lock"

var bundlerProtocol = scenarios.Protocol{
	Path: bundlerLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		f, err := t.OpenFile(bundlerLock, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
		if err != nil {
			return kit.Failed(err)
		}
		for retry := t.Retry(); retry.Next(); { // for 5 s in the original
			if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
				break
			}
			t.Sleep(kit.Poll)
		}
		_, err = f.WriteString(kit.Me(t))
		return scenarios.Hold{File: f}, err
	},
	Release: func(t *scenarios.Task, h scenarios.Hold) error {
		return errors.Join(h.File.Flock(fsfake.LOCK_UN), h.File.Close(), t.Unlink(bundlerLock))
	},
}

// jib has the locks of GoogleContainerTools/jib (Java), LockFile.java: a mutex for each path in the JVM, and an
// fcntl lock between JVMs (https://github.com/GoogleContainerTools/jib/issues/1695).
func jib() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "jib", Lock: jibLock, Report: "https://github.com/GoogleContainerTools/jib/issues/1695",
		Source: kit.Part(files, "jib")}
	return sys.Scenarios(
		kit.Row{ID: "delete-after-unlock/tasks",
			Does: "The file is removed after the mutex was given back: another thread of the process may have " +
				"locked it by then.", Lock: jibProtocol(true), In: kit.In(kit.Tasks(2, 1)), Claims: kit.Broken(me)},
		kit.Row{ID: "keep-file/tasks", Does: "The file is never removed.", Lock: jibProtocol(false),
			In: kit.In(kit.Tasks(2, 1)), Claims: kit.Holds(me)},
	)
}

const jibLock = "/home/user/.cache/jib/lock"

// jibMutex is the path's mutex in this JVM.
var jibMutex = kit.Mutex{Name: "mutex"}

func jibProtocol(remove bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: jibLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			jibMutex.Lock(t)
			f, err := t.OpenFile(jibLock, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
			if err != nil {
				return kit.Failed(err)
			}
			return scenarios.Hold{File: f}, f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, true)
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			err := errors.Join(h.File.FcntlLock(fsfake.RecordLock{Type: fsfake.F_UNLCK}, false), h.File.Close())
			jibMutex.Unlock(t)
			if remove {
				err = errors.Join(err, t.Unlink(jibLock))
			}
			return err
		},
	}
}

// lockgate has werf/lockgate (Go): a directory of flock files, and a collector of those that nobody has locked
// (https://github.com/werf/lockgate/pull/48; the same collector in
// https://github.com/eProsima/Fast-DDS/pull/5319).
func lockgate() []scenarios.Scenario {
	sys := kit.System{Name: "lockgate", Lock: lockgateLock, Report: "https://github.com/werf/lockgate/pull/48",
		Source: kit.Part(files, "lockgate")}
	row := func(id, does string, check bool, claims []scenarios.Claim) kit.Row {
		l := lockgateProtocol(check)
		return kit.Row{ID: id, Does: does, Lock: l, Claims: claims,
			In: kit.In(kit.Roles(scenarios.Once(l), lockgateCollect, scenarios.Once(l)), kit.File(lockgateLock, ""))}
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		row("gc-trylock-unlink/contend", "The collector holds the lock when it unlinks the file; who has opened it "+
			"before locks what has no name.", false, kit.Broken(me)),
		row("gc-nlink-check/contend", "Who has locked the file looks whether it still has a name.", true,
			kit.Holds(me)),
	)
}

const lockgateLock = "/home/user/.werf/locks/app"

func lockgateProtocol(check bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lockgateLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := t.OpenFile(lockgateLock, os.O_RDWR|os.O_CREATE, 0o644)
				if err != nil {
					return kit.Failed(err)
				}
				for again := t.Retry(); again.Next(); {
					if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
						break
					}
					t.Sleep(kit.Poll)
				}
				if !check || kit.Linked(f) {
					return kit.Held(f)
				}
				_ = f.Close()
			}
			panic("unreachable")
		},
		Release: func(_ *scenarios.Task, h scenarios.Hold) error {
			return errors.Join(h.File.Flock(fsfake.LOCK_UN), h.File.Close())
		},
	}
}

// lockgateCollect removes the file if nobody has locked it.
func lockgateCollect(t *scenarios.Task) {
	f, err := t.OpenFile(lockgateLock, os.O_RDWR, 0)
	if err != nil {
		return
	}
	if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
		_ = t.Unlink(lockgateLock)
	}
	_ = f.Close()
}

// rubygems has Gem.open_file_with_lock, with which RubyGems installs an executable's script
// (https://github.com/ruby/rubygems/pull/7806). Users complained of the files left
// (https://github.com/ruby/rubygems/issues/7997), and the fix broke the lock. Which release has which
// variant is uncertain.
func rubygems() []scenarios.Scenario {
	sys := kit.System{Name: "rubygems", Lock: rubygemsLock, Report: "https://github.com/ruby/rubygems/pull/7806",
		Source: kit.Part(files, "rubygems")}
	return sys.Scenarios(
		kit.Row{ID: "keep-file/contend", Does: "A kernel lock on a file that is never removed.",
			Lock: rubygemsProtocol(false), In: kit.In(kit.Contend(3)), Alike: true,
			Claims: kit.Holds(scenarios.MutualExclusion)},
		kit.Row{ID: "cleanup-after-close/contend",
			Does:   "The file is removed after it was closed: somebody else may hold it by then.",
			Report: "https://github.com/ruby/rubygems/issues/7997", Lock: rubygemsProtocol(true),
			In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion)},
	)
}

const rubygemsLock = "/usr/local/bin/rake.lock"

func rubygemsProtocol(cleanUp bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: rubygemsLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := kit.OpenFlock(t, rubygemsLock, os.O_RDWR|os.O_APPEND, fsfake.LOCK_EX)
			return scenarios.Hold{File: f}, err
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			err := h.File.Close()
			if cleanUp {
				err = errors.Join(err, t.Unlink(rubygemsLock))
			}
			return err
		},
	}
}

// simple has derpston/python-simpleflock, a context manager around flock(2).
//
// The report, https://github.com/derpston/python-simpleflock/issues/2, proposes to delete the file before it is
// unlocked. That is broken too: with two processes the waiter already holds a lock that is not at its name.
func simple() []scenarios.Scenario {
	sys := kit.System{Name: "simpleflock", Lock: simpleLock,
		Report: "https://github.com/derpston/python-simpleflock/issues/2", Source: kit.Part(files, "simple")}
	return sys.Scenarios(
		kit.Row{ID: "unlink-after-unlock/pair",
			Does: "The file is removed after it was unlocked: by then it may be somebody else's.",
			Lock: simpleProtocol(false), In: kit.In(kit.Contend(2)), Alike: true,
			Claims: kit.Broken(scenarios.ForeignRelease)},
		kit.Row{ID: "unlink-before-unlock/contend",
			Does: "The proposed fix: the file is removed while it is locked, and a waiter locks what has no name " +
				"any more.", Lock: simpleProtocol(true), In: kit.In(kit.Contend(3)), Alike: true,
			Claims: kit.Broken(scenarios.MutualExclusion)},
	)
}

const simpleLock = "/tmp/app.lock"

func simpleProtocol(unlinkFirst bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: simpleLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile(simpleLock, os.O_RDONLY|os.O_CREATE, 0o666)
			if err != nil {
				return kit.Failed(err)
			}
			for retry := t.Retry(); retry.Next(); {
				if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
					return kit.Held(f)
				}
				t.Sleep(kit.Poll)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			if unlinkFirst {
				return errors.Join(t.Unlink(simpleLock), h.File.Flock(fsfake.LOCK_UN), h.File.Close())
			}
			return errors.Join(h.File.Flock(fsfake.LOCK_UN), h.File.Close(), t.Unlink(simpleLock))
		},
	}
}
