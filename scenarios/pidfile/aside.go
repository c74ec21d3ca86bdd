package pidfile

import (
	"errors"
	"time"

	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// openlock has the lock of openlock 1.1.5 (Python), which the workers of Stockfish's fishtest use: a complete
// file that is linked to the name, or renamed over a dead owner's, and read back.
//
// Source: worker/packages/openlock/openlock.py in official-stockfish/fishtest at 1755a17d. No report of what
// the row "contend" shows is known.
func openlock() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "openlock", Lock: openlockLock, Report: "https://github.com/official-stockfish/fishtest",
		Source: kit.Part(files, "openlock")}
	return sys.Scenarios(
		kit.Row{ID: "replace-read-back/dead-owner",
			Does: "A dead owner's lock is renamed over and read back after a sleep, which need not be long enough.",
			Lock: openlockProtocol, In: kit.In(kit.Contend(2), kit.DeadOwner(kit.Dead)), Claims: kit.Broken(me)},
		kit.Row{ID: "replace-read-back/contend",
			Does: "No dead owner is needed: a lock that vanishes between two looks is taken for a free one.",
			Lock: openlockProtocol, In: kit.In(kit.Contend(3)), Claims: kit.Broken(me)},
	)
}

const openlockLock = "/home/user/worker.lock"

var openlockProtocol = scenarios.Protocol{
	Path: openlockLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		_, err := t.Stat(openlockLock)
		if kit.Missing(err) {
			private, err := kit.Private(t, openlockLock, kit.Me(t))
			if err != nil {
				return kit.Failed(err)
			}
			err = t.Link(private, openlockLock)
			_ = t.Unlink(private)
			if err == nil {
				return scenarios.Hold{}, nil
			}
		}
		owner := openlockRead(t)
		if owner != 0 && !kit.Gone(t, owner) {
			return kit.Locked()
		}
		if owner != 0 && openlockRead(t) != owner {
			return kit.Locked()
		}
		for range 2 {
			private, err := kit.Private(t, openlockLock, kit.Me(t))
			if err != nil {
				return kit.Failed(err)
			}
			if err := t.Rename2(private, openlockLock, 0); err != nil {
				return kit.Failed(err)
			}
			t.Sleep(200 * time.Millisecond)
			switch openlockRead(t) {
			case t.Getpid():
				return scenarios.Hold{}, nil
			case 0:
			default:
				return kit.Locked()
			}
		}
		return kit.Locked()
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error { return t.Unlink(openlockLock) },
}

// openlockRead is the pid in the lock; 0 when there is none, or no lock.
func openlockRead(t *scenarios.Task) int {
	text, _ := kit.ReadAll(t, openlockLock)
	return kit.PidIn(text)
}

// remnic has the takeover of joshuaswarren/remnic (TypeScript): rename the stale lock aside, look, and put it
// back (https://github.com/joshuaswarren/remnic/pull/1604; the same in
// https://github.com/langwatch/langwatch/pull/6435 and https://github.com/voodootikigod/adlc/pull/1039). A
// rename back replaces whatever is there by then, without an error.
func remnic() []scenarios.Scenario {
	me := scenarios.MutualExclusion
	sys := kit.System{Name: "remnic", Lock: remnicLock, Report: "https://github.com/joshuaswarren/remnic/pull/1604",
		Source: kit.Part(files, "remnic")}
	row := func(setting string, n int, does string, claims []scenarios.Claim) kit.Row {
		return kit.Row{ID: "rename-back/" + setting, Does: does, Lock: remnicProtocol,
			In: kit.In(kit.Contend(n), kit.DeadOwner(kit.Dead)), Claims: claims}
	}
	return sys.Scenarios(
		row("pair", 2, "A stale lock is renamed aside, looked at, and put back if it is another: two contenders.",
			kit.Holds(me)),
		row("moved-aside", 2, "While a live lock is aside, its name is free.", kit.Broken(scenarios.ForeignRelease)),
		row("dead-owner", 3, "A third contender takes the free name, and the rename back destroys its lock.",
			kit.Broken(me)),
	)
}

const remnicLock = "/home/user/.remnic/store.lock"

var remnicProtocol = scenarios.Protocol{
	Path: remnicLock,
	Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		private, err := kit.Private(t, remnicLock, kit.Me(t))
		if err != nil {
			return kit.Failed(err)
		}
		for retry := t.Retry(); retry.Next(); {
			err := t.Link(private, remnicLock)
			if !kit.Exists(err) {
				return scenarios.Hold{}, err
			}
			judged, err := kit.ReadAll(t, remnicLock)
			if err == nil && kit.Gone(t, kit.PidIn(judged)) {
				remnicTakeAside(t, judged)
			}
			t.Sleep(kit.Poll)
		}
		panic("unreachable")
	},
	Release: func(t *scenarios.Task, _ scenarios.Hold) error {
		content, err := kit.ReadAll(t, remnicLock)
		if err != nil || kit.PidIn(content) != t.Getpid() {
			return errors.Join(err, scenarios.ErrLocked)
		}
		return t.Unlink(remnicLock)
	},
}

// remnicTakeAside removes the lock that was judged, and puts any other back.
func remnicTakeAside(t *scenarios.Task, judged string) {
	aside := kit.PrivateName(t, remnicLock+".stale")
	if t.Rename2(remnicLock, aside, 0) != nil {
		return
	}
	if content, err := kit.ReadAll(t, aside); err == nil && content == judged {
		_ = t.Unlink(aside)
		return
	}
	_ = t.Rename2(aside, remnicLock, 0)
}
