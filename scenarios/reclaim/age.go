package reclaim

import (
	"io/fs"
	"strconv"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// addInstaller is the install lock of pilotspace/ADD (Python): whoever reclaims takes a
// ticket, and looks whether the inode is the one that was judged. On ext4 a new lock gets the
// number of the old one at once, and the look sees nothing; on tmpfs, which the report names as
// well, it does not. The fix asks for the age again, under the ticket.
func addInstaller() []scenarios.Scenario {
	const lock, tooOld = "/home/user/.add/install.lock", 10 * time.Minute
	const ticket = lock + ".reclaim"
	sys := kit.System{Name: "add-installer", Lock: lock, Source: kit.Part(files, "addInstaller"),
		Report: "https://github.com/pilotspace/ADD/pull/179"}
	protocol := func(age bool) scenarios.Protocol {
		return exclusive(lock, func(t *scenarios.Task) next {
			judged, err := t.Stat(lock)
			if err != nil || !kit.Older(t, judged, tooOld) || kit.Create(t, ticket, "") != nil {
				return wait
			}
			if now, err := t.Stat(lock); err == nil && fsfake.SameFile(now, judged) &&
				(!age || kit.Older(t, now, tooOld)) {
				_ = t.Unlink(lock)
			}
			_ = t.Unlink(ticket)
			return again
		})
	}
	on := func(inodes scenarios.InodeAssumption) []kit.Situation {
		return append(deadOwner(2), func(sc *scenarios.Scenario, _ scenarios.Protocol) {
			sc.Setting.Assume.Inodes = inodes
		})
	}
	me, watch := scenarios.MutualExclusion, []string{ticket}
	return sys.Scenarios(
		kit.Row{ID: "same-inode/dead-owner", Does: "Where a new file has a new number, the look notices it.",
			Lock: protocol(false), In: on(scenarios.InodesNotReused), Claims: kit.Holds(me), Watch: watch},
		kit.Row{ID: "same-inode/ext4", Does: "A new lock has the old one's number at once, and is removed.",
			Lock: protocol(false), In: on(scenarios.InodesReused), Claims: kit.Broken(me), Watch: watch},
		kit.Row{ID: "same-inode-and-age/ext4", Does: "The age is asked again under the ticket.", Lock: protocol(true),
			In: on(scenarios.InodesReused), Claims: kit.Holds(me), Watch: watch},
	)
}

// celoRewards is the local store of a payout script in celo-org/celo-monorepo (Python): a
// lock that is old by the time that it tells is written over. The time is the file's here.
func celoRewards() []scenarios.Scenario {
	const lock = "/srv/usat/payout.lock"
	sys := kit.System{Name: "celo-rewards", Lock: lock, Source: kit.Part(files, "celoRewards"),
		Report: "https://github.com/celo-org/celo-monorepo/pull/11790"}
	l := exclusive(lock, func(t *scenarios.Task) next {
		if !old(t, lock, time.Hour) {
			return refuse
		}
		_ = kit.Replace(t, lock, kit.Me(t))
		return taken
	})
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "overwrite-old/contend", Does: "Nobody is late: the lock is created or refused.", Lock: l,
			In: kit.In(kit.Contend(3)), Claims: kit.Holds(me)},
		kit.Row{ID: "overwrite-old/dead-owner", Does: "An old lock is written over, by everybody who found it old.",
			Lock: l, In: deadOwner(2), Claims: kit.Broken(me)},
	)
}

// factoryFactory is the file lock of purplefish-ai/factory-factory (TypeScript): an old lock
// is removed if a second stat shows the same inode; later it has an id in its text (the pid
// here), is claimed by a rename, looked at, and given back by a link, which overwrites nothing.
// The id is read before the age; the other way round two contenders suffice.
func factoryFactory() []scenarios.Scenario {
	const lock, pulls, tooOld = "/home/user/.factory/resume.lock", "https://github.com/purplefish-ai/factory-factory/" +
		"pull/", 5 * time.Second
	sys := kit.System{Name: "factory-factory", Lock: lock, Source: kit.Part(files, "factoryFactory"),
		Report: pulls + "866"}
	inode := exclusive(lock, func(t *scenarios.Task) next {
		judged, err := t.Stat(lock)
		if err != nil || !kit.Older(t, judged, tooOld) {
			return wait
		}
		if now, err := t.Stat(lock); err == nil && fsfake.SameFile(now, judged) {
			_ = t.Unlink(lock)
		}
		return again
	})
	claim := exclusive(lock, func(t *scenarios.Task) next {
		id := owner(t, lock)
		if !old(t, lock, tooOld) {
			return wait
		}
		aside := kit.PrivateName(t, lock+".claimed")
		if t.Rename2(lock, aside, 0) != nil {
			return again
		}
		if owner(t, aside) != id {
			_ = t.Link(aside, lock)
		}
		_ = t.Unlink(aside)
		return again
	})
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "same-inode/dead-owner", Does: "The look at the inode and the unlink are two calls.", Lock: inode,
			In: deadOwner(2), Claims: kit.Broken(me)},
		kit.Row{ID: "claim-and-restore/pair", Does: "A live lock that was moved is linked back: two contenders.",
			Report: pulls + "1642", Lock: claim, In: deadOwner(2), Claims: kit.Holds(me)},
		kit.Row{ID: "claim-and-restore/dead-owner",
			Does: "While a live lock is aside, a third contender takes its name.", Report: pulls + "1642", Lock: claim,
			In: deadOwner(3), Claims: kit.Broken(me)},
	)
}

// mdRedline is the lock of dejuknow/md-redline's preferences (JavaScript, bin/file-lock.js).
// Stealing by age is known to be racy and accepted; a release looks for its token first.
func mdRedline() []scenarios.Scenario {
	const lock = "/home/user/.md-redline.json.lock"
	sys := kit.System{Name: "md-redline", Lock: lock, Source: kit.Part(files, "mdRedline"),
		Report: "https://github.com/dejuknow/md-redline/issues/67"}
	l := exclusive(lock, func(t *scenarios.Task) next {
		if !old(t, lock, 30*time.Second) {
			return wait
		}
		_ = t.Unlink(lock)
		return again
	})
	byPath := l.Release
	l.Release = func(t *scenarios.Task, h scenarios.Hold) error {
		if owner(t, lock) != t.Getpid() { // the token begins with the pid, and is read whole
			return nil
		}
		return byPath(t, h)
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "steal-old/contend", Does: "Nobody is late: the lock is created or waited for.", Lock: l,
			In: kit.In(kit.Contend(2)), Claims: kit.Holds(me)},
		kit.Row{ID: "steal-old/dead-owner", Does: "An old lock is unlinked, and by then it may be a new one.", Lock: l,
			In: deadOwner(2), Claims: kit.Broken(me)},
		kit.Row{ID: "steal-old/stall",
			Does: "A holder that stands still for longer than 30 s goes on beside its successor.", Lock: l,
			In: kit.In(kit.Contend(2), kit.Stall(kit.LongAgo)), Claims: kit.Broken(me)},
	)
}

// mulmoclaude is the lock of receptron/mulmoclaude's calendar (TypeScript): a file that says when it
// was made is somebody's for ten seconds. The hosts that share the directory have clocks of their
// own. borgbackup/borg#10077 reports the same of borg 2's locks.
func mulmoclaude() []scenarios.Scenario {
	const (
		lock = "/workspace/calendar.lock"
		ttl  = 10 * time.Second
	)
	sys := kit.System{Name: "mulmoclaude", Lock: lock, Source: kit.Part(files, "mulmoclaude"),
		Report: "https://github.com/receptron/mulmoclaude/pull/2690"}
	written := func(t *scenarios.Task) time.Duration {
		text, err := kit.ReadAll(t, lock)
		at, bad := strconv.ParseInt(text, 10, 64)
		if err != nil || bad != nil {
			return 0
		}
		return t.Now().Sub(time.UnixMilli(at))
	}
	stamped := func(t *scenarios.Task, now func() time.Time) time.Duration {
		info, err := t.Stat(lock)
		if err != nil {
			return 0
		}
		return now().Sub(info.ModTime())
	}
	byReader := func(t *scenarios.Task) time.Duration { return stamped(t, t.Now) }
	byDisk := func(t *scenarios.Task) time.Duration {
		return stamped(t, func() (now time.Time) {
			mine, err := kit.Private(t, lock, "")
			var info fs.FileInfo
			if err == nil {
				if info, err = t.Stat(mine); err == nil {
					now, err = info.ModTime(), t.Unlink(mine)
				}
			}
			if err != nil {
				t.Fault(err)
			}
			return now
		})
	}
	row := func(id, does string, age func(*scenarios.Task) time.Duration, a, b time.Duration,
		claims []scenarios.Claim) kit.Row {
		l := scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				at := strconv.FormatInt(t.Now().UnixMilli(), 10)
				err := kit.Create(t, lock, at)
				if kit.Exists(err) && age(t) > ttl {
					_ = t.Unlink(lock)
					err = kit.Create(t, lock, at)
				}
				if err != nil {
					return kit.Locked()
				}
				return scenarios.Hold{}, nil
			},
			Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
		}
		return kit.Row{ID: id, Does: does, Lock: l, In: kit.In(kit.Contend(2), kit.Skew(a, b)), Claims: claims}
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		row("written-time/owner-behind", "The time in the file is the owner's, the clock that it is compared with "+
			"the reader's: the lock of an owner whose clock is behind looks old.",
			written, -time.Minute, 0, kit.Broken(me)),
		row("file-time/owner-behind", "The age is taken from the file's time, which the disk stamps.", byReader,
			-time.Minute, 0, kit.Holds(me)),
		row("file-time/reader-ahead", "It is still compared with the reader's clock.", byReader, 0, time.Minute,
			kit.Broken(me)),
		row("file-clock/reader-ahead", "The reader makes a file of its own: what the disk stamps there is the time "+
			"that the lock's is compared with.", byDisk, 0, time.Minute, kit.Holds(me)),
	)
}
