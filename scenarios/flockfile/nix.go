package flockfile

import (
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// nix has Nix's locks beside store paths (src/libstore/unix/pathlocks.cc at 0e35cd6f), and what its callers
// make of them: locks that are kept, taken in two orders, taken twice, and upgraded.
func nix() []scenarios.Scenario {
	me, dead := scenarios.MutualExclusion, scenarios.Deadlock
	sys := kit.System{Name: "nix", Lock: nixLock, Report: nixIssues + "blob/master/src/libstore/unix/pathlocks.cc",
		Source: kit.Part(files, "nix")}
	other := []string{nixSecond}
	return sys.Scenarios(
		kit.Row{ID: "unlink-then-mark/contend",
			Does: "The holder unlinks the file and marks it with a byte: who waited on it sees the byte and starts " +
				"over.", Lock: nixProtocol, In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(me)},
		kit.Row{ID: "unlink-then-mark/crash", Does: "The same, and the holder is killed between the two.",
			Lock: nixProtocol, In: kit.In(kit.Contend(3), kit.Kill(1)), Alike: true, Claims: kit.Broken(me)},
		kit.Row{ID: "wait-eintr/interrupt",
			Does: "The waiting flock is interrupted by a caught signal, and nobody looks what it answers.",
			Lock: nixWaiting(false), In: kit.In(kit.Contend(2), kit.FailCalls(1, fsfake.EINTR)),
			Claims: kit.Broken(me)},
		kit.Row{ID: "wait-checked/interrupt", Does: "The same, and a wait that is interrupted is no lock.",
			Lock: nixWaiting(true), In: kit.In(kit.Contend(2), kit.FailCalls(1, fsfake.EINTR)), Claims: kit.Holds(me)},
		kit.Row{ID: "keep-until-exit/contend",
			Does:   "Locks of what is built are kept until the process ends, and two processes build in two orders.",
			Report: nixIssues + "issues/6468",
			In:     kit.In(kit.Roles(nixKeep(nixLock, nixSecond), nixKeep(nixSecond, nixLock))),
			Claims: kit.Broken(dead),
			Watch:  other},
		kit.Row{ID: "unlock-early/contend", Does: "The first lock is released before the second is taken.",
			Report: nixIssues + "pull/6469",
			In:     kit.In(kit.Roles(nixOneByOne(nixLock, nixSecond), nixOneByOne(nixSecond, nixLock))),
			Claims: kit.Holds(dead), Watch: other},
		kit.Row{ID: "same-file-twice/alone",
			Does:   "Two goals of one thread want one lock: the second waits for the first, for ever.",
			Report: nixIssues + "issues/15846", In: kit.In(kit.Roles(nixKeep(nixLock, nixLock))),
			Claims: kit.Broken(dead)},
		kit.Row{ID: "upgrade-flock/contend",
			Does:   "Two holders of shared locks wait for exclusive ones: flock drops the shared one before it waits.",
			Report: nixIssues + "issues/6666", In: kit.In(kit.Roles(nixUpgradeFlock, nixUpgradeFlock)),
			Claims: kit.Holds(dead)},
		kit.Row{ID: "upgrade-ofd/contend",
			Does:   "The same with OFD locks, which keep the shared hold while they wait.",
			Report: nixIssues + "pull/7521", In: kit.In(kit.Roles(nixUpgradeOFD, nixUpgradeOFD)),
			Claims: kit.Broken(dead)},
	)
}

const (
	nixLock   = "/nix/store/x.lock"
	nixSecond = "/nix/store/y.lock"
	nixIssues = "https://github.com/NixOS/nix/"
)

var nixProtocol = nixWaiting(true)

// nixWaiting is the lock; what the waiting flock answers is looked at or not.
func nixWaiting(looks bool) scenarios.Protocol {
	return scenarios.Protocol{Path: nixLock, Release: nixRelease,
		Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
			for retry := t.Retry(); retry.Next(); {
				f, err := t.OpenFile(nixLock, os.O_RDWR|os.O_CREATE, 0o600)
				if err != nil {
					return kit.Failed(err)
				}
				if f.Flock(fsfake.LOCK_EX|fsfake.LOCK_NB) != nil {
					if err := f.Flock(fsfake.LOCK_EX); err != nil && looks {
						return kit.Failed(err)
					}
				}
				info, err := f.Stat()
				if err != nil {
					return kit.Failed(err)
				}
				if info.Size() == 0 {
					return kit.Held(f)
				}
				_ = f.Close() // it was removed meanwhile
			}
			panic("unreachable")
		}}
}

func nixRelease(t *scenarios.Task, h scenarios.Hold) error {
	err := t.Unlink(nixLock)
	_, werr := h.File.WriteString("d")
	return errors.Join(err, werr, h.File.Close())
}

// nixExclusively opens a lock and waits for it.
func nixExclusively(t *scenarios.Task, name string) *fsfake.File {
	f, err := kit.OpenFlock(t, name, os.O_RDWR, fsfake.LOCK_EX)
	if err != nil {
		t.Exit()
	}
	return f
}

// nixKeep takes two locks and releases both in the end.
func nixKeep(first, second string) scenarios.Program {
	return func(t *scenarios.Task) {
		f, g := nixExclusively(t, first), nixExclusively(t, second)
		t.Work()
		_, _ = f.Close(), g.Close()
	}
}

// nixOneByOne releases the first lock before it takes the second.
func nixOneByOne(first, second string) scenarios.Program {
	return func(t *scenarios.Task) {
		for _, name := range []string{first, second} {
			f := nixExclusively(t, name)
			t.Work()
			_ = f.Close()
		}
	}
}

func nixUpgradeFlock(t *scenarios.Task) {
	f, err := kit.OpenFlock(t, nixLock, os.O_RDWR, fsfake.LOCK_SH)
	if err != nil {
		return
	}
	_, _ = kit.ReadFrom(f)
	_ = f.Flock(fsfake.LOCK_EX)
	_, _ = f.WriteString("x")
	_ = f.Close()
}

func nixUpgradeOFD(t *scenarios.Task) {
	f, err := t.OpenFile(nixLock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	_ = f.OFDLock(fsfake.RecordLock{Type: fsfake.F_RDLCK}, true)
	_, _ = kit.ReadFrom(f)
	_ = f.OFDLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, true)
	_, _ = f.WriteString("x")
	_ = f.Close()
}
