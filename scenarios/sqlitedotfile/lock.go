// Package sqlitedotfile holds SQLite's unix-dotfile locking, os_unix.c, for file systems
// without locks that work: a directory. There is no rule for one that was left behind.
package sqlitedotfile

import (
	_ "embed"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/srv/app.db.lock"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "sqlite-dotfile", Lock: lock, Report: "https://github.com/sqlite/sqlite/blob/master/src/os_unix.c", Source: source}
	return sys.Scenarios(kit.Row{
		ID: "mkdir/crash", Does: "A directory is the lock; whoever is killed leaves it for ever.",
		Lock: protocol, In: kit.In(kit.Contend(2), kit.Kill(1)), Alike: true,
		Claims: append(kit.Broken(scenarios.Wedge), kit.Holds(scenarios.MutualExclusion)...),
	})
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		if err := t.Mkdir(lock, 0o777); err != nil {
			return kit.Locked()
		}
		return scenarios.Hold{}, nil
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Rmdir(lock) },
}
