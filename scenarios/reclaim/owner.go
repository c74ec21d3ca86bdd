package reclaim

import (
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// claudeRemember is save.lock of Digital-Process-Tools/claude-remember (shell): written over,
// then removed, created and read back. The issue counts no double holder in 40 rounds with
// two contenders; two suffice.
func claudeRemember() []scenarios.Scenario {
	const lock, pulls = "/home/user/.remember/save.lock", "https://github.com/Digital-Process-Tools/claude-remember/"
	sys := kit.System{Name: "claude-remember", Lock: lock, Source: kit.Part(files, "claudeRemember"),
		Report: pulls + "issues/182"}
	stale := func(then func(t *scenarios.Task) next) scenarios.Protocol {
		return exclusive(lock, func(t *scenarios.Task) next {
			if pid := owner(t, lock); pid == 0 || !kit.Gone(t, pid) {
				return refuse
			}
			return then(t)
		})
	}
	over := stale(func(t *scenarios.Task) next { _ = kit.Replace(t, lock, kit.Me(t)); return taken })
	verify := stale(func(t *scenarios.Task) next {
		_ = t.Unlink(lock)
		if kit.Create(t, lock, kit.Me(t)) != nil || owner(t, lock) != t.Getpid() {
			return refuse
		}
		return taken
	})
	return sys.Scenarios(
		kit.Row{ID: "overwrite/dead-owner", Does: "A dead owner's lock is written over.", Report: pulls + "pull/181",
			Lock: over, In: deadOwner(2), Claims: kit.Broken(scenarios.MutualExclusion)},
		kit.Row{ID: "recreate-and-verify/dead-owner",
			Does: "It is removed, created or refused, and read back: a later contender removes what was verified.",
			Lock: verify, In: deadOwner(2), Claims: kit.Broken(scenarios.MutualExclusion)},
	)
}

// compactContracts is the run lock of OpenZeppelin/compact-contracts (TypeScript): a dead
// owner's lock is written over. The review proposes to unlink it and to create it again.
func compactContracts() []scenarios.Scenario {
	const lock = "/tmp/compact-live.lock"
	sys := kit.System{Name: "compact-contracts", Lock: lock, Source: kit.Part(files, "compactContracts"),
		Report: "https://github.com/OpenZeppelin/compact-contracts/pull/717"}
	stale := func(then func(t *scenarios.Task) next) scenarios.Protocol {
		return exclusive(lock, func(t *scenarios.Task) next {
			if pid := owner(t, lock); pid != 0 && !kit.Gone(t, pid) {
				return refuse
			}
			return then(t)
		})
	}
	over := stale(func(t *scenarios.Task) next { _ = kit.Replace(t, lock, kit.Me(t)); return taken })
	anew := stale(func(t *scenarios.Task) next { _ = t.Unlink(lock); return again })
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "overwrite-stale/dead-owner",
			Does: "A dead owner's lock is written over, by everybody who found it dead.", Lock: over, In: deadOwner(2),
			Claims: kit.Broken(me)},
		kit.Row{ID: "overwrite-stale/contend", Does: "So is one that has no text yet: no dead owner is needed.",
			Lock: over, In: kit.In(kit.Contend(2)), Claims: kit.Broken(me)},
		kit.Row{ID: "unlink-stale/dead-owner",
			Does: "The proposed fix, unlink and create: what is unlinked may be a living one's by then.",
			Lock: anew, In: deadOwner(2), Claims: kit.Broken(me)},
	)
}

// ihub is the scheduler's lock of intrafind/ihub-apps (JavaScript): a look, and then a
// private file that is renamed to the name. The review proposes to read it back.
func ihub() []scenarios.Scenario {
	const lock = "/srv/ihub/scheduler.lock"
	sys := kit.System{Name: "ihub", Lock: lock, Source: kit.Part(files, "ihub"),
		Report: "https://github.com/intrafind/ihub-apps/pull/1647"}
	protocol := func(readBack bool) scenarios.Protocol {
		return scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				if pid := owner(t, lock); pid != 0 && !kit.Gone(t, pid) {
					return kit.Locked()
				}
				private, err := kit.Private(t, lock, kit.Me(t))
				if err == nil {
					err = t.Rename2(private, lock, 0)
				}
				if err == nil && readBack && owner(t, lock) != t.Getpid() {
					err = scenarios.ErrLocked
				}
				return scenarios.Hold{}, err
			},
			Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
		}
	}
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "rename/contend", Does: "Two see no lock, and rename their own to the name one after the other.",
			Lock: protocol(false), In: kit.In(kit.Contend(2)), Claims: kit.Broken(me)},
		kit.Row{ID: "rename-read-back/contend",
			Does: "The proposed fix: who reads his own text back may be overwritten after that.",
			Lock: protocol(true), In: kit.In(kit.Contend(2)), Claims: kit.Broken(me)},
	)
}

// invoker is the worker lock of Neko-Catpital-Labs/Invoker (TypeScript): what cannot be
// parsed is stale, and every lock is empty at first.
func invoker() []scenarios.Scenario {
	const lock = "/home/user/.invoker/worker.lock"
	sys := kit.System{Name: "invoker", Lock: lock, Source: kit.Part(files, "invoker"),
		Report: "https://github.com/Neko-Catpital-Labs/Invoker/pull/2196"}
	l := exclusive(lock, func(t *scenarios.Task) next {
		if pid := owner(t, lock); pid != 0 && !kit.Gone(t, pid) {
			return refuse
		}
		_ = t.Unlink(lock)
		return again
	})
	return sys.Scenarios(
		kit.Row{ID: "corrupt-is-stale/contend",
			Does: "A lock that cannot be parsed is removed, also one that is being written.", Lock: l,
			In: kit.In(kit.Contend(2)), Claims: kit.Broken(scenarios.MutualExclusion)},
		kit.Row{ID: "corrupt-is-stale/dead-owner",
			Does: "The lock of a dead process is unlinked, whatever it is by then.", Lock: l, In: deadOwner(2),
			Claims: kit.Broken(scenarios.MutualExclusion)},
	)
}

// khive is the pid file of ohdearquant/khive's daemon (Rust): an old daemon that is still
// draining removes the file of its replacement when it ends.
func khive() []scenarios.Scenario {
	const lock = "/home/user/.khive/daemon.pid"
	sys := kit.System{Name: "khive", Lock: lock, Source: kit.Part(files, "khive"),
		Report: "https://github.com/ohdearquant/khive/issues/645"}
	replacement := scenarios.Protocol{ // the recovery has judged the old daemon stale
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			_ = t.Unlink(lock)
			return scenarios.Hold{}, kit.Create(t, lock, kit.Me(t))
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
	ends := func(checked bool) []kit.Situation {
		late := kit.Late(func(t *scenarios.Task) {
			if !checked || owner(t, lock) == t.Getpid() {
				_ = t.Unlink(lock)
			}
		})
		return kit.In(kit.Roles(late, scenarios.Once(replacement)), kit.DeadOwner(kit.PidText(scenarios.Pid(0))))
	}
	return sys.Scenarios(
		kit.Row{ID: "unlink-at-end/late-exit", Does: "The old daemon removes whatever stands at the name.",
			Lock: replacement, In: ends(false), Claims: kit.Broken(scenarios.ForeignRelease)},
		kit.Row{ID: "unlink-own-at-end/late-exit", Does: "It looks for its own pid first, and that is another call.",
			Lock: replacement, In: ends(true), Claims: kit.Broken(scenarios.ForeignRelease)},
	)
}

// marionette is the pid file of choria-legacy/marionette-collective (Ruby), as merged: the
// look comes first, and then an exclusive creation.
func marionette() []scenarios.Scenario {
	const lock = "/run/mcollective.pid"
	sys := kit.System{Name: "marionette-collective", Lock: lock, Source: kit.Part(files, "marionette"),
		Report: "https://github.com/choria-legacy/marionette-collective/pull/366"}
	l := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			if text, err := kit.ReadAll(t, lock); err == nil {
				if pid := kit.PidIn(text); pid != 0 && !kit.Gone(t, pid) {
					return kit.Locked()
				}
				_ = t.Unlink(lock) // no pid in it, or a dead one
			}
			return scenarios.Hold{}, kit.Create(t, lock, kit.Me(t))
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(lock) },
	}
	return sys.Scenarios(
		kit.Row{ID: "look-then-exclusive/contend",
			Does: "A file without a pid is removed, also one that is being written.", Lock: l,
			In: kit.In(kit.Contend(2)), Claims: kit.Broken(scenarios.MutualExclusion)},
		kit.Row{ID: "look-then-exclusive/dead-owner", Does: "A dead owner's file is removed, whatever it is by then.",
			Lock: l, In: deadOwner(2), Claims: kit.Broken(scenarios.MutualExclusion)},
	)
}

// openswarm is the lock of Intrect-io/OpenSwarm's task state (TypeScript). A container gives
// the daemon the same pid at every start, so a leftover looked alive for ever (75 minutes of
// outage); since then a lock older than ten minutes is free whoever has it. Bare pids wedge
// Signet-AI/signetai (issue 1926), getpaseo/paseo (5128) and elizaOS/eliza (11222) alike.
func openswarm() []scenarios.Scenario {
	const lock = "/data/task-state.json.lock"
	sys := kit.System{Name: "openswarm", Lock: lock, Source: kit.Part(files, "openswarm"),
		Report: "https://github.com/Intrect-io/OpenSwarm/pull/428"}
	protocol := func(age bool) scenarios.Protocol {
		return exclusive(lock, func(t *scenarios.Task) next {
			pid := owner(t, lock)
			if (pid == 0 || !kit.Gone(t, pid)) && !(age && old(t, lock, 10*time.Minute)) {
				return refuse
			}
			_ = t.Unlink(lock)
			return again
		})
	}
	recycled := kit.In(kit.Contend(1), kit.DeadOwner(kit.Dead), kit.Running(scenarios.DeadPid, 900), kit.Probe)
	return sys.Scenarios(
		kit.Row{ID: "pid-only/recycled-pid", Does: "The dead owner's pid is another process's: nobody ever gets in.",
			Lock: protocol(false), In: recycled, Claims: kit.Broken(scenarios.Wedge)},
		kit.Row{ID: "pid-or-age/recycled-pid", Does: "A lock older than ten minutes is free, whoever has its pid.",
			Lock: protocol(true), In: recycled, Claims: kit.Holds(scenarios.Wedge)},
		kit.Row{ID: "pid-or-age/stall", Does: "A holder that stands still for ten minutes is robbed while it lives.",
			Lock: protocol(true), In: kit.In(kit.Contend(2), kit.Stall(kit.LongAgo)),
			Claims: kit.Broken(scenarios.MutualExclusion)},
		kit.Row{ID: "pid-or-age/dead-owner", Does: "Two who judge it remove each other's.", Lock: protocol(true),
			In: deadOwner(2), Claims: kit.Broken(scenarios.MutualExclusion)},
	)
}

// phantombot is the run lock of phantomyard/phantombot (TypeScript). The pull request closes
// the race of the empty file; its reviewers found the one of the stale file, which is left.
func phantombot() []scenarios.Scenario {
	const lock = "/home/user/.phantombot/run.lock"
	sys := kit.System{Name: "phantombot-runlock", Lock: lock, Source: kit.Part(files, "phantombot"),
		Report: "https://github.com/phantomyard/phantombot/pull/356"}
	l := exclusive(lock, func(t *scenarios.Task) next {
		pid := owner(t, lock)
		if pid == 0 || !kit.Gone(t, pid) { // an empty file is in the making
			return refuse
		}
		_ = t.Unlink(lock)
		return again
	})
	return sys.Scenarios(
		kit.Row{ID: "unlink-then-create/contend",
			Does: "An empty lock is in the making and respected; nobody has died.", Lock: l,
			In: kit.In(kit.Contend(3), kit.Daemons), Claims: kit.Holds(scenarios.MutualExclusion)},
		kit.Row{ID: "unlink-then-create/dead-owner", Does: "The lock of a dead process is unlinked, and then created.",
			Lock: l, In: deadOwner(2), Claims: kit.Broken(scenarios.MutualExclusion)},
	)
}
