package reclaim

import (
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// mdRedline is the lock of dejuknow/md-redline's preferences (JavaScript, bin/file-lock.js).
// Stealing by age is known to be racy and accepted; a release looks for its token first.
func mdRedline() []scenarios.Scenario {
	const lock = "/home/user/.md-redline.json.lock"
	sys := kit.System{Name: "md-redline", Lock: lock, Source: kit.Text(files, "mdredline.go"),
		Report: "https://github.com/dejuknow/md-redline/issues/67"}
	l := exclusive(lock, func(t *scenarios.Task) next {
		if !old(t, lock, 30*time.Second) {
			return wait
		}
		_ = t.Unlink(lock)
		return again
	})
	byPath := l.Release
	l.Release = func(t *scenarios.Task, h scenarios.Hold) error {
		if owner(t, lock) != t.Getpid() { // the token begins with the pid, and is read whole
			return nil
		}
		return byPath(t, h)
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "steal-old/contend", Does: "Nobody is late: the lock is created or waited for.", Lock: l, In: kit.In(kit.Contend(2)), Claims: kit.Holds(me)},
		kit.Row{ID: "steal-old/dead-owner", Does: "An old lock is unlinked, and by then it may be a new one.", Lock: l, In: deadOwner(2), Claims: kit.Broken(me)},
		kit.Row{
			ID: "steal-old/stall", Does: "A holder that stands still for longer than 30 s goes on beside its successor.",
			Lock: l, In: kit.In(kit.Contend(2), kit.Stall(kit.LongAgo)), Claims: kit.Broken(me),
		},
	)
}
