// Package remnic holds the takeover of joshuaswarren/remnic (TypeScript): rename the stale
// lock aside, look, and put it back (https://github.com/joshuaswarren/remnic/pull/1604; the
// same in https://github.com/langwatch/langwatch/pull/6435 and
// https://github.com/voodootikigod/adlc/pull/1039). A rename back replaces whatever is
// there by then, without an error.
package remnic

import (
	_ "embed"
	"errors"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/home/user/.remnic/store.lock"

// Scenarios lists the situations of the lock.
func Scenarios() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "remnic", Lock: lock, Report: "https://github.com/joshuaswarren/remnic/pull/1604", Source: source}
	row := func(setting string, n int, does string, claims []scenarios.Claim) kit.Row {
		return kit.Row{
			ID: "rename-back/" + setting, Does: does, Lock: protocol,
			In: kit.In(kit.Contend(n), kit.DeadOwner(kit.Dead)), Claims: claims,
		}
	}
	return sys.Scenarios(
		row("pair", 2, "A stale lock is renamed aside, looked at, and put back if it is another: two contenders.", kit.Holds(me)),
		row("moved-aside", 2, "While a live lock is aside, its name is free.", kit.Broken(scenarios.ForeignRelease)),
		row("dead-owner", 3, "A third contender takes the free name, and the rename back destroys its lock.", kit.Broken(me)),
	)
}

var protocol = scenarios.Protocol{
	Path: lock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		private, err := kit.Private(t, lock, kit.Me(t))
		if err != nil {
			return kit.Failed(err)
		}
		for retry := t.Retry(); retry.Next(); {
			err := t.Link(private, lock)
			if !kit.Exists(err) {
				return scenarios.Hold{}, err
			}
			judged, err := kit.ReadAll(t, lock)
			if err == nil && kit.Gone(t, kit.PidIn(judged)) {
				takeAside(t, judged)
			}
			t.Sleep(kit.Poll)
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error {
		content, err := kit.ReadAll(t, lock)
		if err != nil || kit.PidIn(content) != t.Getpid() {
			return errors.Join(err, scenarios.ErrLocked)
		}
		return t.Unlink(lock)
	},
}

// takeAside removes the lock that was judged, and puts any other back.
func takeAside(t *scenarios.Task, judged string) {
	aside := kit.PrivateName(t, lock+".stale")
	if t.Rename2(lock, aside, 0) != nil {
		return
	}
	if content, err := kit.ReadAll(t, aside); err == nil && content == judged {
		_ = t.Unlink(aside)
		return
	}
	_ = t.Rename2(aside, lock, 0)
}
