package kernelfile

import (
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// fslock is brunoczim/fslock (Rust): lockf(3), which is fcntl's. The holder reads the locked
// file, and the close of that descriptor drops the lock. flock(2) is proposed.
func fslock() []scenarios.Scenario {
	const lock = "/tmp/fslock.lock"
	sys := kit.System{Name: "fslock", Lock: lock, Source: kit.Part(files, "fslock"),
		Report: "https://github.com/brunoczim/fslock/issues/6"}
	protocol := func(record bool) scenarios.Protocol {
		return scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o666)
				if err != nil {
					return kit.Failed(err)
				}
				if record {
					err = f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, true)
				} else {
					err = f.Flock(fsfake.LOCK_EX)
				}
				return scenarios.Hold{File: f}, err
			},
			Release: func(_ *scenarios.Task, h scenarios.Hold) error { return h.File.Close() },
		}
	}
	reads := func(record bool) []kit.Situation {
		l := protocol(record)
		reader := func(t *scenarios.Task) {
			_ = scenarios.Locked(t, l, func() { _, _ = kit.ReadAll(t, lock); t.Work() })
		}
		return kit.In(kit.Roles(reader, scenarios.Once(l)))
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "lockf/reads", Does: "The holder reads its locked file through another descriptor, and closes it.",
			Lock: protocol(true), In: reads(true), Claims: kit.Broken(me)},
		kit.Row{ID: "lockf/contend", Does: "The same, and nobody reads.", Lock: protocol(true),
			In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(me)},
		kit.Row{ID: "flock/reads", Does: "An flock belongs to the open file description, and stays.",
			Lock: protocol(false), In: reads(false), Claims: kit.Holds(me)},
	)
}

// hermit is the lock of cashapp/hermit (Go, util/flock): flock on a file with the owner's
// pid, which was removed on release. Who is refused and reads its own pid has it already,
// and its release does nothing. Whether the removal came first or last is uncertain. A
// comment in the code says that the pid read is never one's own unless one has the lock; no
// report of the row "twice" is known.
func hermit() []scenarios.Scenario {
	const source = "https://github.com/cashapp/hermit/blob/2155a089a77f3cd4112860198b0649380d407f66/util/flock/flock.go"
	const lock = "/home/user/.cache/hermit/.lock"
	sys := kit.System{Name: "hermit", Lock: lock, Source: kit.Part(files, "hermit"),
		Report: "https://github.com/cashapp/hermit/pull/423"}
	protocol := func(remove, empty bool) scenarios.Protocol {
		return scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				for retry := t.Retry(); retry.Next(); {
					f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_EX|fsfake.LOCK_NB)
					if err == nil {
						err = f.Truncate(0)
						_, werr := f.WriteString(kit.Me(t))
						return scenarios.Hold{File: f}, errors.Join(err, werr)
					}
					if text, _ := kit.ReadAll(t, lock); kit.PidIn(text) == t.Getpid() {
						return scenarios.Hold{Shared: true}, nil
					}
					t.Sleep(kit.Poll)
				}
				panic("unreachable")
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				if h.Shared {
					t.Work() // nothing is done; a release that is recorded is a step
					return nil
				}
				var err error
				if empty {
					err = h.File.Truncate(0)
				}
				err = errors.Join(err, h.File.Flock(fsfake.LOCK_UN), h.File.Close())
				if remove {
					err = errors.Join(err, t.Unlink(lock))
				}
				return err
			},
		}
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "unlink-on-release/contend",
			Does: "The file is removed on release: who has it open locks what has no name.",
			Lock: protocol(true, false), In: kit.In(kit.Contend(3)), Claims: kit.Broken(me)},
		kit.Row{ID: "keep-file/contend", Does: "The file stays.", Lock: protocol(false, false),
			In: kit.In(kit.Contend(3)), Claims: kit.Holds(me)},
		kit.Row{ID: "keep-file/twice",
			Does: "The text of one's own earlier hold is there until the next owner has written: it looks like " +
				"one's own lock.", Lock: protocol(false, false), In: kit.In(kit.Twice(2)), Claims: kit.Broken(me),
			Report: source},
		kit.Row{ID: "empty-on-release/twice", Does: "A release empties the file before it unlocks it.",
			Lock: protocol(false, true), In: kit.In(kit.Twice(2)), Claims: kit.Holds(me)},
	)
}

// ilock is symonsoft/ilock (Python, ilock/__init__.py): flock on a file that is unlinked, and
// then closed.
func ilock() []scenarios.Scenario {
	const lock = "/dev/shm/ilock.lock"
	sys := kit.System{Name: "ilock", Lock: lock, Source: kit.Part(files, "ilock"),
		Report: "https://github.com/symonsoft/ilock/issues/11"}
	return sys.Scenarios(
		kit.Row{ID: "unlink-then-close/contend",
			Does: "The file is unlinked while it is locked: a waiter that has it open locks it next.",
			Lock: unlinking(lock, false), In: kit.In(kit.Contend(3)), Alike: true,
			Claims: kit.Broken(scenarios.MutualExclusion)},
	)
}

// unlinking is an flock on a file that its holder unlinks and then closes. waits: in the
// kernel, and not by trying again.
func unlinking(lock string, waits bool) scenarios.Protocol {
	how := fsfake.LOCK_EX | fsfake.LOCK_NB
	if waits {
		how = fsfake.LOCK_EX
	}
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				if f, err := kit.OpenFlock(t, lock, os.O_WRONLY|os.O_TRUNC, how); err == nil {
					return kit.Held(f)
				}
				t.Sleep(kit.Poll)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			return errors.Join(t.Unlink(lock), h.File.Close())
		},
	}
}

// materialize is materialized's pid file (Rust, MaterializeInc/materialize): flock(2) on a file
// that is opened without O_CLOEXEC, so that the servers that it starts have the descriptor as well.
// google/leveldb#623 and SerenityOS/serenity#9059 report the same of their lock files.
func materialize() []scenarios.Scenario {
	const lock = "/mzdata/materialized.pid"
	sys := kit.System{Name: "materialize", Lock: lock, Source: kit.Part(files, "materialize"),
		Report: "https://github.com/MaterializeInc/materialize/pull/12050"}
	flopen := func(flags int, release func(*scenarios.Task)) scenarios.Protocol {
		return scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_EX|fsfake.LOCK_NB)
				if err != nil {
					return kit.Failed(err)
				}
				if flags == 0 { // package os opens with it
					t.Do(fsfake.Op{Call: fsfake.CallSetfd, FD: 3})
				}
				return kit.Held(f)
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				release(t)
				return h.File.Close()
			},
		}
	}
	serves := func(t *scenarios.Task) { t.Do(fsfake.Op{Call: fsfake.CallWork}) }
	row := func(id, does string, flags int, start, release func(*scenarios.Task), claims []scenarios.Claim) kit.Row {
		l := flopen(flags, release)
		server := func(t *scenarios.Task) { _ = scenarios.Locked(t, l, func() { start(t) }) }
		return kit.Row{ID: id, Does: does, Claims: claims, Lock: l,
			In: kit.In(kit.Spawned(server, serves), kit.Beside(scenarios.Once(l)))}
	}
	spurious, me, at := scenarios.SpuriousFailure, scenarios.MutualExclusion, func(*scenarios.Task) {}
	return sys.Scenarios(
		row("inherited/spawn", "The server ends before a child that it has started: the child's copy of the "+
			"descriptor keeps the lock, and the next server finds it taken.", 0, kit.Spawn, at, kit.Broken(spurious)),
		row("waits-for-child/spawn", "The server waits for its child before it lets the lock go.", 0, kit.Spawn,
			kit.Wait, kit.Holds(spurious, me)),
		row("close-on-exec/spawn", "The file is opened with O_CLOEXEC: a child that runs a program of its own has no "+
			"copy.", fsfake.O_CLOEXEC, kit.Spawn, at, kit.Holds(spurious, me)),
		row("close-on-exec/fork", "It has one between fork and exec. Whoever does not wait for the exec, as "+
			"posix_spawn does, may end in between.", fsfake.O_CLOEXEC, kit.Fork, at, kit.Broken(spurious)),
	)
}

// patchify is the sidecar lock of riceharvest/agents-first-toolkit (Rust): the drop of the
// lock unlinks the file while it is locked, and waiters wait in the kernel.
func patchify() []scenarios.Scenario {
	const lock = "/home/user/repo/.patchify.lock"
	sys := kit.System{Name: "patchify", Lock: lock, Source: kit.Part(files, "patchify"),
		Report: "https://github.com/riceharvest/agents-first-toolkit/issues/52"}
	return sys.Scenarios(kit.Row{ID: "unlink-on-drop/contend",
		Does: "A waiter has the old file open and is granted it; the next one locks a new file.",
		Lock: unlinking(lock, true), In: kit.In(kit.Contend(3)), Alike: true,
		Claims: kit.Broken(scenarios.MutualExclusion)})
}
