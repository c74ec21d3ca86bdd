package reclaim

import (
	"errors"
	"os"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// The locks of this file and of linked.go were written down from their sources; nobody has reported
// what a row shows.

// puppet is Puppet's pid lock (Ruby, lib/puppet/util/pidlock.rb), which is looked for and then written.
func puppet() []scenarios.Scenario {
	const lock = "/var/lib/puppet/state/agent_catalog_run.lock"
	sys := kit.System{Name: "puppet", Lock: lock, Source: kit.Part(files, "puppet"),
		Report: kit.At("puppetlabs/puppet", "01b57e9c1a61d460ed9b00f8037b356c03f7a82e",
			"lib/puppet/util/pidlock.rb")}
	pid := func(t *scenarios.Task) int {
		if _, err := t.Stat(lock); err != nil {
			return 0
		}
		text, err := kit.ReadAll(t, lock)
		t.Assert(!kit.Missing(err), "the file that was just there can be read")
		return kit.PidIn(text)
	}
	l := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if owner := pid(t); owner != 0 && kit.Gone(t, owner) {
				t.Assert(!kit.Missing(t.Unlink(lock)), "the stale file is there to be removed")
			}
			if _, err := t.Stat(lock); err == nil {
				return kit.Locked()
			}
			return scenarios.Hold{}, kit.Replace(t, lock, kit.Me(t))
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			if pid(t) != t.Getpid() {
				return nil
			}
			return t.Unlink(lock)
		},
	}
	return sys.Scenarios(
		kit.Row{ID: "look-then-write/contend", Lock: l, In: kit.In(kit.Contend(2)), Alike: true,
			Does:   "Both find no file, and both write it; or a file that is found is gone when it is read: ENOENT.",
			Claims: kit.Broken(scenarios.MutualExclusion, scenarios.Assertion)},
	)
}

// rcloneBisync is the lock of `rclone bisync` (Go): looked for, written with the pid, and written anew with
// the time at which it ends.
func rcloneBisync() []scenarios.Scenario {
	const lock = "/home/user/.cache/rclone/bisync/a..b.lck"
	sys := kit.System{Name: "rclone-bisync", Lock: lock, Source: kit.Part(files, "rcloneBisync"),
		Report: kit.At("rclone/rclone", "041e51bf8ac442210a0c40baab5ffb1e978d95ad",
			"cmd/bisync/lockfile.go")}
	return sys.Scenarios(kit.Row{
		ID:   "look-then-write/contend",
		Does: "Both find no file, and both write it. The first to end removes the other's lock.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				if _, err := t.Stat(lock); err == nil {
					return kit.Locked()
				}
				return scenarios.Hold{}, errors.Join(kit.Replace(t, lock, kit.Me(t)), kit.Replace(t, lock, kit.Me(t)))
			},
			Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Remove(lock) },
		},
		In: kit.In(kit.Contend(2)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion,
			scenarios.ForeignRelease),
	})
}

// moby is the pid file of the Docker daemon (Go, pkg/pidfile).
func moby() []scenarios.Scenario {
	const lock = "/var/run/docker.pid"
	sys := kit.System{Name: "moby-pidfile", Lock: lock, Source: kit.Part(files, "moby"),
		Report: kit.At("moby/moby", "97dc6a976a47c100192923341b796d5c9c97fecc",
			"pkg/pidfile/pidfile.go")}
	return sys.Scenarios(kit.Row{
		ID: "read-then-write/contend", Does: "Both find no living owner, and both write their pid.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				if pid := owner(t, lock); pid != 0 && !kit.Gone(t, pid) {
					return kit.Locked()
				}
				return scenarios.Hold{}, kit.Replace(t, lock, kit.Me(t))
			},
			Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Remove(lock) },
		},
		In: kit.In(kit.Contend(2)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion,
			scenarios.ForeignRelease),
	})
}

// snakemake is the lock of a working directory (Python, snakemake/persistence.py): the directory of locks is
// listed, each is read, and the first free number is written.
func snakemake() []scenarios.Scenario {
	const dir = "/home/user/flow/.snakemake/locks"
	const lock = dir + "/0.output.lock"
	sys := kit.System{Name: "snakemake", Lock: lock, Source: kit.Part(files, "snakemake"),
		Report: kit.At("snakemake/snakemake", "009d45596eb02ed6f8ed35434aa1a6ab128143ae",
			"snakemake/persistence.py")}
	return sys.Scenarios(kit.Row{
		ID: "list-then-write/contend", Does: "Both find no lock on their files, and both write one.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				locks, err := t.ReadDir(dir)
				if err != nil || len(locks) > 0 {
					return kit.Locked() // all runs have the same files
				}
				if _, err := t.Stat(lock); err == nil {
					return kit.Locked() // the next number is not tried
				}
				return scenarios.Hold{}, kit.Replace(t, lock, "out.txt\n")
			},
			Release: func(t *scenarios.Task, _ scenarios.Hold) error { _ = t.Remove(lock); return nil },
		},
		In: kit.In(kit.Contend(2)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion),
	})
}

// mysql is the lock of a server's socket (C++, sql/conn_handler/socket_connection.cc), and weston that of an
// X display (C, which mutter has as well): created or refused, and removed when its owner is dead.
func mysql() []scenarios.Scenario {
	const lock = "/var/run/mysqld/mysqld.sock.lock"
	sys := kit.System{Name: "mysql", Lock: lock, Source: kit.Part(files, "mysql"),
		Report: kit.At("mysql/mysql-server", "01b5347898ff7a2df177f02b560a7acad21143db",
			"sql/conn_handler/socket_connection.cc")}
	l := exclusive(lock, func(t *scenarios.Task) next {
		if pid := owner(t, lock); pid == 0 || !kit.Gone(t, pid) || t.Unlink(lock) != nil {
			return refuse
		}
		return again
	})
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "unlink-dead/contend", Does: "Nobody is dead: the file is created or refused.", Lock: l,
			In: kit.In(kit.Contend(2), kit.Daemons), Alike: true, Claims: kit.Holds(me)},
		kit.Row{ID: "unlink-dead/dead-owner",
			Does: "A dead owner's file is removed by its name, which is the next server's by then.",
			Lock: l, In: deadOwner(2), Alike: true, Claims: kit.Broken(me)},
	)
}

// pacman is the lock of Arch's package database (C, lib/libalpm/handle.c): created or refused.
func pacman() []scenarios.Scenario {
	const lock = "/var/lib/pacman/db.lck"
	sys := kit.System{Name: "pacman", Lock: lock, Source: kit.Part(files, "pacman"),
		Report: kit.At("andrewgregory/pacman", "a1a6f46470e86f6df6b15756103b51a2431eb90e", "lib/libalpm/handle.c")}
	return sys.Scenarios(kit.Row{ID: "excl/crash",
		Does: "One holds it. After a kill it is there until somebody removes it by hand, as the manual says.",
		Lock: exclusive(lock, func(*scenarios.Task) next { return refuse }), In: kit.In(kit.Contend(2), kit.Kill(1)),
		Alike: true, Claims: append(kit.Holds(scenarios.MutualExclusion), kit.Broken(scenarios.Wedge)...)})
}

// zsh is the lock of the history file (C, Src/hist.c): a symbolic link, unlinked by whoever finds it ten seconds old.
func zsh() []scenarios.Scenario {
	const lock, tooOld = "/home/user/.zsh_history.LOCK", 10 * time.Second
	sys := kit.System{Name: "zsh-history", Lock: lock, Source: kit.Part(files, "zsh"),
		Report: kit.At("zsh-users/zsh", "2564174dd6f9289b4e4da2a8122b0f8edd8a62b4", "Src/hist.c")}
	return sys.Scenarios(kit.Row{
		ID: "unlink-old/dead-owner", Does: "An old link is removed by its name: by then it may be the next shell's.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				for retry := t.Retry(); retry.Next(); {
					err := t.Symlink(kit.Me(t), lock)
					if !kit.Exists(err) {
						return scenarios.Hold{}, err
					}
					switch info, err := t.Lstat(lock); {
					case err != nil:
					case kit.Older(t, info, tooOld):
						_ = t.Unlink(lock)
					default:
						t.Sleep(kit.Poll)
					}
				}
				panic("unreachable")
			},
			Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
		},
		In: kit.In(kit.Contend(2), kit.DeadSymlink(kit.Dead)), Alike: true,
		Claims: kit.Broken(scenarios.MutualExclusion),
	})
}

// tmux is how a client starts the server (C, client.c), whose socket answers while it lives.
func tmux() []scenarios.Scenario {
	const lock, socket = "/tmp/tmux-0/default.lock", "/tmp/tmux-0/default"
	sys := kit.System{Name: "tmux", Lock: lock, Source: kit.Part(files, "tmux"),
		Report: kit.At("tmux/tmux", "0159c74a32dabec337334252121d5d2a060adc21",
			"client.c")}
	answers := func(t *scenarios.Task) bool { return kit.Connect(t, socket) == nil }
	protocol := func(again bool) scenarios.Protocol {
		return scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				for retry := t.Retry(); retry.Next(); {
					if answers(t) {
						return kit.Locked() // a client of that server
					}
					f, err := t.OpenFile(lock, os.O_WRONLY|os.O_CREATE, 0o600)
					if err != nil {
						return kit.Failed(err)
					}
					if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) != nil {
						_ = f.Flock(fsfake.LOCK_EX)
						_ = f.Close()
						continue
					}
					if again && answers(t) {
						_ = f.Close()
						return kit.Locked()
					}
					_ = t.Unlink(socket)
					s, err := kit.Bind(t, socket)
					if err == nil {
						err = kit.Listen(s)
					}
					return scenarios.Hold{}, errors.Join(err, t.Unlink(lock), f.Close())
				}
				panic("unreachable")
			},
			Release: func(t *scenarios.Task, _ scenarios.Hold) error { t.Work(); return nil }, // the server ends
		}
	}
	me, watch := scenarios.MutualExclusion, []string{socket}
	return sys.Scenarios(
		kit.Row{ID: "flock/contend", Lock: protocol(false), In: kit.In(kit.Contend(2)), Alike: true,
			Claims: kit.Broken(me), Watch: watch,
			Does: "A client that found no server takes the lock when another has started one, and removes its " +
				"socket."},
		kit.Row{ID: "flock-then-connect/contend", Lock: protocol(true), In: kit.In(kit.Contend(2), kit.Daemons),
			Alike: true, Does: "Whoever has the lock tries to connect once more, as tmux does since.",
			Claims: kit.Holds(me), Watch: watch},
	)
}

// nano is the lock file of the editor (C, src/files.c): looked for, removed, and created. Who finds one is asked, and
// says no here.
func nano() []scenarios.Scenario {
	const lock = "/home/user/.notes.txt.swp"
	sys := kit.System{Name: "nano", Lock: lock, Source: kit.Part(files, "nano"),
		Report: kit.At("Daniel-Atanasov/nano", "878f08b123e10b26c88787a2c7676cc110c5539a", "src/files.c")}
	return sys.Scenarios(kit.Row{
		ID:   "remove-then-create/contend",
		Does: "Both find no lock file. The second removes the file that the first has made since, and creates its own.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				if _, err := t.Stat(lock); err == nil {
					_ = owner(t, lock) // for the question
					return kit.Locked()
				}
				_ = t.Unlink(lock)
				return scenarios.Hold{}, kit.Create(t, lock, kit.Me(t))
			},
			Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
		},
		In: kit.In(kit.Contend(2)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion),
	})
}
