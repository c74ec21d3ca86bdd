package kernelfile

import (
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// The locks of this file are kernel locks on files that stay. They were written down from their sources;
// nobody has reported what a row shows.

// chef is the run lock of chef-client (Ruby): asked for without waiting, and then waited for.
func chef() []scenarios.Scenario {
	const lock = "/var/chef/cache/chef-client-running.pid"
	sys := kit.System{Name: "chef", Lock: lock, Source: kit.Part(files, "chef"),
		Report: kit.At("chef/chef", "00a2baf69a299b5112c40dc069cbcea08ba57146",
			"lib/chef/run_lock.rb")}
	return sys.Scenarios(kit.Row{
		ID: "keep-file/contend", Does: "An flock on a file that stays, with the owner's pid written after it is " +
			"locked.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o666)
				if err != nil {
					return kit.Failed(err)
				}
				if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) != nil {
					_, _ = kit.ReadFrom(f) // the owner, for the log
					_ = f.Flock(fsfake.LOCK_EX)
				}
				_ = f.Truncate(0)
				_, err = f.WriteString(kit.Me(t))
				return scenarios.Hold{File: f}, err
			},
			Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
		},
		In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(scenarios.MutualExclusion),
	})
}

// containersStorage is the lock file of containers/storage (Go: podman, buildah, cri-o): a record lock, one
// object for a path in a process, and a first open and close that asks whether the file can be had.
func containersStorage() []scenarios.Scenario {
	const lock, link = "/var/lib/containers/storage/storage.lock", "/var/lib/storage.lock"
	sys := kit.System{Name: "containers-storage", Lock: lock, Source: kit.Part(files, "containersStorage"),
		Report: kit.At("containers/storage", "16de6d32b4f82fa6c4a5456450fb95de65e794a6",
			"pkg/lockfile/lockfile_unix.go")}
	l := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o644)
			if err != nil {
				return kit.Failed(err)
			}
			return scenarios.Hold{File: f}, f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, true)
		},
		Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
	}
	secondName := func(t *scenarios.Task) {
		_ = scenarios.Locked(t, l, func() {
			if f, err := t.OpenFile(link, os.O_RDWR|os.O_CREATE, 0o644); err == nil {
				_ = f.Close()
			}
			t.Work()
		})
	}
	second := kit.Prepared(func(p *fsfake.Proc) error { return p.Symlink(lock, link) })
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "record-lock/contend", Does: "A record lock on a file that stays: one process holds it.", Lock: l,
			In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(me)},
		kit.Row{ID: "record-lock/second-name", Lock: l, Claims: kit.Broken(me),
			In:   kit.In(kit.Roles(secondName, scenarios.Once(l)), second),
			Does: "The holder opens and closes the file by a second name: the close drops the record lock."},
	)
}

// firefox is the lock of a profile (C++, nsProfileLock): a record lock on one name, and under it a symbolic
// link for older versions, which whoever has the record lock may remove.
func firefox() []scenarios.Scenario {
	const lock, link = "/home/user/.mozilla/firefox/x.default/.parentlock", "/home/user/.mozilla/firefox/x.default/lock"
	sys := kit.System{Name: "firefox", Lock: lock, Source: kit.Part(files, "firefox"),
		Report: kit.At("mozilla/gecko-dev", "43a0ca9ff0f64d785b9c6c8d8971f54d430e97dd",
			"toolkit/profile/nsProfileLock.cpp")}
	protocol := func(record bool) scenarios.Protocol {
		return scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				f, err := t.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
				if err != nil {
					return kit.Failed(err)
				}
				if record && f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, false) != nil {
					_ = f.Close()
					return kit.Locked()
				}
				for retry := t.Retry(); retry.Next(); {
					err := t.Symlink(kit.Me(t), link)
					if !kit.Exists(err) {
						return scenarios.Hold{File: f}, err
					}
					if owner, err := t.Readlink(link); !record && err == nil && !kit.Gone(t, kit.PidIn(owner)) {
						_ = f.Close()
						return kit.Locked()
					}
					_ = t.Unlink(link)
				}
				panic("unreachable")
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				err := t.Unlink(link)
				_ = h.File.Close()
				return err
			},
		}
	}
	dead := kit.Prepared(func(p *fsfake.Proc) error { return p.Symlink(kit.Dead, link) })
	me, watch := scenarios.MutualExclusion, []string{link}
	return sys.Scenarios(
		kit.Row{ID: "record-and-symlink/dead-owner",
			Does: "A dead owner's link is removed by who has the record lock.", Lock: protocol(true),
			In: kit.In(kit.Contend(3), dead), Alike: true, Claims: kit.Holds(me), Watch: watch},
		kit.Row{ID: "symlink/dead-owner",
			Does: "Where record locks are not to be had, the link alone: it is removed by its name.",
			Lock: protocol(false), In: kit.In(kit.Contend(2), dead), Alike: true, Claims: kit.Broken(me),
			Watch: watch},
	)
}

// mongod keeps its lock file (C++): "this ought to be an unlink(), but […] there was a race condition", says the
// comment, and the file is emptied.
func mongod() []scenarios.Scenario {
	const lock = "/var/lib/mongodb/mongod.lock"
	sys := kit.System{Name: "mongod", Lock: lock, Source: kit.Part(files, "mongod"),
		Report: kit.At("mongodb/mongo", "0f7625b5cdbc24ed0fce1e168059118cb025d869",
			"src/mongo/db/storage/storage_engine_lock_file_posix.cpp")}
	return sys.Scenarios(kit.Row{
		ID: "keep-file/contend", Does: "An flock on a file that is emptied, and stays.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_EX|fsfake.LOCK_NB)
				if err != nil {
					return kit.Failed(err)
				}
				_, err = f.WriteString(kit.Me(t))
				return scenarios.Hold{File: f}, err
			},
			Release: func(_ *scenarios.Task, h scenarios.Hold) error { _ = h.File.Truncate(0); return h.File.Close() },
		},
		In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(scenarios.MutualExclusion),
	})
}

// bbolt is the lock of a database file (Go; etcd, Consul): asked for again and again, of the file itself.
func bbolt() []scenarios.Scenario {
	const lock = "/var/lib/etcd/member/snap/db"
	sys := kit.System{Name: "bbolt", Lock: lock, Source: kit.Part(files, "bbolt"),
		Report: kit.At("etcd-io/bbolt", "3a49aacce1fe2ebf813046c7a25589988af6c37d", "bolt_unix.go")}
	return sys.Scenarios(kit.Row{
		ID: "keep-file/contend", Does: "An flock on the database itself, which stays: one process opens it.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o600)
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
			Release: func(_ *scenarios.Task, h scenarios.Hold) error {
				_ = h.File.Flock(fsfake.LOCK_UN)
				return h.File.Close()
			},
		},
		In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(scenarios.MutualExclusion),
	})
}
