// Package npmlockfile holds the lock of npm/lockfile 1.0.4, the lock of npm in its earlier
// major versions. The file is empty; its age is the clock minus its ctime.
//
// The takeover was reported in https://github.com/npm/lockfile/issues/4 and put under a
// second lock in 0.4.3. The synchronous call was left as it was.
package npmlockfile

import (
	_ "embed"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	lock  = "/srv/cache/app.lock"
	stale = 10 * time.Second
)

// Scenarios lists the versions of the lock, each in its situations.
func Scenarios() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "npm-lockfile", Lock: lock, Report: "https://github.com/npm/lockfile/issues/4", Source: source}
	guard := []string{lock + ".STALE"}
	return sys.Scenarios(
		kit.Row{
			ID: "unlink-stale/dead-owner", Does: "An old lock is unlinked, and then created (before 0.4.3).",
			Lock: protocol(unlinkStale), In: kit.In(kit.Contend(2), kit.DeadOwner("")), Alike: true, Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "stale-guard/dead-owner", Does: "An old lock is replaced under a second lock, after a second look (0.4.3).",
			Lock: protocol(staleGuard), In: kit.In(kit.Contend(3), kit.DeadOwner("")), Alike: true, Claims: kit.Holds(me), Watch: guard,
		},
		kit.Row{
			ID: "stale-guard/stall", Does: "The same, and the holder is delayed for longer than a lock stays fresh: it has no way to renew.",
			Lock: protocol(staleGuard), In: kit.In(kit.Contend(2), kit.Stall(time.Hour)), Alike: true, Claims: kit.Broken(me), Watch: guard,
		},
		kit.Row{
			ID: "lock-sync/dead-owner", Does: "The synchronous call unlinks an old lock and starts over: the fix never reached it.",
			Lock: protocol(lockSync), In: kit.In(kit.Contend(2), kit.DeadOwner("")), Alike: true, Claims: kit.Broken(me),
		},
	)
}

// protocol is the lock with a way to acquire it; unlock removes whatever is at the path.
func protocol(acquire func(t *scenarios.Task, path string) error) scenarios.Protocol {
	return scenarios.Protocol{
		Path:    lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) { return scenarios.Hold{}, acquire(t, lock) },
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
}

// old reports whether there is a lock that is older than stale.
func old(t *scenarios.Task, path string) bool {
	info, err := t.Stat(path)
	return err == nil && t.Now().UnixNano()-info.Sys().(*fsfake.Stat).Ctime > stale.Nanoseconds()
}

func unlinkStale(t *scenarios.Task, path string) error {
	err := kit.Create(t, path, "")
	if !kit.Exists(err) || !old(t, path) {
		return err
	}
	_ = t.Unlink(path)
	return kit.Create(t, path, "")
}

func lockSync(t *scenarios.Task, path string) error {
	for retry := t.Retry(); retry.Next(); {
		err := kit.Create(t, path, "")
		if !kit.Exists(err) || !old(t, path) {
			return err
		}
		_ = t.Unlink(path)
	}
	panic("unreachable")
}

// staleGuard locks path.STALE by this same routine before it replaces an old lock. Where
// the second look finds another lock, path.STALE stays.
func staleGuard(t *scenarios.Task, path string) error {
	err := kit.Create(t, path, "")
	if !kit.Exists(err) || !old(t, path) {
		return err
	}
	guard := path + ".STALE"
	if err := staleGuard(t, guard); err != nil {
		return err
	}
	if !old(t, path) {
		return scenarios.ErrLocked
	}
	_ = t.Unlink(path)
	if err := t.Link(guard, path); err != nil {
		return err
	}
	return t.Unlink(guard)
}
