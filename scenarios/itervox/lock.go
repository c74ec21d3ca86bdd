// Package itervox holds the pid file of vnovick/itervox (Go), whose race is reported in
// https://github.com/vnovick/itervox/issues/64: nine winners of 24.
package itervox

import (
	_ "embed"
	"errors"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/run/itervox.pid"

// Scenarios lists the file as reported, and as repaired.
func Scenarios() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "itervox", Lock: lock, Report: "https://github.com/vnovick/itervox/issues/64", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "empty-is-stale/contend", Does: "A file without a number counts as stale, and every file is empty at first.",
			Lock: protocol(createAndFill), In: kit.In(kit.Contend(2)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "link-publish/exits", Does: "A complete file is linked to the name; the owner that was read may have ended, and the file be another's.",
			Lock: protocol(link), In: kit.In(kit.Contend(3)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "link-publish/dead-owner", Does: "The same with a dead owner's file: the repair left the reclaim as it was.",
			Lock: protocol(link), In: kit.In(kit.Contend(2), kit.DeadOwner(kit.Dead)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "link-publish/daemons", Does: "The same without a dead owner's file, and nobody ever ends.",
			Lock: protocol(link), In: kit.In(kit.Contend(3), kit.Daemons), Claims: kit.Holds(me),
		},
	)
}

func createAndFill(t *scenarios.Task) error { return kit.Create(t, lock, kit.Me(t)) }

func link(t *scenarios.Task) error {
	private, err := kit.Private(t, lock, kit.Me(t))
	if err != nil {
		return err
	}
	err = t.Link(private, lock)
	return errors.Join(err, t.Unlink(private))
}

func protocol(create func(t *scenarios.Task) error) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				err := create(t)
				if !kit.Exists(err) {
					return scenarios.Hold{}, err
				}
				text, err := kit.ReadAll(t, lock)
				if kit.Missing(err) {
					continue
				}
				if pid := kit.PidIn(text); err != nil || pid > 0 && !kit.Gone(t, pid) {
					return kit.Locked()
				}
				_ = t.Unlink(lock)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error {
			text, err := kit.ReadAll(t, lock)
			if err != nil || kit.PidIn(text) != t.Getpid() {
				return err
			}
			return t.Unlink(lock)
		},
	}
}
