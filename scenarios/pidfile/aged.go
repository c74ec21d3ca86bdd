package pidfile

import (
	"errors"
	"slices"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// npmCLI has the lock with which npm's libnpmexec lets concurrent npx runs install one after the other
// (https://github.com/npm/cli/pull/8512, source workspaces/libnpmexec/lib/with-lock.js at 02f0c942): a
// directory that is touched every 100 ms.
//
// The release runs its clean-up twice. No report of what follows is known; it is read from the source.
func npmCLI() []scenarios.Scenario {
	sys := kit.System{Name: "npm-cli-with-lock", Lock: npmCLILock, Report: "https://github.com/npm/cli/pull/8512",
		Source: kit.Part(files, "npmCLI")}
	return sys.Scenarios(
		kit.Row{ID: "release-twice/pair",
			Does: "A release removes the directory twice: the second time it may be somebody else's.",
			Lock: npmCLIProtocol(2), In: kit.In(kit.Contend(2)), Alike: true,
			Claims: kit.Broken(scenarios.ForeignRelease)},
		kit.Row{ID: "release-twice/contend", Does: "The same with a third process, which finds the name free.",
			Lock: npmCLIProtocol(2), In: kit.In(kit.Contend(3)), Alike: true,
			Claims: kit.Broken(scenarios.MutualExclusion)},
		kit.Row{ID: "release-once/contend", Does: "The same, and a release removes the directory once.",
			Lock: npmCLIProtocol(1), In: kit.In(kit.Contend(3)), Alike: true,
			Claims: kit.Holds(scenarios.MutualExclusion)},
	)
}

const (
	npmCLILock  = "/home/.npm/_npx/app.lock"
	npmCLIStale = 5 * time.Second
)

// npmCLIProtocol is the lock with a release that removes the directory so many times.
func npmCLIProtocol(removals int) scenarios.Protocol {
	return scenarios.Protocol{
		Path: npmCLILock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				err := t.Mkdir(npmCLILock, 0o777)
				if err == nil {
					_, err = t.Stat(npmCLILock) // for the heartbeat
					return scenarios.Hold{}, err
				}
				info, serr := t.Stat(npmCLILock)
				switch {
				case !kit.Exists(err):
					return kit.Failed(err)
				case kit.Missing(serr):
				case serr != nil:
					return kit.Failed(serr)
				case kit.Older(t, info, npmCLIStale):
					_ = t.Rmdir(npmCLILock)
				default:
					t.Sleep(kit.Poll)
				}
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			var errs []error
			for range removals {
				if err := t.Rmdir(npmCLILock); !kit.Missing(err) {
					errs = append(errs, err)
				}
			}
			return errors.Join(errs...)
		},
	}
}

// npmLock has the lock of npm/lockfile 1.0.4, the lock of npm in its earlier major versions. The file is empty;
// its age is the clock minus its ctime.
//
// The takeover was reported in https://github.com/npm/lockfile/issues/4 and put under a second lock in 0.4.3.
// The synchronous call was left as it was.
func npmLock() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "npm-lockfile", Lock: npmLockLock, Report: "https://github.com/npm/lockfile/issues/4",
		Source: kit.Part(files, "npmLock")}
	guard := []string{npmLockLock + ".STALE"}
	return sys.Scenarios(
		kit.Row{ID: "unlink-stale/dead-owner", Does: "An old lock is unlinked, and then created (before 0.4.3).",
			Lock: npmLockProtocol(npmLockUnlinkStale), In: kit.In(kit.Contend(2), kit.DeadOwner("")), Alike: true,
			Claims: kit.Broken(me)},
		kit.Row{ID: "stale-guard/dead-owner",
			Does: "An old lock is replaced under a second lock, after a second look (0.4.3).",
			Lock: npmLockProtocol(npmLockStaleGuard), In: kit.In(kit.Contend(3), kit.DeadOwner("")), Alike: true,
			Claims: kit.Holds(me), Watch: guard},
		kit.Row{ID: "stale-guard/stall",
			Does: "The same, and the holder is delayed for longer than a lock stays fresh: it has no way to renew.",
			Lock: npmLockProtocol(npmLockStaleGuard), In: kit.In(kit.Contend(2), kit.Stall(time.Hour)), Alike: true,
			Claims: kit.Broken(me), Watch: guard},
		kit.Row{ID: "lock-sync/dead-owner",
			Does: "The synchronous call unlinks an old lock and starts over: the fix never reached it.",
			Lock: npmLockProtocol(npmLockLockSync), In: kit.In(kit.Contend(2), kit.DeadOwner("")), Alike: true,
			Claims: kit.Broken(me)},
	)
}

const (
	npmLockLock  = "/srv/cache/app.lock"
	npmLockStale = 10 * time.Second
)

// npmLockProtocol is the lock with a way to acquire it; unlock removes whatever is at the path.
func npmLockProtocol(acquire func(t *scenarios.Task, path string) error) scenarios.Protocol {
	return scenarios.Protocol{
		Path:    npmLockLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) { return scenarios.Hold{}, acquire(t, npmLockLock) },
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(npmLockLock) },
	}
}

// npmLockOld reports whether there is a lock that is older than stale.
func npmLockOld(t *scenarios.Task, path string) bool {
	info, err := t.Stat(path)
	return err == nil && t.Now().UnixNano()-info.Sys().(*fsfake.Stat).Ctime > npmLockStale.Nanoseconds()
}

func npmLockUnlinkStale(t *scenarios.Task, path string) error {
	err := kit.Create(t, path, "")
	if !kit.Exists(err) || !npmLockOld(t, path) {
		return err
	}
	_ = t.Unlink(path)
	return kit.Create(t, path, "")
}

func npmLockLockSync(t *scenarios.Task, path string) error {
	for retry := t.Retry(); retry.Next(); {
		err := kit.Create(t, path, "")
		if !kit.Exists(err) || !npmLockOld(t, path) {
			return err
		}
		_ = t.Unlink(path)
	}
	panic("unreachable")
}

// npmLockStaleGuard locks path.STALE by this same routine before it replaces an old lock. Where
// the second look finds another lock, path.STALE stays.
func npmLockStaleGuard(t *scenarios.Task, path string) error {
	err := kit.Create(t, path, "")
	if !kit.Exists(err) || !npmLockOld(t, path) {
		return err
	}
	guard := path + ".STALE"
	if err := npmLockStaleGuard(t, guard); err != nil {
		return err
	}
	if !npmLockOld(t, path) {
		return scenarios.ErrLocked
	}
	_ = t.Unlink(path)
	if err := t.Link(guard, path); err != nil {
		return err
	}
	return t.Unlink(guard)
}

// proper has the lock of moxystudio/node-proper-lockfile 4.1.2 (Yarn and many build systems): a directory,
// which its holder touches now and then.
//
// The takeover's race is reported in https://github.com/moxystudio/node-proper-lockfile/issues/121, which is
// open.
func proper() []scenarios.Scenario {
	sys := kit.System{Name: "proper-lockfile", Lock: properLock, Source: kit.Part(files, "proper"),
		Report: "https://github.com/moxystudio/node-proper-lockfile/issues/121"}
	const future = "https://github.com/moxystudio/node-proper-lockfile/pull/109"
	setBack, soon := kit.In(kit.Contend(2), kit.Kill(1), kit.SetBack(time.Hour)), scenarios.WedgeWithin(10*time.Minute)
	release := func(t *scenarios.Task) { _ = t.Rmdir(properLock) }
	return sys.Scenarios(
		kit.Row{ID: "rmdir-mkdir/dead-owner",
			Does: "An old lock directory is removed and made anew: another contender removes the new one.",
			Lock: properProtocol, In: kit.In(kit.Contend(2), kit.DeadDirectory()), Alike: true,
			Claims: kit.Broken(scenarios.MutualExclusion)},
		kit.Row{ID: "rmdir-mkdir/late-release",
			Does: "A holder whose lock has become old releases: it removes its successor's.", Lock: properProtocol,
			In:     kit.In(kit.Roles(kit.Late(release), scenarios.Once(properProtocol)), kit.DeadDirectory()),
			Claims: kit.Broken(scenarios.ForeignRelease)},
		kit.Row{ID: "rmdir-mkdir/set-back",
			Does: "The clock is set back by an hour after the lock was made: for that long its owner seems to be " +
				"at work, dead or not.", Report: future, Lock: properProtocol, In: setBack,
			Claims: slices.Concat(kit.Holds(scenarios.MutualExclusion), kit.Broken(soon))},
		kit.Row{ID: "future-is-stale/set-back",
			Does: "Stale is what is ten seconds old, or lies ten seconds in the future: so does the lock of an " +
				"owner at work when the clock is set back.", Report: future,
			Lock: properProtocolOf(func(age time.Duration) bool { return age.Abs() > properStale }), In: setBack,
			Claims: slices.Concat(kit.Broken(scenarios.MutualExclusion), kit.Holds(soon))},
	)
}

const (
	properLock  = "/srv/project/data.lock"
	properStale = 10 * time.Second
)

var properProtocol = properProtocolOf(func(age time.Duration) bool { return age > properStale })

// properProtocolOf is the lock, with what it takes for the age of a dead owner's.
func properProtocolOf(isStale func(age time.Duration) bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: properLock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			err := t.Mkdir(properLock, 0o777)
			if kit.Exists(err) {
				info, serr := t.Stat(properLock)
				switch {
				case serr == nil && !isStale(t.Now().Sub(info.ModTime())):
					return kit.Locked()
				case serr == nil:
					if err := t.Rmdir(properLock); err != nil && !kit.Missing(err) {
						return kit.Failed(err)
					}
				}
				err = t.Mkdir(properLock, 0o777) // once more, without a question about age
			}
			if err != nil {
				return kit.Failed(err)
			}
			now := t.Now()
			if err := t.Chtimes(properLock, now, now); err != nil { // to learn how fine times are here
				return kit.Failed(err)
			}
			_, err = t.Stat(properLock)
			return scenarios.Hold{}, err
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Rmdir(properLock) },
	}
}
