package reclaim

import (
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// gnupg is GnuPG's dotlock (C, common/dotlock.c): a hard link of a private file. "It is unlikley that we get a
// race here unless a pid is reused too fast", says the comment where a dead owner's lock is removed.
func gnupg() []scenarios.Scenario {
	const lock = "/home/user/.gnupg/pubring.kbx.lock"
	sys := kit.System{Name: "gnupg", Lock: lock, Source: kit.Part(files, "gnupg"),
		Report: kit.At("gpg/gnupg", "0868997e186cd847663668f9d7a29806a12da2d2",
			"common/dotlock.c")}
	l := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			private, err := kit.Private(t, lock+"#", kit.Me(t))
			if err != nil {
				return kit.Failed(err)
			}
			for retry := t.Retry(); retry.Next(); {
				_ = t.Link(private, lock)
				if linked(t, private) {
					return scenarios.Hold{}, nil
				}
				if pid := owner(t, lock); pid != 0 && kit.Gone(t, pid) {
					_ = t.Unlink(lock)
					continue
				}
				t.Sleep(kit.Poll)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			if owner(t, lock) != t.Getpid() {
				return errors.New("not our lock")
			}
			return t.Unlink(lock)
		},
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "link/contend", Does: "Nobody is dead: one has the link.", Lock: l,
			In: kit.In(kit.Contend(2), kit.Daemons), Alike: true, Claims: kit.Holds(me)},
		kit.Row{ID: "link/dead-owner",
			Does: "A dead owner's lock is removed by its name, by everybody who found it dead.", Lock: l,
			In: deadOwner(2), Alike: true, Claims: kit.Broken(me)},
	)
}

// shadow is the lock of /etc/passwd in useradd and its like (C, lib/commonio.c): a hard link as well, inside of
// lckpwdf(3), which waits for a record lock on a file that stays; with --prefix, without it.
func shadow() []scenarios.Scenario {
	const lock, guard = "/etc/passwd.lock", "/etc/.pwd.lock"
	sys := kit.System{Name: "shadow", Lock: lock, Source: kit.Part(files, "shadow"),
		Report: kit.At("shadow-maint/shadow", "01a2ead62c377d64a67d535d1ce41d4b3b295073",
			"lib/commonio.c")}
	take := func(t *scenarios.Task) error {
		private, err := kit.Private(t, "/etc/passwd", kit.Me(t))
		if err != nil {
			return err
		}
		defer func() { _ = t.Unlink(private) }()
		if t.Link(private, lock) != nil {
			if pid := owner(t, lock); pid == 0 || !kit.Gone(t, pid) || t.Unlink(lock) != nil ||
				t.Link(private, lock) != nil {
				return scenarios.ErrLocked
			}
		}
		if !linked(t, private) {
			return scenarios.ErrLocked
		}
		return nil
	}
	protocol := func(lckpwdf bool) scenarios.Protocol {
		return scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				if !lckpwdf {
					return scenarios.Hold{}, take(t)
				}
				f, err := t.OpenFile(guard, os.O_WRONLY|os.O_CREATE, 0o600)
				if err == nil {
					err = f.FcntlLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, true)
				}
				if err != nil {
					return kit.Failed(err)
				}
				if err = take(t); err != nil {
					_ = f.Close()
				}
				return scenarios.Hold{File: f}, err
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				err := t.Unlink(lock)
				if h.File != nil {
					err = errors.Join(err, h.File.Close())
				}
				return err
			},
		}
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "prefix/dead-owner",
			Does: "A dead owner's link is removed by its name, which is the next one's by then.",
			Lock: protocol(false), In: deadOwner(2), Alike: true, Claims: kit.Broken(me)},
		kit.Row{ID: "lckpwdf/dead-owner",
			Does: "Under a record lock on a file that stays, one at a time judges and removes.",
			Lock: protocol(true), In: deadOwner(3), Alike: true, Claims: kit.Holds(me), Watch: []string{guard}},
	)
}

// linked reports whether a private file has a second name.
func linked(t *scenarios.Task, private string) bool {
	info, err := t.Stat(private)
	return err == nil && info.Sys().(*fsfake.Stat).Nlink == 2
}

// mercurial is hg's lock (Python, mercurial/lock.py): a symbolic link that names host and pid, and a second lock
// while a dead owner's is removed.
func mercurial() []scenarios.Scenario {
	const lock, guard = "/home/user/repo/.hg/wlock", "/home/user/repo/.hg/wlock.break"
	sys := kit.System{Name: "mercurial", Lock: lock, Source: kit.Part(files, "mercurial"),
		Report: kit.At("saschazepter/hg", "33b3400da4ba99fa987f378fac687503928ea73a",
			"mercurial/lock.py")}
	dead := func(t *scenarios.Task) bool {
		owner, err := t.Readlink(lock)
		return err == nil && kit.Gone(t, kit.PidIn(owner))
	}
	protocol := func(judgeAgain bool) scenarios.Protocol {
		return scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				for retry := t.Retry(); retry.Next(); {
					if err := t.Symlink(kit.Me(t), lock); !kit.Exists(err) {
						return scenarios.Hold{}, err
					}
					if dead(t) && t.Symlink(kit.Me(t), guard) == nil {
						if !judgeAgain || dead(t) {
							_ = t.Unlink(lock)
						}
						_ = t.Unlink(guard)
						continue
					}
					t.Sleep(kit.Poll)
				}
				panic("unreachable")
			},
			Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
		}
	}
	in, me, watch := kit.In(kit.Contend(2), kit.DeadSymlink(kit.Dead)), scenarios.MutualExclusion, []string{guard}
	return sys.Scenarios(
		kit.Row{ID: "guard/dead-owner",
			Does: "It is removed under a second lock, and was judged before: it is another's by then.",
			Lock: protocol(false), In: in, Alike: true, Claims: kit.Broken(me), Watch: watch,
			Report: kit.At("indygreg/hg", "1d1d6827da443b1988ed32ae8848f3fad0697c0c",
				"mercurial/lock.py")},
		kit.Row{ID: "guard-and-judge-again/dead-owner", Does: "The owner is read again under the second lock.",
			Lock: protocol(true), In: in, Alike: true, Claims: kit.Holds(me), Watch: watch},
	)
}

// xserver is the X server's lock of a display (C, os/serverlock.c): a file of one name for all is written, and
// linked to the lock's name. Its tries are counted there; here it gives up by refusing.
func xserver() []scenarios.Scenario {
	const lock, temp = "/tmp/.X0-lock", "/tmp/.tX0-lock"
	sys := kit.System{Name: "xserver", Lock: lock, Source: kit.Part(files, "xserver"),
		Report: kit.At("X11Libre/xserver", "351942eea808df70bd3deaf1b0de4f94908c205a",
			"os/serverlock.c")}
	create := func(t *scenarios.Task) (*fsfake.File, error) {
		f, err := t.OpenFile(temp, kit.Excl, 0o644)
		if err != nil {
			t.Sleep(kit.Poll)
			_ = t.Unlink(temp) // after three tries, a look at nobody's age
			f, err = t.OpenFile(temp, kit.Excl, 0o644)
		}
		return f, err
	}
	l := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			f, err := create(t)
			if err != nil {
				return kit.Locked()
			}
			_, _ = f.WriteString(kit.Me(t))
			_ = f.Close()
			defer func() { _ = t.Unlink(temp) }()
			for range 3 {
				if t.Link(temp, lock) == nil {
					return scenarios.Hold{}, nil
				}
				if pid := owner(t, lock); pid != 0 && !kit.Gone(t, pid) {
					return kit.Locked()
				}
				_ = t.Unlink(lock) // a dead owner's, or one without a pid
			}
			return kit.Locked()
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
	me, watch := scenarios.MutualExclusion, []string{temp}
	return sys.Scenarios(
		kit.Row{ID: "link/contend",
			Does: "A waiter removes the other's file, and the other links one that is not its own.", Lock: l,
			In: kit.In(kit.Contend(2)), Alike: true, Claims: kit.Broken(me), Watch: watch},
		kit.Row{ID: "link/dead-owner", Does: "A dead owner's lock is removed by its name.",
			Lock: l, In: deadOwner(2), Alike: true, Claims: kit.Broken(me), Watch: watch},
	)
}
