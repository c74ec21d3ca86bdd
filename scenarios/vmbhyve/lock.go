// Package vmbhyve holds run.lock of churchers/vm-bhyve, virtual machines on FreeBSD
// (https://github.com/churchers/vm-bhyve/pull/555): the name of the host that runs the
// machine. Leftovers of one's own host are ignored; the kernel knows what runs here. Check
// and write are two steps in any case, so two hosts at once are not kept apart.
package vmbhyve

import (
	_ "embed"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	lock = "/vm/guest/run.lock"
	host = "node1"
)

// Scenarios lists the rule for an empty file, and the proposed one.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "vm-bhyve", Lock: lock, Report: "https://github.com/churchers/vm-bhyve/pull/555", Source: source}
	row := func(id, does string, l scenarios.Protocol, claims []scenarios.Claim) kit.Row {
		return kit.Row{ID: id + "/power-loss", Does: does, Lock: l, In: kit.In(kit.Contend(1), kit.LosePower()), Claims: claims}
	}
	return sys.Scenarios(
		row("hostname-lock", "The power is lost: the name is on the disk, the text is not, and an empty text is another host's.", protocol(false), kit.Broken(scenarios.Wedge)),
		row("empty-is-free", "An empty text is taken for no lock.", protocol(true), kit.Holds(scenarios.Wedge)),
	)
}

func protocol(emptyIsFree bool) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			text, err := kit.ReadAll(t, lock)
			free := kit.Missing(err) || err == nil && (text == host || text == "" && emptyIsFree)
			if !free {
				return kit.Locked()
			}
			return scenarios.Hold{}, kit.Replace(t, lock, host)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
}
