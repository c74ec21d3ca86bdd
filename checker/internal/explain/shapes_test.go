package explain_test

import (
	"os"
	"testing"
	"time"

	"lockpick/fsfake"
	"lockpick/internal/golden"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

const lock = "/run/lock"

// The shapes of mistakes, one line each. Two that differ must not read alike.
func TestCausesOfShapes(t *testing.T) {
	var c causes
	for _, sc := range shapes() {
		for _, claim := range sc.Claims {
			c.add(t, &sc, claim.Property)
		}
	}
	golden.Check(t, "shapes.txt", c.text.String())
}

func shapes() []scenarios.Scenario {
	me, wedge := scenarios.MutualExclusion, scenarios.Wedge
	sys := kit.System{Name: "shape", Lock: lock}
	dead := kit.DeadOwner(kit.Dead)
	row := func(id string, l scenarios.Protocol, p *scenarios.Property, in ...kit.Situation) kit.Row {
		return kit.Row{ID: id, Lock: l, In: in, Claims: kit.Broken(p)}
	}
	return sys.Scenarios(
		// What was seen is not there any more.
		row("stat-then-create/file", create(seen, os.O_CREATE), me, kit.Contend(2)),
		row("stat-then-create/symlink-lock", breaking(readSymlink, makeSymlink, unlink), me, kit.Contend(2), kit.DeadSymlink("99")),
		row("break/dead-pid", breaking(readPid, makeFile, unlink), me, kit.Contend(2), dead),
		row("break/old-directory", breaking(old, makeDir, rmdir), me, kit.Contend(2), kit.DeadDirectory()),
		row("break/rename-aside", breaking(readPid, makeFile, aside), me, kit.Contend(2), dead),
		row("break/empty", breaking(empty, makeFile, unlink), me, kit.Contend(2)),
		row("break/unreadable", breaking(func(*scenarios.Task) bool { return true }, makeFile, unlink), me, kit.Contend(2)),
		row("break/hard-link", breaking(readPid, linkFile, unlink), me, kit.Contend(2), dead),
		row("rename-over/last-wins", breaking(func(*scenarios.Task) bool { return true }, renameFile, nothing), me, kit.Contend(2)),
		row("age/lease-overdue", breaking(olderThan(time.Minute), makeFile, unlink), me, kit.Contend(2), kit.Stall(2*time.Minute)),
		row("age/lease-text", breaking(expired, makeLease, unlink), me, kit.Contend(2), kit.Stall(2*time.Minute)),
		// Kernel locks.
		row("flock/unlink-before-close", flocked(unlinkFirst), me, kit.Contend(3)),
		row("flock/unlink-after-close", flocked(unlinkLast), me, kit.Contend(3)),
		row("flock/shared", kernel(func(f *fsfake.File) error { return f.Flock(fsfake.LOCK_SH | fsfake.LOCK_NB) }), me, kit.Contend(2)),
		row("flock/other-task-unlocks", scenarios.Protocol{Path: lock}, me, kit.Roles(unlockedByTask, kernelOnce), second(unlocks), kit.Tasks(2, 1)),
		row("fcntl/other-descriptor", kernel(recordLock), me, kit.Roles(closesAnother, scenarios.Once(kernel(recordLock)))),
		row("fcntl/tasks", kernel(recordLock), me, kit.Tasks(2)),
		row("fcntl/kept-by-duplicate", scenarios.Protocol{Path: lock}, scenarios.SpuriousFailure, kit.Roles(keepsDuplicate, kernelOnce)),
		row("flock/kept-by-child", scenarios.Protocol{Path: lock}, scenarios.SpuriousFailure, kit.Roles(keepsChild, kernelOnce)),
		row("flock/probing", scenarios.Protocol{Path: lock}, scenarios.SpuriousFailure, kit.Roles(probing, kernelOnce)),
		row("flock/tried-by-two", scenarios.Protocol{Path: lock}, scenarios.SpuriousFailure, kit.Roles(triesBoth, triesBoth)),
		// No lock at all.
		row("names/two", scenarios.Protocol{Path: lock}, me, kit.Roles(at("/run/lock"), at("/run/lock2"))),
		row("nothing/refuses", create(nil, os.O_CREATE), me, kit.Contend(2)),
		// Memory.
		row("memory/joined", scenarios.Protocol{Path: lock}, me, kit.Roles(remembers, scenarios.Once(create(nil, os.O_CREATE|os.O_EXCL))), second(remembers), kit.Tasks(2, 1)),
		// Data.
		row("data/two-writes", scenarios.Protocol{}, scenarios.TornRead, kit.Roles(writesTwice, reads)),
		row("data/truncated", scenarios.Protocol{}, scenarios.TornRead, kit.Roles(replaces, reads)),
		row("data/killed-writer", scenarios.Protocol{}, scenarios.TornRead, kit.Roles(writesTwice, readsLater), kit.Kill(1), kit.Mortal(0)),
		row("data/read-in-pieces", scenarios.Protocol{}, scenarios.TornRead, kit.Roles(replacesAtOnce, readsPieces)),
		row("data/read-modify-write", scenarios.Protocol{}, scenarios.LostUpdate, kit.Roles(adds, adds)),
		row("data/increments-in-place", scenarios.Protocol{}, counted, kit.Roles(incrementsInPlace, incrementsInPlace), kit.File(lock, "0")),
		row("data/increments-at-the-end", scenarios.Protocol{}, counted,
			kit.Roles(incrementsAtTheEnd, incrementsAtTheEnd), kit.File(lock, "0")),
		row("data/increments-by-rename", scenarios.Protocol{}, counted, kit.Roles(incrementsLast, incrementsByRename), kit.File(lock, "0")),
		row("data/gave-way", scenarios.Protocol{}, counted, kit.Roles(givesWay, givesWay), kit.File(lock, "0")),
		row("data/power-loss", scenarios.Protocol{}, scenarios.TornRead, kit.Roles(writesAside, reads), kit.LosePower(1)),
		// Nobody gets through.
		row("left/killed", create(nil, os.O_CREATE|os.O_EXCL), wedge, kit.Contend(1), kit.Kill(1)),
		row("left/directory-killed", breaking(never, makeDir, rmdir), wedge, kit.Contend(1), kit.Kill(1)),
		row("left/exited", breaking(never, makeFile, nothing), wedge, kit.Run(1, noRelease), kit.Probe),
		row("left/finished-daemon", breaking(never, makeFile, nothing), wedge, kit.Run(1, noRelease), kit.Probe, kit.Daemons),
		row("left/from-the-start", breaking(never, makeFile, unlink), wedge, kit.Contend(1), kit.Probe, kit.File(lock, "")),
		row("left/reused-pid", breaking(readPid, makeFile, unlink), wedge, kit.Contend(1), kit.Probe, kit.File(lock, kit.Dead), kit.Running(99, 5)),
		row("left/polled", polled(breaking(never, makeFile, unlink)), wedge, kit.Contend(1), kit.Kill(1)),
		row("left/lock-kept", scenarios.Protocol{Path: lock}, wedge, kit.Roles(keepsLocked), kit.Daemons, kit.ProbeWith(scenarios.Attempt(waiting))),
		row("stuck/two-flocks", scenarios.Protocol{}, scenarios.Deadlock, kit.Roles(both("/run/lock", "/run/second"), both("/run/second", "/run/lock"))),
		row("stuck/own-descriptor", scenarios.Protocol{}, scenarios.Deadlock, kit.Roles(both("/run/lock", "/run/lock"))),
		row("stuck/cell", scenarios.Protocol{}, scenarios.Deadlock, kit.Roles(waitsForCell)),
		row("starves/polling", polled(create(nil, os.O_CREATE|os.O_EXCL)), scenarios.Starvation, kit.Run(2, forEver)),
		row("spurious/left-file", scenarios.Protocol{}, scenarios.SpuriousFailure, kit.Roles(lateRemoval, scenarios.Once(create(nil, os.O_CREATE|os.O_EXCL)))),
		row("owner/truncated", kernel(recordLock), scenarios.OwnerInfo, kit.Roles(kit.Ask(truncating, owner), scenarios.Once(truncating))),
		row("duplicate/killed", scenarios.Protocol{}, scenarios.Duplicate, kit.Roles(appends, appends), kit.Kill(1), kit.Mortal(0)),
	)
}
