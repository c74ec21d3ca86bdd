package kernelfile

import (
	"errors"
	"os"
	"strconv"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// The locks of this file are kernel locks whose file is removed, or replaced, and that nobody compares
// with the name. They were written down from their sources; nobody has reported what a row shows.

// prometheus is DirLocker of the time series database (Go): the file is removed after it is unlocked.
func prometheus() []scenarios.Scenario {
	const lock = "/prometheus/lock"
	sys := kit.System{Name: "prometheus", Lock: lock, Source: kit.Part(files, "prometheus"),
		Report: kit.At("prometheus/prometheus", "061e49402e3cb10c20af3c9acc8490bfb3eded95",
			"tsdb/tsdbutil/dir_locker.go")}
	return sys.Scenarios(kit.Row{
		ID:   "remove-after-close/contend",
		Does: "A second one locks the file before it loses its name, and a third one locks a new file.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				_, _ = t.Stat(lock) // for a gauge
				f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_EX|fsfake.LOCK_NB)
				return scenarios.Hold{File: f}, err
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				return errors.Join(h.File.Close(),
					t.Remove(lock))
			},
		},
		In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion),
	})
}

// terraform is the local state file (Go, statemgr.Filesystem): it is the lock file as well, and whoever
// created it and wrote nothing removes it when it has been unlocked.
func terraform() []scenarios.Scenario {
	const lock, info = "/home/user/infra/terraform.tfstate", "/home/user/infra/.terraform.tfstate.lock.info"
	sys := kit.System{Name: "terraform", Lock: lock, Source: kit.Part(files, "terraform"),
		Report: kit.At("hashicorp/terraform", "0558a390c9dac17425a3a2c2babe6af16e5a6521",
			"internal/states/statemgr/filesystem.go")}
	return sys.Scenarios(kit.Row{
		ID:   "remove-empty/contend",
		Does: "An empty state is removed by its name after it is unlocked: another has locked it.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				_, missing := t.Stat(lock)
				f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o666)
				if err != nil {
					return kit.Failed(err)
				}
				if f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, false) != nil {
					return kit.Failed(errors.Join(scenarios.ErrLocked, f.Close()))
				}
				return scenarios.Hold{File: f, Data: missing != nil}, kit.Replace(t, info, t.Process)
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				err := errors.Join(t.Remove(info), h.File.Close())
				if at, missing := t.Stat(lock); missing == nil && at.Size() == 0 && h.Data.(bool) {
					_ = t.Remove(lock)
				}
				return err
			},
		},
		In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion), Watch: []string{info},
	})
}

// vagrant is MachineIndex (Ruby): a machine's lock is taken while the index is locked, and let go while
// it is not.
func vagrant() []scenarios.Scenario {
	const dir = "/home/user/.vagrant.d/data/machine-index"
	const index, lock = dir + "/index.lock", dir + "/1f2e.lock"
	sys := kit.System{Name: "vagrant", Lock: lock, Source: kit.Part(files, "vagrant"),
		Report: kit.At("hashicorp/vagrant", "0b775f6e7678b8b886f7bed5dca1373a789e6d17",
			"lib/vagrant/machine_index.rb")}
	return sys.Scenarios(kit.Row{
		ID:   "delete-unguarded/contend",
		Does: "A machine's file is deleted by its name, after it is unlocked and without the index's lock.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				guard, err := kit.OpenFlock(t, index, os.O_RDWR|os.O_TRUNC, fsfake.LOCK_EX)
				if err != nil {
					return kit.Failed(err)
				}
				f, err := kit.OpenFlock(t, lock, os.O_RDWR|os.O_TRUNC, fsfake.LOCK_EX|fsfake.LOCK_NB)
				return scenarios.Hold{File: f}, errors.Join(err, guard.Close())
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				return errors.Join(h.File.Close(),
					t.Remove(lock))
			},
		},
		In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion), Watch: []string{index},
	})
}

// redis is the lock of a cluster node on its nodes.conf (C): "this works because we always update nodes.conf
// with a new version in-place", says the comment, and the function above it renames a new file over it.
func redis() []scenarios.Scenario {
	const lock = "/var/lib/redis/nodes.conf"
	sys := kit.System{Name: "redis-cluster", Lock: lock, Source: kit.Part(files, "redis"),
		Report: kit.At("redis/redis", "2cb20faf9f34ade33779245751713059090f47b2", "src/cluster_legacy.c")}
	// The file has the id of its node, for which the pid stands.
	inPlace := func(t *scenarios.Task) { _ = kit.Replace(t, lock, strconv.Itoa(t.Getpid())) }
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		lockedState(lock, "rename-over/contend", "The node renames a new file over the locked one: a second node "+
			"locks that.",
			renamed(lock), kit.Broken(me)),
		lockedState(lock, "in-place/contend", "The file is written in place, as it was before, and stays locked.",
			inPlace, kit.Holds(me)),
	)
}

// logrotate locks its state file (C), and renames a new one over it in the end.
func logrotate() []scenarios.Scenario {
	const lock = "/var/lib/logrotate/status"
	sys := kit.System{Name: "logrotate", Lock: lock, Source: kit.Part(files, "logrotate"),
		Report: kit.At("logrotate/logrotate", "d07aa9d115440be64d6124e2b923195f9a3df771", "logrotate.c")}
	return sys.Scenarios(lockedState(lock, "rename-over/contend",
		"A new state is renamed over the locked one: the next run locks that.",
		renamed(lock), kit.Broken(scenarios.MutualExclusion)))
}

// lockedState is three processes that lock a state file without waiting, and save a new state.
func lockedState(lock, id, does string, save func(t *scenarios.Task), claims []scenarios.Claim) kit.Row {
	l := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := kit.OpenFlock(t, lock, os.O_WRONLY, fsfake.LOCK_EX|fsfake.LOCK_NB)
			return scenarios.Hold{File: f}, err
		},
		Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
	}
	run := func(t *scenarios.Task) { _ = scenarios.Locked(t, l, func() { save(t) }) }
	three := kit.Run(3, func(scenarios.Protocol) scenarios.Program { return run })
	return kit.Row{ID: id, Does: does, Lock: l, In: kit.In(three), Alike: true, Claims: claims}
}

// renamed saves a state as a private file that is renamed over the old one.
func renamed(name string) func(t *scenarios.Task) {
	return func(t *scenarios.Task) {
		temp, _ := kit.Private(t, name+".tmp", t.Process)
		_ = t.Rename(temp, name)
	}
}

// dnf is the process lock of dnf (Python): an flock while the pid in the file is judged and written, and
// the file is unlinked without it.
func dnf() []scenarios.Scenario {
	const lock = "/var/cache/dnf/metadata_lock.pid"
	sys := kit.System{Name: "dnf", Lock: lock, Source: kit.Part(files, "dnf"),
		Report: kit.At("rpm-software-management/dnf", "082ad28d270747ab1da4cae5b23e0bb38909e252",
			"dnf/lock.py")}
	try := func(t *scenarios.Task) bool {
		f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_EX|fsfake.LOCK_NB)
		if err != nil {
			return false
		}
		text, _ := kit.ReadFrom(f)
		pid := kit.PidIn(text)
		mine := text == "" || pid == t.Getpid()
		if text != "" && !mine && kit.Gone(t, pid) { // asked of the entry in /proc
			_, _ = f.Seek(0, 0)
			_ = f.Truncate(0)
			mine, text = true, ""
		}
		if text == "" {
			_, _ = f.WriteString(kit.Me(t))
		}
		_ = f.Close()
		return mine
	}
	l := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				if try(t) {
					return scenarios.Hold{}, nil
				}
				t.Sleep(kit.Poll)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "judge-under-flock/contend", Lock: l, In: kit.In(kit.Contend(3)), Alike: true,
			Claims: kit.Broken(me),
			Does: "The old file, unlinked, names a process that has ended: whoever has it open writes its own pid " +
				"into it."},
		kit.Row{ID: "judge-under-flock/daemons", Lock: l, In: kit.In(kit.Contend(3), kit.Daemons), Alike: true,
			Claims: kit.Holds(me),
			Does:   "The same among processes that go on afterwards: the old file names a living one."},
	)
}

// jdkFileHandler is the lock file of java.util.logging (Java): closed, and then deleted by its name.
func jdkFileHandler() []scenarios.Scenario {
	const lock = "/home/user/java0.log.lck"
	sys := kit.System{Name: "jdk-file-handler", Lock: lock, Source: kit.Part(files, "jdkFileHandler"),
		Report: kit.At("openjdk/jdk", "045d725f355affafa0431d0b3ab21a4f3508a269",
			"src/java.logging/share/classes/java/util/logging/FileHandler.java")}
	return sys.Scenarios(kit.Row{
		ID:   "delete-after-close/contend",
		Does: "A file that is there is reused, and deleted by its name after it is unlocked: another has locked it.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				f, err := t.OpenFile(lock, kit.Excl, 0o666)
				if kit.Exists(err) {
					f, err = t.OpenFile(lock, os.O_WRONLY|os.O_APPEND, 0)
				}
				if err != nil || f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, false) != nil {
					return kit.Failed(errors.Join(scenarios.ErrLocked, f.Close())) // the next name is tried
				}
				return kit.Held(f)
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				return errors.Join(h.File.Close(),
					t.Remove(lock))
			},
		},
		In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion),
	})
}

// go4 is lock.Lock of go4.org (Go; Perkeep, kubo): emptied when it is opened, and removed by its holder, which
// nobody looks for.
func go4() []scenarios.Scenario {
	const lock = "/home/user/.ipfs/repo.lock"
	sys := kit.System{Name: "go4-lock", Lock: lock, Source: kit.Part(files, "go4"),
		Report: kit.At("go4org/go4", "0a3308a2d2d050bf533d7120fa5df8e2dfdf1717", "lock/lock.go")}
	return sys.Scenarios(kit.Row{
		ID:   "remove-held/contend",
		Does: "Whoever opened the file before its holder removed it locks a file without a name.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				if info, err := t.Stat(lock); err == nil && info.Size() > 0 {
					return kit.Locked()
				}
				f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
				if err != nil {
					return kit.Failed(err)
				}
				if f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, false) != nil {
					return kit.Failed(errors.Join(scenarios.ErrLocked, f.Close()))
				}
				return kit.Held(f)
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				_ = t.Remove(lock)
				return h.File.Close()
			},
		},
		In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion),
	})
}

// keybase is the pid file of the Keybase service (Go, LockPIDFile): closed, and then removed by its name.
func keybase() []scenarios.Scenario {
	const lock = "/run/user/1000/keybase/keybased.pid"
	sys := kit.System{Name: "keybase", Lock: lock, Source: kit.Part(files, "keybase"),
		Report: kit.At("keybase/client", "0b3f75661c5dd7c785949a6298a60f399d2311eb", "go/libkb/flock_nix.go")}
	return sys.Scenarios(kit.Row{
		ID:   "remove-after-close/contend",
		Does: "A second service locks the file before it loses its name, and a third one locks a new file.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_EX|fsfake.LOCK_NB)
				if err != nil {
					return kit.Failed(err)
				}
				_, err = f.WriteString(kit.Me(t))
				return scenarios.Hold{File: f}, errors.Join(err, f.Sync())
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				return errors.Join(h.File.Close(),
					t.Remove(lock))
			},
		},
		In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion),
	})
}
