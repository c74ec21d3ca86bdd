package filelock

import (
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// forks holds the lock while a child comes and goes.
func forks(l scenarios.Protocol) scenarios.Program {
	return func(t *scenarios.Task) {
		_ = scenarios.Locked(t, l, func() {
			kit.Fork(t)
			t.Work()
		})
	}
}

// childOf is the child, which has the lock's descriptor from its parent. It unlocks what both
// share, or only closes its copy.
func childOf(unlocks bool) scenarios.Program {
	return func(t *scenarios.Task) {
		if unlocks {
			t.Do(fsfake.Op{Call: fsfake.CallFlock, FD: 3, Flags: fsfake.LOCK_UN})
		}
		t.Do(fsfake.Op{Call: fsfake.CallClose, FD: 3})
	}
}

// victim is a file of the user's that has nothing to do with locks.
const victim = "/home/user/keys"

// saves adds a key to the user's file, and takes a lock some time later.
func saves(flags int) scenarios.Program {
	return kit.Adds(func(t *scenarios.Task, key string) bool {
		return kit.AddLine(t, victim, key, func(t *scenarios.Task, name, text string) error {
			return t.WriteFile(name, []byte(text), 0o600)
		})
	}, func(t *scenarios.Task, key string) bool {
		if info, err := t.Lstat(lock); err != nil || info.Mode().IsRegular() {
			if f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE|os.O_TRUNC|flags, 0o644); err == nil {
				_ = f.Flock(fsfake.LOCK_EX | fsfake.LOCK_NB)
				_ = f.Close()
			}
		}
		return kit.HasLine(t, victim, key)
	})
}

// plants is somebody hostile: it makes a link where the lock will be. Nothing of it is recorded.
var plants scenarios.Program = func(t *scenarios.Task) { _ = t.Symlink(victim, lock) }
