package reclaim

import (
	"errors"
	"os"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// qLockFile is Qt's (C++, src/corelib/io/qlockfile_unix.cpp), which KDE's programs and many others have: created or
// refused, and then locked with flock, so that nobody removes what a living process has. A stale one is removed
// under a second lock.
func qLockFile() []scenarios.Scenario {
	const lock, guard, tooOld = "/home/user/.config/app.lock", "/home/user/.config/app.lock.rmlock", 30 * time.Second
	sys := kit.System{Name: "qt-qlockfile", Lock: lock, Source: kit.Part(files, "qLockFile"),
		Report: kit.At("qt/qtbase", "02145160f9ed709f0f5305567f4283e96772e06a", "src/corelib/io/qlockfile_unix.cpp")}
	const how = fsfake.LOCK_EX | fsfake.LOCK_NB
	create := func(t *scenarios.Task, name string) (*fsfake.File, error) {
		f, err := t.OpenFile(name, kit.Excl, 0o666)
		if err != nil {
			return nil, err
		}
		_ = f.Flock(how) // that it fails is a warning
		_, err = f.WriteString(kit.Me(t))
		return f, err
	}
	remove := func(t *scenarios.Task, name string, f *fsfake.File) error {
		return errors.Join(t.Unlink(name), f.Close())
	}
	stale := func(t *scenarios.Task) bool {
		pid := owner(t, lock)
		return pid != 0 && kit.Gone(t, pid) || old(t, lock, tooOld)
	}
	reclaim := func(t *scenarios.Task) (removed bool) {
		rm, err := create(t, guard)
		if err != nil {
			return false
		}
		if stale(t) {
			if f, err := t.OpenFile(lock, os.O_WRONLY, 0); err == nil {
				removed = f.Flock(how) == nil && t.Unlink(lock) == nil
				_ = f.Close()
			}
		}
		_ = remove(t, guard, rm)
		return removed
	}
	l := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := create(t, lock)
				if !kit.Exists(err) {
					return scenarios.Hold{File: f}, err
				}
				if !stale(t) || !reclaim(t) {
					t.Sleep(kit.Poll)
				}
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, h scenarios.Hold) error { return remove(t, lock, h.File) },
	}
	me, watch := scenarios.MutualExclusion, []string{guard}
	return sys.Scenarios(
		kit.Row{ID: "flock-and-guard/dead-owner",
			Does: "A dead owner's file is removed by one at a time, who judges it again.",
			Lock: l, In: deadOwner(2), Alike: true, Claims: kit.Holds(me), Watch: watch},
		kit.Row{ID: "flock-and-guard/stall",
			Does: "An owner that stands still between open and flock for thirty seconds loses its file, and goes on.",
			Lock: l, In: kit.In(kit.Contend(2), kit.Stall(time.Minute)), Alike: true, Claims: kit.Broken(me),
			Watch: watch},
	)
}
