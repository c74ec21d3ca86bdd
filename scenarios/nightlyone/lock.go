// Package nightlyone holds the pid file of nightlyone/lockfile (Go, lockfile.go at
// bf01bef5): a complete private file that is linked to the lock's name, and looked at
// after. No report is known.
package nightlyone

import (
	_ "embed"
	"errors"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/run/lock/app.pid"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "nightlyone-lockfile", Lock: lock, Report: "https://github.com/nightlyone/lockfile", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "link-samefile/daemons", Does: "A complete file is linked to the lock's name; processes never end.",
			Lock: protocol, In: kit.In(kit.Contend(3), kit.Daemons), Claims: kit.Holds(me),
		},
		kit.Row{
			ID: "link-samefile/exits", Does: "The same, and processes end: the owner that was read may have ended, and the lock be another's.",
			Lock: protocol, In: kit.In(kit.Contend(3)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "link-samefile/dead-owner", Does: "The same, and the lock of a dead process lies there at the start.",
			Lock: protocol, In: kit.In(kit.Contend(2), kit.DeadOwner(kit.Dead)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "own-pid-is-stale/tasks", Does: "A file with the own pid counts as left behind: it may be another thread's, which holds the lock.",
			Lock: protocol, In: kit.In(kit.Tasks(2)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "own-pid-is-stale/containers", Does: "The same with two containers that share a volume and are process 1 each.",
			Lock: protocol, In: kit.In(kit.Contend(2), kit.Containers(1, 1)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "eperm-is-dead/users", Does: "Any error of kill counts as dead: a user may not ask about another's process, which lives.",
			Lock: protocol, In: kit.In(kit.Contend(2), kit.Users(1000, 1001), kit.Open), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "esrch-is-dead/users", Does: "Only ESRCH counts as dead, and one's own pid as alive; processes never end.",
			Lock: repaired, In: kit.In(kit.Contend(2), kit.Users(1000, 1001), kit.Open, kit.Daemons), Claims: kit.Holds(me),
		},
	)
}

var (
	protocol = pidFile(func(t *scenarios.Task, pid int) bool {
		return pid != t.Getpid() && t.Kill(pid) == nil // any error of kill counts as dead
	})
	repaired = pidFile(func(t *scenarios.Task, pid int) bool { return !kit.Gone(t, pid) })
)

func pidFile(alive func(t *scenarios.Task, pid int) bool) scenarios.Protocol {
	return scenarios.Protocol{Path: lock, Release: release, Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			private, err := kit.Private(t, lock, kit.Me(t))
			if err != nil {
				return kit.Failed(err)
			}
			_ = t.Link(private, lock) // whether it worked is seen by looking
			mine, err1 := t.Lstat(private)
			there, err2 := t.Lstat(lock)
			if err := errors.Join(err1, err2); err != nil {
				return kit.Failed(errors.Join(err, t.Unlink(private)))
			}
			if fsfake.SameFile(mine, there) {
				return scenarios.Hold{}, t.Unlink(private)
			}
			text, err := kit.ReadAll(t, lock)
			pid := kit.PidIn(text)
			if err != nil || pid > 0 && alive(t, pid) {
				return kit.Failed(errors.Join(scenarios.ErrLocked, err, t.Unlink(private)))
			}
			if err := t.Unlink(lock); err != nil && !kit.Missing(err) {
				return kit.Failed(errors.Join(err, t.Unlink(private)))
			}
			_ = t.Unlink(private)
		}
		panic("unreachable")
	}}
}

func release(t *scenarios.Task, _ scenarios.Hold) error {
	text, err := kit.ReadAll(t, lock)
	if err != nil || kit.PidIn(text) != t.Getpid() {
		return errors.Join(err, scenarios.ErrLocked)
	}
	return t.Unlink(lock)
}
