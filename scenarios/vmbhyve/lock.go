// Package vmbhyve holds run.lock of churchers/vm-bhyve, virtual machines on FreeBSD
// (https://github.com/churchers/vm-bhyve/pull/555): the name of the host that runs the
// machine. Leftovers of one's own host are ignored; the kernel knows what runs here. Check
// and write are two steps in any case, so two hosts at once are not kept apart.
package vmbhyve

import (
	_ "embed"
	"errors"
	"os"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	lock = "/vm/guest/run.lock"
	host = "node1"
)

// Scenarios lists the rule for an empty file, the proposed one, and a text that is whole whenever it is there. A disk
// may keep the size of a text without the text, which is zeros and no empty file: ext4 does, xfs and btrfs do not.
func Scenarios() []scenarios.Scenario {
	sys := kit.System{Name: "vm-bhyve", Lock: lock, Report: "https://github.com/churchers/vm-bhyve/pull/555", Source: source}
	row := func(id, does string, l scenarios.Protocol, claims []scenarios.Claim) kit.Row {
		in := kit.In(kit.Contend(1), kit.LosePower())
		return kit.Row{ID: id + "/power-loss", Does: does, Lock: l, In: in, Claims: claims}
	}
	return sys.Scenarios(
		row("hostname-lock",
			"The power is lost: the name is on the disk, the text is not, and an empty text is another host's.",
			protocol(false, replace), kit.Broken(scenarios.Wedge)),
		row("empty-is-free",
			"An empty text is taken for no lock. A disk may also keep its size alone, and zeros are a host.",
			protocol(true, replace), kit.Broken(scenarios.Wedge)),
		row("synced-rename", "The text is written and synced under another name, which is then renamed.",
			protocol(false, rename), kit.Holds(scenarios.Wedge)),
	)
}

func replace(t *scenarios.Task) error { return kit.Replace(t, lock, host) }

// rename makes the lock a file that was whole on the disk before it had the name.
func rename(t *scenarios.Task) error {
	f, err := t.OpenFile(lock+".new", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return err
	}
	_, err = f.WriteString(host)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return t.Rename2(lock+".new", lock, 0)
}

func protocol(emptyIsFree bool, write func(*scenarios.Task) error) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			text, err := kit.ReadAll(t, lock)
			free := kit.Missing(err) || err == nil && (text == host || text == "" && emptyIsFree)
			if !free {
				return kit.Locked()
			}
			return scenarios.Hold{}, write(t)
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
}
