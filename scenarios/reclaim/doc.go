// Package reclaim holds lock files whose leftovers are judged and then removed, or
// written over, by their name: reports and reviews of 2016 to 2026.
// They are told as far as the reports tell; what a file does besides is left out. Locks that were
// written down from their sources, and that nobody has reported, are in sources.go, linked.go and qlockfile.go.
//
// What they have in common is in this file: a file that is created or refused, and what
// whoever is refused makes of it.
package reclaim

import (
	"embed"
	"slices"
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// The files of this package are shown in reports.
//
//go:embed *.go
var files embed.FS

// Scenarios lists all systems.
func Scenarios() []scenarios.Scenario {
	return slices.Concat(
		addInstaller(), celoRewards(), claudeRemember(), compactContracts(), factoryFactory(), gnupg(), h2(), ihub(),
		invoker(), khive(), marionette(), mdRedline(), mercurial(), moby(), mulmoclaude(), mysql(), nano(),
		openswarm(), pacman(), phantombot(), puppet(), qLockFile(), rcloneBisync(), shadow(), snakemake(), tmux(),
		xserver(), zsh(),
	)
}

// next is what whoever finds the lock there does then.
type next int

const (
	refuse next = iota // give up
	wait               // poll
	again              // try to create it at once: it has been removed
	taken              // it has been written over, and is one's own
)

// exclusive is a lock file with its owner's pid: open with O_EXCL, write, close, and
// unlink to release. found is asked when it is there.
func exclusive(lock string, found func(t *scenarios.Task) next) scenarios.Protocol {
	return scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				if err := kit.Create(t, lock, kit.Me(t)); !kit.Exists(err) {
					return scenarios.Hold{}, err
				}
				switch found(t) {
				case refuse:
					return kit.Locked()
				case taken:
					return scenarios.Hold{}, nil
				case wait:
					t.Sleep(kit.Poll)
				}
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
}

// owner reads the pid in a lock file; 0 for none.
func owner(t *scenarios.Task, lock string) int {
	text, _ := kit.ReadAll(t, lock)
	return kit.PidIn(text)
}

// old reports whether a lock file was changed longer ago than d; false when it is gone.
func old(t *scenarios.Task, lock string, d time.Duration) bool {
	info, err := t.Stat(lock)
	return err == nil && kit.Older(t, info, d)
}

// deadOwner is n processes that come upon the lock of a process that is long dead.
func deadOwner(n int) []kit.Situation { return kit.In(kit.Contend(n), kit.DeadOwner(kit.Dead)) }
