// Package instar holds the lock of JKHeadley/instar (TypeScript), one server for a state
// directory (https://github.com/JKHeadley/instar/pull/1407 and
// https://github.com/JKHeadley/instar/issues/1553, eleven hours of outage). Its text is
// "host:pid". Neither rule for another host's lock is right; the first keeps mutual
// exclusion.
package instar

import (
	_ "embed"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const lock = "/srv/instar/server.lock"

// Scenarios lists the two rules.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "instar", Lock: lock, Report: "https://github.com/JKHeadley/instar/issues/1553", Source: source}
	return sys.Scenarios(
		kit.Row{
			ID: "foreign-host-held/renamed-host", Does: "Another host's lock is always held, and the host has another name today.",
			Lock: on("new", false),
			In:   kit.In(kit.Contend(1), kit.DeadOwner(fmt.Sprintf("old:%d", scenarios.DeadPid)), kit.Probe), Claims: kit.Broken(scenarios.Wedge),
		},
		kit.Row{
			ID: "foreign-host-stale/two-hosts", Does: "Another host's lock is always stale.",
			In:     kit.In(kit.Roles(scenarios.Once(on("one", true)), scenarios.Once(on("two", true)))),
			Claims: kit.Broken(scenarios.MutualExclusion),
		},
	)
}

// on is the lock on a host, with a rule for locks of other hosts.
func on(host string, foreignIsStale bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				err := publish(t, fmt.Sprintf("%s:%d", host, t.Getpid()))
				if !kit.Exists(err) {
					return scenarios.Hold{}, err
				}
				text, err := kit.ReadAll(t, lock)
				if kit.Missing(err) {
					continue
				}
				there, id, _ := strings.Cut(text, ":")
				pid, _ := strconv.Atoi(id)
				stale := foreignIsStale
				if there == host {
					stale = kit.Gone(t, pid)
				}
				if err != nil || !stale {
					return kit.Locked()
				}
				_ = t.Unlink(lock)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
}

func publish(t *scenarios.Task, text string) error {
	private, err := kit.Private(t, lock, text)
	if err != nil {
		return err
	}
	err = t.Link(private, lock)
	return errors.Join(err, t.Unlink(private))
}
