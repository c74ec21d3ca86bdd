// Package nix holds Nix's locks beside store paths (src/libstore/unix/pathlocks.cc at
// 0e35cd6f), and what its callers make of them: locks that are kept, taken in two orders,
// taken twice, and upgraded.
package nix

import (
	_ "embed"
	"errors"
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

//go:embed lock.go
var source string

const (
	lock   = "/nix/store/x.lock"
	second = "/nix/store/y.lock"
	issues = "https://github.com/NixOS/nix/"
)

// Scenarios lists the locks, each in its situations.
func Scenarios() []scenarios.Scenario {
	me, dead := scenarios.MutualExclusion, scenarios.Deadlock
	sys := kit.System{Name: "nix", Lock: lock, Report: issues + "blob/master/src/libstore/unix/pathlocks.cc", Source: source}
	other := []string{second}
	return sys.Scenarios(
		kit.Row{
			ID: "unlink-then-mark/contend", Does: "The holder unlinks the file and marks it with a byte: who waited on it sees the byte and starts over.",
			Lock: protocol, In: kit.In(kit.Contend(3)), Alike: true, Claims: kit.Holds(me),
		},
		kit.Row{
			ID: "unlink-then-mark/crash", Does: "The same, and the holder is killed between the two.",
			Lock: protocol, In: kit.In(kit.Contend(3), kit.Kill(1)), Alike: true, Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "wait-eintr/interrupt", Does: "The waiting flock is interrupted by a caught signal, and nobody looks what it answers.",
			Lock: waiting(false), In: kit.In(kit.Contend(2), kit.FailCalls(1, fsfake.EINTR)), Claims: kit.Broken(me),
		},
		kit.Row{
			ID: "wait-checked/interrupt", Does: "The same, and a wait that is interrupted is no lock.",
			Lock: waiting(true), In: kit.In(kit.Contend(2), kit.FailCalls(1, fsfake.EINTR)), Claims: kit.Holds(me),
		},
		kit.Row{
			ID: "keep-until-exit/contend", Does: "Locks of what is built are kept until the process ends, and two processes build in two orders.",
			Report: issues + "issues/6468",
			In:     kit.In(kit.Roles(keep(lock, second), keep(second, lock))), Claims: kit.Broken(dead), Watch: other,
		},
		kit.Row{
			ID: "unlock-early/contend", Does: "The first lock is released before the second is taken.",
			Report: issues + "pull/6469",
			In:     kit.In(kit.Roles(oneByOne(lock, second), oneByOne(second, lock))), Claims: kit.Holds(dead), Watch: other,
		},
		kit.Row{
			ID: "same-file-twice/alone", Does: "Two goals of one thread want one lock: the second waits for the first, for ever.",
			Report: issues + "issues/15846",
			In:     kit.In(kit.Roles(keep(lock, lock))), Claims: kit.Broken(dead),
		},
		kit.Row{
			ID: "upgrade-flock/contend", Does: "Two holders of shared locks wait for exclusive ones: flock drops the shared one before it waits.",
			Report: issues + "issues/6666",
			In:     kit.In(kit.Roles(upgradeFlock, upgradeFlock)), Claims: kit.Holds(dead),
		},
		kit.Row{
			ID: "upgrade-ofd/contend", Does: "The same with OFD locks, which keep the shared hold while they wait.",
			Report: issues + "pull/7521",
			In:     kit.In(kit.Roles(upgradeOFD, upgradeOFD)), Claims: kit.Broken(dead),
		},
	)
}

var protocol = waiting(true)

// waiting is the lock; what the waiting flock answers is looked at or not.
func waiting(looks bool) scenarios.Protocol {
	return scenarios.Protocol{Path: lock, Release: release, Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
		for retry := t.Retry(); retry.Next(); {
			f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o600)
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

func release(t *scenarios.Task, h scenarios.Hold) error {
	err := t.Unlink(lock)
	_, werr := h.File.WriteString("d")
	return errors.Join(err, werr, h.File.Close())
}

// exclusively opens a lock and waits for it.
func exclusively(t *scenarios.Task, name string) *fsfake.File {
	f, err := kit.OpenFlock(t, name, os.O_RDWR, fsfake.LOCK_EX)
	if err != nil {
		t.Exit()
	}
	return f
}

// keep takes two locks and releases both in the end.
func keep(first, second string) scenarios.Program {
	return func(t *scenarios.Task) {
		f, g := exclusively(t, first), exclusively(t, second)
		t.Work()
		_, _ = f.Close(), g.Close()
	}
}

// oneByOne releases the first lock before it takes the second.
func oneByOne(first, second string) scenarios.Program {
	return func(t *scenarios.Task) {
		for _, name := range []string{first, second} {
			f := exclusively(t, name)
			t.Work()
			_ = f.Close()
		}
	}
}

func upgradeFlock(t *scenarios.Task) {
	f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_SH)
	if err != nil {
		return
	}
	_, _ = kit.ReadFrom(f)
	_ = f.Flock(fsfake.LOCK_EX)
	_, _ = f.WriteString("x")
	_ = f.Close()
}

func upgradeOFD(t *scenarios.Task) {
	f, err := t.OpenFile(lock, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return
	}
	_ = f.OFDLock(fsfake.RecordLock{Type: fsfake.F_RDLCK}, true)
	_, _ = kit.ReadFrom(f)
	_ = f.OFDLock(fsfake.RecordLock{Type: fsfake.F_WRLCK}, true)
	_, _ = f.WriteString("x")
	_ = f.Close()
}
