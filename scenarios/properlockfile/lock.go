// Package properlockfile holds the lock of moxystudio/node-proper-lockfile 4.1.2 (Yarn and
// many build systems): a directory, which its holder touches now and then.
//
// The takeover's race is reported in
// https://github.com/moxystudio/node-proper-lockfile/issues/121, which is open.
package properlockfile

import (
	_ "embed"
	"slices"
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	lock  = "/srv/project/data.lock"
	stale = 10 * time.Second
)

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{
		Name: "proper-lockfile", Lock: lock, Source: source,
		Report: "https://github.com/moxystudio/node-proper-lockfile/issues/121",
	}
	const future = "https://github.com/moxystudio/node-proper-lockfile/pull/109"
	setBack, soon := kit.In(kit.Contend(2), kit.Kill(1), kit.SetBack(time.Hour)), scenarios.WedgeWithin(10*time.Minute)
	release := func(t *scenarios.Task) { _ = t.Rmdir(lock) }
	return sys.Scenarios(
		kit.Row{
			ID: "rmdir-mkdir/dead-owner", Does: "An old lock directory is removed and made anew: another contender removes the new one.",
			Lock: protocol, In: kit.In(kit.Contend(2), kit.DeadDirectory()), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion),
		},
		kit.Row{
			ID: "rmdir-mkdir/late-release", Does: "A holder whose lock has become old releases: it removes its successor's.",
			Lock: protocol, In: kit.In(kit.Roles(kit.Late(release), scenarios.Once(protocol)), kit.DeadDirectory()),
			Claims: kit.Broken(scenarios.ForeignRelease),
		},
		kit.Row{
			ID: "rmdir-mkdir/set-back", Does: "The clock is set back by an hour after the lock was made: for that long its owner seems to be at work, dead or not.",
			Report: future, Lock: protocol, In: setBack, Claims: slices.Concat(kit.Holds(scenarios.MutualExclusion), kit.Broken(soon)),
		},
		kit.Row{
			ID: "future-is-stale/set-back", Does: "Stale is what is ten seconds old, or lies ten seconds in the future: so does the lock of an owner at work when the clock is set back.",
			Report: future, Lock: protocolOf(func(age time.Duration) bool { return age.Abs() > stale }), In: setBack,
			Claims: slices.Concat(kit.Broken(scenarios.MutualExclusion), kit.Holds(soon)),
		},
	)
}

var protocol = protocolOf(func(age time.Duration) bool { return age > stale })

// protocolOf is the lock, with what it takes for the age of a dead owner's.
func protocolOf(isStale func(age time.Duration) bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			err := t.Mkdir(lock, 0o777)
			if kit.Exists(err) {
				info, serr := t.Stat(lock)
				switch {
				case serr == nil && !isStale(t.Now().Sub(info.ModTime())):
					return kit.Locked()
				case serr == nil:
					if err := t.Rmdir(lock); err != nil && !kit.Missing(err) {
						return kit.Failed(err)
					}
				}
				err = t.Mkdir(lock, 0o777) // once more, without a question about age
			}
			if err != nil {
				return kit.Failed(err)
			}
			now := t.Now()
			if err := t.Chtimes(lock, now, now); err != nil { // to learn how fine times are here
				return kit.Failed(err)
			}
			_, err = t.Stat(lock)
			return scenarios.Hold{}, err
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Rmdir(lock) },
	}
}
