package kernelfile

import (
	"os"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/scenarios/kit"
)

// materialize is materialized's pid file (Rust, MaterializeInc/materialize): flock(2) on a file
// that is opened without O_CLOEXEC, so that the servers that it starts have the descriptor as well.
// google/leveldb#623 and SerenityOS/serenity#9059 report the same of their lock files.
func materialize() []scenarios.Scenario {
	const lock = "/mzdata/materialized.pid"
	sys := kit.System{Name: "materialize", Lock: lock, Source: kit.Text(files, "materialize.go"),
		Report: "https://github.com/MaterializeInc/materialize/pull/12050"}
	flopen := func(flags int, release func(*scenarios.Task)) scenarios.Protocol {
		return scenarios.Protocol{
			Path: lock,
			Acquire: func(t *scenarios.Task) (scenarios.Hold, error) {
				f, err := kit.OpenFlock(t, lock, os.O_RDWR, fsfake.LOCK_EX|fsfake.LOCK_NB)
				if err != nil {
					return kit.Failed(err)
				}
				if flags == 0 { // package os opens with it
					t.Do(fsfake.Op{Call: fsfake.CallSetfd, FD: 3})
				}
				return kit.Held(f)
			},
			Release: func(t *scenarios.Task, h scenarios.Hold) error {
				release(t)
				return h.File.Close()
			},
		}
	}
	serves := func(t *scenarios.Task) { t.Do(fsfake.Op{Call: fsfake.CallWork}) }
	row := func(id, does string, flags int, start, release func(*scenarios.Task), claims []scenarios.Claim) kit.Row {
		l := flopen(flags, release)
		server := func(t *scenarios.Task) { _ = scenarios.Locked(t, l, func() { start(t) }) }
		return kit.Row{ID: id, Does: does, Claims: claims, Lock: l, In: kit.In(kit.Spawned(server, serves), kit.Beside(scenarios.Once(l)))}
	}
	spurious, me, at := scenarios.SpuriousFailure, scenarios.MutualExclusion, func(*scenarios.Task) {}
	return sys.Scenarios(
		row("inherited/spawn", "The server ends before a child that it has started: the child's copy of the descriptor keeps the lock, and the next server finds it taken.", 0, kit.Spawn, at, kit.Broken(spurious)),
		row("waits-for-child/spawn", "The server waits for its child before it lets the lock go.", 0, kit.Spawn, kit.Wait, kit.Holds(spurious, me)),
		row("close-on-exec/spawn", "The file is opened with O_CLOEXEC: a child that runs a program of its own has no copy.", fsfake.O_CLOEXEC, kit.Spawn, at, kit.Holds(spurious, me)),
		row("close-on-exec/fork", "It has one between fork and exec. Whoever does not wait for the exec, as posix_spawn does, may end in between.", fsfake.O_CLOEXEC, kit.Fork, at, kit.Broken(spurious)),
	)
}
