// Package dev3 holds the lock directory of h0x91b/dev-3.0 (TypeScript), made with mkdir -p
// where its parent is missing (https://github.com/h0x91b/dev-3.0/pull/660). Its rule for
// old locks is left out.
package dev3

import (
	_ "embed"
	"path"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/home/user/.dev3/locks/project"

// Scenarios lists the lock before and after the repair.
func Scenarios() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "dev3", Lock: lock, Report: "https://github.com/h0x91b/dev-3.0/pull/660", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "mkdir-recursive/contend", Does: "Where the parent is missing the lock is made with mkdir -p, which swallows that it is there.",
			Lock: protocol(true), In: kit.In(kit.Contend(2), kit.NoDirectory), Alike: true, Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "mkdir-plain/contend", Does: "Only the parent is made so, and then the lock is tried again.",
			Lock: protocol(false), In: kit.In(kit.Contend(2), kit.NoDirectory), Alike: true, Claims: kit.Holds(me),
		},
	)
}

func protocol(recursive bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				err := t.Mkdir(lock, 0o777)
				if err == nil {
					return scenarios.Hold{}, nil
				}
				if !kit.Missing(err) {
					t.Sleep(kit.Poll)
					continue
				}
				if err := t.Mkdir(path.Dir(lock), 0o777); err != nil && !kit.Exists(err) {
					return kit.Failed(err)
				}
				if !recursive {
					continue
				}
				if err := t.Mkdir(lock, 0o777); err == nil || kit.Exists(err) {
					return scenarios.Hold{}, nil
				}
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Rmdir(lock) },
	}
}
