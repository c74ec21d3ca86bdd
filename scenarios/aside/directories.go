package aside

import (
	"slices"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// altimateCode is the lock directory of AltimateAI/altimate-code (TypeScript): one without
// owner.json is stale, and every one is without it at first.
func altimateCode() []scenarios.Scenario {
	const lock = "/home/user/.altimate/local.lock"
	sys := kit.System{Name: "altimate-code", Lock: lock, Source: kit.Part(files, "altimateCode"),
		Report: "https://github.com/AltimateAI/altimate-code/pull/1163"}
	release := func(t *scenarios.Task) error { return removeTree(t, lock, "owner.json") }
	l := directory(lock, func(t *scenarios.Task) error { return kit.Replace(t, lock+"/owner.json", kit.Me(t)) },
		func(t *scenarios.Task) bool {
			text, err := kit.ReadAll(t, lock+"/owner.json")
			if pid := kit.PidIn(text); err == nil && pid != 0 && !kit.Gone(t, pid) {
				return false
			}
			_ = release(t)
			return true
		}, release)
	return sys.Scenarios(kit.Row{ID: "no-owner-is-stale/contend",
		Does: "A directory without owner.json is removed, also one that is being filled.", Lock: l,
		In: kit.In(kit.Contend(2)), Claims: kit.Broken(scenarios.MutualExclusion),
		Watch: []string{lock + "/owner.json"}})
}

// demarkus is the lock directory of latebit-io/demarkus (Go): the pid is written after the
// directory is made, and a directory without one is never reclaimed.
func demarkus() []scenarios.Scenario {
	const lock = "/home/user/.demarkus/plugin.lock"
	sys := kit.System{Name: "demarkus", Lock: lock, Source: kit.Part(files, "demarkus"),
		Report: "https://github.com/latebit-io/demarkus/pull/302"}
	release := func(t *scenarios.Task) error { return removeTree(t, lock, "pid") }
	l := directory(lock, func(t *scenarios.Task) error { return kit.Replace(t, lock+"/pid", kit.Me(t)) },
		func(t *scenarios.Task) bool {
			text, err := kit.ReadAll(t, lock+"/pid")
			if pid := kit.PidIn(text); err != nil || pid == 0 || !kit.Gone(t, pid) {
				return false
			}
			return release(t) == nil
		}, release)
	return sys.Scenarios(
		kit.Row{ID: "mkdir-then-pid/contend",
			Does: "A directory without a pid is in the making, and respected; nobody ever ends.", Lock: l,
			In: kit.In(kit.Contend(2), kit.Daemons), Claims: kit.Holds(scenarios.MutualExclusion)},
		kit.Row{ID: "mkdir-then-pid/crash",
			Does: "Who is killed before the pid is written leaves a directory that nobody ever reclaims.", Lock: l,
			In: kit.In(kit.Contend(2), kit.Kill(1)), Claims: kit.Broken(scenarios.Wedge)},
	)
}

// noodle is the lock directory of wilfredinni/noodle (TypeScript): an old one is renamed to
// a unique name, and removed there.
func noodle() []scenarios.Scenario {
	const lock = "/home/user/.noodle/secrets.lock"
	sys := kit.System{Name: "noodle", Lock: lock, Source: kit.Part(files, "noodle"),
		Report: "https://github.com/wilfredinni/noodle/pull/230"}
	l := directory(lock, nil, func(t *scenarios.Task) bool {
		info, err := t.Stat(lock)
		if err != nil || !kit.Older(t, info, 30*time.Second) {
			return false
		}
		stale := kit.PrivateName(t, lock+".stale")
		if t.Rename2(lock, stale, 0) == nil {
			_ = t.Rmdir(stale)
		}
		return true
	}, func(t *scenarios.Task) error { return t.Rmdir(lock) })
	me := scenarios.MutualExclusion
	return sys.Scenarios(
		kit.Row{ID: "rename-old/contend", Does: "Nobody is late: the directory is made or waited for.", Lock: l,
			In: kit.In(kit.Contend(3)), Claims: kit.Holds(me)},
		kit.Row{ID: "rename-old/dead-owner",
			Does: "An old directory is renamed away, and by then it may be a new one.", Lock: l,
			In: kit.In(kit.Contend(2), kit.DeadDirectory()), Claims: kit.Broken(me)},
		kit.Row{ID: "rename-old/stall",
			Does: "A holder that stands still for longer than 30 s goes on beside its successor.", Lock: l,
			In: kit.In(kit.Contend(2), kit.Stall(kit.LongAgo)), Claims: kit.Broken(me)},
		kit.Row{ID: "rename-old/crash",
			Does: "A holder that is killed keeps everybody out until its directory is 30 s old.", Lock: l,
			In: kit.In(kit.Contend(2), kit.Kill(1)),
			Claims: slices.Concat(kit.Holds(scenarios.Wedge, scenarios.WedgeWithin(31*time.Second)),
				kit.Broken(scenarios.WedgeWithin(29*time.Second)))},
	)
}

// primeAgent is the bootstrap lock of PrimeIntellect-ai/prime-agent (TypeScript): as reported
// (issue 1005) a stale directory is removed and made anew; as fixed a directory with the
// pid in it is renamed to the name, and a stale one renamed away, "so a live lock created
// in the interim is never touched".
func primeAgent() []scenarios.Scenario {
	const lock = "/home/user/.prime/bootstrap.lock"
	sys := kit.System{Name: "prime-agent", Lock: lock, Source: kit.Part(files, "primeAgent"),
		Report: "https://github.com/PrimeIntellect-ai/prime-agent/pull/1006"}
	release := func(t *scenarios.Task) error { return removeTree(t, lock, "pid") }
	dead := func(t *scenarios.Task) bool {
		text, err := kit.ReadAll(t, lock+"/pid")
		return err == nil && kit.Gone(t, kit.PidIn(text))
	}
	write := func(t *scenarios.Task, dir string) error { return kit.Create(t, dir+"/pid", kit.Me(t)) }
	rm := directory(lock, func(t *scenarios.Task) error { return write(t, lock) }, func(t *scenarios.Task) bool {
		return dead(t) && release(t) == nil
	}, release)
	candidate := scenarios.Protocol{
		Path: lock,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			mine, away := kit.PrivateName(t, lock+".candidate"), kit.PrivateName(t, lock+".stale")
			if err := t.Mkdir(mine, 0o777); err != nil {
				return kit.Failed(err)
			}
			if err := write(t, mine); err != nil {
				return kit.Failed(err)
			}
			for retry := t.Retry(); retry.Next(); {
				if t.Rename2(mine, lock, 0) == nil {
					return scenarios.Hold{}, nil
				}
				if dead(t) && t.Rename2(lock, away, 0) == nil {
					_ = removeTree(t, away, "pid")
				}
				t.Sleep(kit.Poll)
			}
			panic("unreachable")
		},
		Release: func(t *scenarios.Task, _ scenarios.Hold) error { return release(t) },
	}
	there := kit.Old(func(p *fsfake.Proc, lock string) error {
		if err := p.Mkdir(lock, 0o777); err != nil {
			return err
		}
		return p.WriteFile(lock+"/pid", []byte(kit.Dead), 0o666)
	})
	me, issue := scenarios.MutualExclusion, "https://github.com/PrimeIntellect-ai/prime-agent/issues/1005"
	return sys.Scenarios(
		kit.Row{ID: "remove-then-mkdir/dead-owner", Does: "A dead owner's directory is removed and made anew.",
			Report: issue, Lock: rm, In: kit.In(kit.Contend(2), there), Claims: kit.Broken(me)},
		kit.Row{ID: "candidate-rename/contend",
			Does: "A complete directory is renamed to the name, which fails where one with a file is.",
			Lock: candidate, In: kit.In(kit.Contend(2), kit.Daemons), Claims: kit.Holds(me)},
		kit.Row{ID: "candidate-rename/dead-owner",
			Does: "A dead owner's directory is renamed away, and by then it may be a living one's.", Lock: candidate,
			In: kit.In(kit.Contend(2), there), Claims: kit.Broken(me)},
	)
}

// properLockfile2 is bybraveHQ/proper-lockfile2, a fork that fixes the takeover of
// proper-lockfile: a stale directory is claimed by a rename to a unique name, and its time
// looked at there. What becomes of a live one is not told; here it is renamed back.
func properLockfile2() []scenarios.Scenario {
	const lock = "/srv/app/data.lock"
	sys := kit.System{Name: "proper-lockfile2", Lock: lock, Source: kit.Part(files, "properLockfile2"),
		Report: "https://github.com/moxystudio/node-proper-lockfile/issues/121"}
	l := directory(lock, nil, func(t *scenarios.Task) bool {
		judged, err := t.Stat(lock)
		if err != nil || !kit.Older(t, judged, 10*time.Second) {
			return false
		}
		claimed := kit.PrivateName(t, lock+".claimed")
		if t.Rename2(lock, claimed, 0) != nil {
			return true
		}
		if now, err := t.Stat(claimed); err == nil && !now.ModTime().Equal(judged.ModTime()) {
			_ = t.Rename2(claimed, lock, 0)
			return false
		}
		_ = t.Rmdir(claimed)
		return true
	}, func(t *scenarios.Task) error { return t.Rmdir(lock) })
	me := scenarios.MutualExclusion
	dead := kit.DeadDirectory()
	return sys.Scenarios(
		kit.Row{ID: "claim-by-rename/pair", Does: "A live directory that was moved is renamed back: two contenders.",
			Lock: l, In: kit.In(kit.Contend(2), dead), Claims: kit.Holds(me)},
		kit.Row{ID: "claim-by-rename/dead-owner", Does: "While it is away a third contender makes its own.", Lock: l,
			In: kit.In(kit.Contend(3), dead), Claims: kit.Broken(me)},
	)
}
