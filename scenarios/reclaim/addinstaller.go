package reclaim

import (
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// addInstaller is the install lock of pilotspace/ADD (Python): whoever reclaims takes a
// ticket, and looks whether the inode is the one that was judged. On ext4 a new lock gets the
// number of the old one at once, and the look sees nothing; on tmpfs, which the report names as
// well, it does not. The repair asks for the age again, under the ticket.
func addInstaller() []scenarios.Scenario {
	const lock, ticket, tooOld = "/home/user/.add/install.lock", "/home/user/.add/install.lock.reclaim", 10 * time.Minute
	sys := kit.System{Name: "add-installer", Lock: lock, Source: kit.Text(files, "addinstaller.go"),
		Report: "https://github.com/pilotspace/ADD/pull/179"}
	protocol := func(age bool) scenarios.Protocol {
		return exclusive(lock, func(t *scenarios.Task) next {
			judged, err := t.Stat(lock)
			if err != nil || !kit.Older(t, judged, tooOld) || kit.Create(t, ticket, "") != nil {
				return wait
			}
			if now, err := t.Stat(lock); err == nil && fsfake.SameFile(now, judged) && (!age || kit.Older(t, now, tooOld)) {
				_ = t.Unlink(lock)
			}
			_ = t.Unlink(ticket)
			return again
		})
	}
	on := func(inodes scenarios.InodeAssumption) []kit.Situation {
		return append(deadOwner(2), func(sc *scenarios.Scenario, _ scenarios.Protocol) { sc.Setting.Assume.Inodes = inodes })
	}
	me, watch := scenarios.MutualExclusion, []string{ticket}
	return sys.Scenarios(
		kit.Row{ID: "same-inode/dead-owner", Does: "Where a new file has a new number, the look notices it.", Lock: protocol(false), In: on(scenarios.InodesNotReused), Claims: kit.Holds(me), Watch: watch},
		kit.Row{ID: "same-inode/ext4", Does: "A new lock has the old one's number at once, and is removed.", Lock: protocol(false), In: on(scenarios.InodesReused), Claims: kit.Broken(me), Watch: watch},
		kit.Row{ID: "same-inode-and-age/ext4", Does: "The age is asked again under the ticket.", Lock: protocol(true), In: on(scenarios.InodesReused), Claims: kit.Holds(me), Watch: watch},
	)
}
