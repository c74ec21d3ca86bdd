// Package npmcli holds the lock with which npm's libnpmexec lets concurrent npx runs
// install one after the other (https://github.com/npm/cli/pull/8512, source
// workspaces/libnpmexec/lib/with-lock.js at 02f0c942): a directory that is touched every
// 100 ms.
//
// The release runs its clean-up twice. No report of what follows is known; it is read from
// the source.
package npmcli

import (
	_ "embed"
	"errors"
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	lock  = "/home/.npm/_npx/app.lock"
	stale = 5 * time.Second
)

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "npm-cli-with-lock", Lock: lock, Report: "https://github.com/npm/cli/pull/8512", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "release-twice/pair", Does: "A release removes the directory twice: the second time it may be somebody else's.",
			Lock: protocol(2), In: kit.In(kit.Contend(2)), Alike: true, Claims: kit.Broken(scenarios.ForeignRelease),
		},
		kit.Row{
			ID: "release-twice/contend", Does: "The same with a third process, which finds the name free.",
			Lock: protocol(2), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Broken(scenarios.MutualExclusion),
		},
		kit.Row{
			ID: "release-once/contend", Does: "The same, and a release removes the directory once.",
			Lock: protocol(1), In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(scenarios.MutualExclusion),
		},
	)
}

// protocol is the lock with a release that removes the directory so many times.
func protocol(removals int) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				err := t.Mkdir(lock, 0o777)
				if err == nil {
					_, err = t.Stat(lock) // for the heartbeat
					return scenarios.Hold{}, err
				}
				info, serr := t.Stat(lock)
				switch {
				case !kit.Exists(err):
					return kit.Failed(err)
				case kit.Missing(serr):
				case serr != nil:
					return kit.Failed(serr)
				case kit.Older(t, info, stale):
					_ = t.Rmdir(lock)
				default:
					t.Sleep(kit.Poll)
				}
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			var errs []error
			for range removals {
				if err := t.Rmdir(lock); !kit.Missing(err) {
					errs = append(errs, err)
				}
			}
			return errors.Join(errs...)
		},
	}
}
