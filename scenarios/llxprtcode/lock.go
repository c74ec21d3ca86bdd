// Package llxprtcode holds the lock of a recorded conversation in vybestack/llxprt-code
// (TypeScript), https://github.com/vybestack/llxprt-code/issues/3277, repaired in
// https://github.com/vybestack/llxprt-code/pull/3289: a takeover under a guard that is a
// hard link to the lock itself. It has the lock's own text, so it looks abandoned whenever
// it is needed.
package llxprtcode

import (
	_ "embed"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	lock  = "/home/user/.llxprt/chat.lock"
	guard = lock + ".tguard"
)

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "llxprt-code", Lock: lock, Report: "https://github.com/vybestack/llxprt-code/issues/3277", Source: source}
	return sys.Scenarios(kit.Row{
		ID: "guard-is-hard-link/dead-owner", Does: "A dead owner's lock is replaced under a guard that is a link to it, and has its dead owner.",
		Lock: protocol, In: kit.In(kit.Contend(2), kit.DeadOwner(kit.Dead)),
		Claims: kit.Broken(scenarios.MutualExclusion), Watch: []string{guard},
	})
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		private, err := kit.Private(t, lock, kit.Me(t))
		if err != nil {
			return kit.Failed(err)
		}
		err = t.Link(private, lock)
		if !kit.Exists(err) {
			return scenarios.Hold{}, err
		}
		judged, err := kit.ReadAll(t, lock)
		if err != nil || !kit.Gone(t, kit.PidIn(judged)) || !enter(t) {
			return kit.Locked()
		}
		won := false
		if again, err := kit.ReadAll(t, lock); err == nil && again == judged {
			_ = t.Unlink(lock)
			won = t.Link(private, lock) == nil
		}
		_ = t.Unlink(guard)
		if !won {
			return kit.Locked()
		}
		return scenarios.Hold{}, nil
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
}

// enter makes the guard, and removes one whose owner is dead.
func enter(t *scenarios.Task) bool {
	for retry := t.Retry(); retry.Next(); {
		if err := t.Link(lock, guard); !kit.Exists(err) {
			return err == nil
		}
		text, err := kit.ReadAll(t, guard)
		if err != nil || !kit.Gone(t, kit.PidIn(text)) {
			return false
		}
		_ = t.Unlink(guard)
	}
	panic("unreachable")
}
