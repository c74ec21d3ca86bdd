package kernelfile

import (
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// The locks of this file compare the file that they have locked with what stands at its name. They were
// written down from their sources; nobody has reported what a row shows.

// homebrew is the lock of brew (Ruby, Library/Homebrew/lock_file.rb). A caller may ask for the file to be
// removed on release, and `brew cleanup` removes the files that it can lock, and does not compare.
func homebrew() []scenarios.Scenario {
	const lock = "/usr/local/var/homebrew/locks/wget.formula.lock"
	sys := kit.System{Name: "homebrew", Lock: lock, Source: kit.Part(files, "homebrew"),
		Report: kit.At("Homebrew/brew", "28ddb133ee8975379b0d0051fcd79ce22b161e5e", "Library/Homebrew/lock_file.rb")}
	l := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_EX|fsfake.LOCK_NB)
				if err != nil {
					return kit.Failed(err)
				}
				if _, err := t.Stat(lock); err == nil {
					mine, err1 := f.Stat()
					there, err2 := t.Stat(lock)
					t.Assert(!kit.Missing(err2), "the name that was just there is there")
					if errors.Join(err1, err2) == nil && fsfake.SameFile(mine, there) {
						return kit.Held(f)
					}
				}
				_ = f.Close()
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error {
			return errors.Join(t.Unlink(lock), h.File.Flock(fsfake.LOCK_UN), h.File.Close())
		},
	}
	cleanup := func(t *scenarios.Task) {
		f, err := t.OpenFile(lock, os.O_RDWR, 0)
		if err != nil {
			return
		}
		if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) == nil {
			_ = t.Unlink(lock)
		}
		_ = f.Close()
	}
	twice := func(t *scenarios.Task) { scenarios.Once(l)(t); scenarios.Once(l)(t) }
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "compare-inode/contend", Lock: l, In: kit.In(kit.Contend(3)), Alike: true,
			Does: "One holds the lock. The name is looked at twice, and the second look raises ENOENT where it is " +
				"gone.", Claims: append(kit.Broken(scenarios.Assertion), kit.Holds(me)...)},
		kit.Row{ID: "cleanup/removes", Lock: l, In: kit.In(kit.Roles(twice, cleanup, scenarios.Once(l))),
			Claims: kit.Broken(me, scenarios.Assertion),
			Report: kit.At("Homebrew/brew", "10f060612c9f78e27eee606f3c0ffc1f814bdb64", "Library/Homebrew/cleanup.rb"),
			Does:   "A cleanup has locked a file without a name, and unlinks the name: that is the next owner's file."},
	)
}

// certbot and libvirt are alike: a record lock, compared with the name, and removed before it is let go.
// virPidFileReadPathIfLocked of libvirt takes the lock to learn whether anybody has it.
func certbot() []scenarios.Scenario {
	const lock = "/etc/letsencrypt/.certbot.lock"
	sys := kit.System{Name: "certbot", Lock: lock, Source: kit.Part(files, "certbot"),
		Report: kit.At("certbot/certbot", "094b5a106b0cc5edf4a5a8aee80644fb9d6c0a7b",
			"certbot/certbot/_internal/lock.py")}
	return sys.Scenarios(kit.Row{ID: "compare-inode/contend",
		Does: "Removed before it is unlocked, and compared after it is locked: one holds it.",
		Lock: comparedRecord(lock), In: kit.In(kit.Contend(3)), Alike: true,
		Claims: kit.Holds(scenarios.MutualExclusion)})
}

func libvirt() []scenarios.Scenario {
	const lock = "/run/libvirtd.pid"
	sys := kit.System{Name: "libvirt", Lock: lock, Source: kit.Part(files, "libvirt"),
		Report: kit.At("libvirt/libvirt", "013ab22f79d1345daf6b2778ca498acb16939011",
			"src/util/virpidfile.c")}
	l := comparedRecord(lock)
	asks := func(t *scenarios.Task) {
		if f, err := t.OpenFile(lock, os.O_RDWR, 0); err == nil {
			_ = f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK, Len: 1}, false)
			_ = f.Close()
		}
	}
	stale := kit.File(lock, kit.Dead)
	return sys.Scenarios(
		kit.Row{ID: "compare-inode/contend", Does: "A record lock, compared with the name: one daemon holds it.",
			Lock: l, In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(scenarios.MutualExclusion)},
		kit.Row{ID: "probe-by-locking/contend", Lock: l, In: kit.In(kit.Roles(asks, scenarios.Once(l)), stale),
			Does:   "Whoever asks whether the pid file is locked locks it: a daemon that starts meanwhile is refused.",
			Claims: kit.Broken(scenarios.SpuriousFailure)},
	)
}

// comparedRecord is a pid file with a record lock that is compared with its name.
func comparedRecord(lock string) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := t.OpenFile(lock, os.O_WRONLY|os.O_CREATE, 0o644)
				if err != nil {
					return kit.Failed(err)
				}
				if f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK, Len: 1}, false) != nil {
					return kit.Failed(errors.Join(scenarios.ErrLocked, f.Close()))
				}
				if kit.AtItsName(t, f, lock) {
					return kit.Held(f)
				}
				_ = f.Close()
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error { return errors.Join(t.Unlink(lock), h.File.Close()) },
	}
}

// jj is the lock of Jujutsu's operation heads (Rust): removed by its holder, and made anew where it has no link.
func jj() []scenarios.Scenario {
	const lock = "/home/user/repo/.jj/repo/op_heads/heads/lock"
	sys := kit.System{Name: "jj", Lock: lock, Source: kit.Part(files, "jj"),
		Report: kit.At("jj-vcs/jj", "081ecb809a317375c4389b7582d202ffe0f3308c", "lib/src/lock/unix.rs")}
	return sys.Scenarios(kit.Row{
		ID:   "count-links/contend",
		Does: "Whoever has locked a file that its holder removed sees no link, and opens a new one.",
		Lock: scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				for retry := t.Retry(); retry.Next(); {
					f, err := t.OpenFile(lock, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
					if err != nil {
						return kit.Failed(err)
					}
					if err := f.Flock(fsfake.LOCK_EX); err != nil {
						return kit.Failed(err)
					}
					if kit.Linked(f) {
						return kit.Held(f)
					}
					_ = f.Close()
				}
				panic("unreachable")
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				_ = t.Unlink(lock)
				_ = h.File.Flock(fsfake.LOCK_UN)
				return h.File.Close()
			},
		},
		In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(scenarios.MutualExclusion),
	})
}
