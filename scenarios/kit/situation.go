package kit

import (
	"path"
	"syscall"
	"time"

	"lockpick/fsfake"
	"lockpick/scenarios"
)

// LongAgo is older than every lease and stale rule that is written down here.
const LongAgo = 48 * time.Hour

// Contend lets n processes acquire, take one step inside, and release, once each.
func Contend(n int) Situation { return Run(n, scenarios.Once) }

// Run lets each of n processes run a program made of the protocol.
func Run(n int, program func(scenarios.Protocol) scenarios.Program) Situation {
	return func(sc *scenarios.Scenario, l scenarios.Protocol) {
		sc.Setting.Processes = n
		sc.Program = func(int, int) scenarios.Program { return program(l) }
	}
}

// Twice lets n processes acquire, take one step inside and release, twice each.
func Twice(n int) Situation {
	return Run(n, func(l scenarios.Protocol) scenarios.Program {
		return func(t *scenarios.Task) {
			scenarios.Once(l)(t)
			scenarios.Once(l)(t)
		}
	})
}

// Roles lets each process run a program of its own, the first one A's. The number of
// processes is fixed then, unless there is one role, which all have.
func Roles(programs ...scenarios.Program) Situation {
	return func(sc *scenarios.Scenario, _ scenarios.Protocol) {
		sc.Setting.Processes, sc.Setting.Fixed = len(programs), len(programs) > 1
		sc.Program = func(process, _ int) scenarios.Program { return programs[min(process, len(programs)-1)] }
	}
}

// Tasks gives each process so many tasks, each of which runs the protocol once. What a
// task does to the cells of its process between two system calls is one step, as if a
// mutex guarded it.
func Tasks(tasks ...int) Situation {
	return func(sc *scenarios.Scenario, l scenarios.Protocol) {
		sc.Setting.Processes, sc.Setting.Tasks = len(tasks), tasks
		if sc.Program == nil {
			sc.Program = func(int, int) scenarios.Program { return scenarios.Once(l) }
		}
	}
}

// Threads is Tasks where every access to a cell is a step of its own.
func Threads(tasks ...int) Situation {
	return func(sc *scenarios.Scenario, l scenarios.Protocol) {
		Tasks(tasks...)(sc, l)
		sc.Setting.Concurrency = scenarios.Threads
	}
}

// Daemons lets no process ever exit.
func Daemons(sc *scenarios.Scenario, _ scenarios.Protocol) { sc.Setting.Daemons = true }

// Kill lets so many processes be killed, each at any step, and asks a fresh process to
// acquire when everybody has ended.
func Kill(crashes int) Situation {
	return func(sc *scenarios.Scenario, l scenarios.Protocol) {
		sc.Setting.Crashes = crashes
		Probe(sc, l)
	}
}

// Signal lets so many signals come, each to any process, which then runs the handler, and asks a fresh
// process to acquire when everybody has ended. It comes after the situation that says who runs what.
func Signal(n int, handler scenarios.Program) Situation {
	return func(sc *scenarios.Scenario, l scenarios.Protocol) {
		sc.Setting.Signals = n
		for i := range sc.Setting.Processes {
			sc.Setting.Handlers = append(sc.Setting.Handlers, i)
		}
		set, own := sc.Setting, sc.Program
		sc.Program = func(process, task int) scenarios.Program {
			if set.IsHandler(process, task) {
				return handler
			}
			return own(process, task)
		}
		if sc.Subject != nil {
			sc.Subject.Handler = handler
		}
		Probe(sc, l)
	}
}

// Mortal lists the processes that may be killed, from 0 for A.
func Mortal(processes ...int) Situation {
	return func(sc *scenarios.Scenario, _ scenarios.Protocol) { sc.Setting.Mortal = processes }
}

// Probe asks a fresh process to acquire when everybody has ended.
func Probe(sc *scenarios.Scenario, l scenarios.Protocol) {
	if sc.Probe == nil && l.Acquire != nil {
		sc.Probe = scenarios.Attempt(l)
	}
}

// ProbeWith asks a fresh process to do something of the row's own in the end.
func ProbeWith(p scenarios.Probe) Situation {
	return func(sc *scenarios.Scenario, _ scenarios.Protocol) { sc.Probe = p }
}

// Stall lets the clock jump ahead once, by d, whoever is in the middle of something.
func Stall(d time.Duration) Situation {
	return func(sc *scenarios.Scenario, _ scenarios.Protocol) {
		sc.Setting.Stalls, sc.Setting.StallFor = 1, d
	}
}

// SetBack lets the clock be set back by d at any moment, as NTP does, and asks a fresh process to
// acquire when everybody has ended.
func SetBack(d time.Duration) Situation {
	return func(sc *scenarios.Scenario, l scenarios.Protocol) {
		sc.Setting.Stalls, sc.Setting.StallFor = 1, -d
		Probe(sc, l)
	}
}

// LosePower lets the power be lost once. The processes listed start when it is back.
func LosePower(reboot ...int) Situation {
	return func(sc *scenarios.Scenario, l scenarios.Protocol) {
		sc.Setting.PowerLosses, sc.Setting.Reboot = 1, reboot
		Probe(sc, l)
	}
}

// Users lets the processes run as these users, the first one A's.
func Users(ids ...int) Situation {
	return func(sc *scenarios.Scenario, _ scenarios.Protocol) { sc.Setting.Users = ids }
}

// Containers runs every process in a pid namespace of its own, with these pids in there.
func Containers(pids ...int) Situation {
	return func(sc *scenarios.Scenario, _ scenarios.Protocol) { sc.Setting.Containers = pids }
}

// Skew sets the clocks of the processes ahead of the file system's by so much, the first one A's.
func Skew(ahead ...time.Duration) Situation {
	return func(sc *scenarios.Scenario, _ scenarios.Protocol) { sc.Setting.Skew = ahead }
}

// FailCalls lets so many calls fail, with one of these errors, or with any that they have when
// none is given; and it asks a fresh process to acquire when everybody has ended.
func FailCalls(n int, with ...syscall.Errno) Situation {
	return func(sc *scenarios.Scenario, l scenarios.Protocol) {
		sc.Setting.FailingCalls, sc.Setting.FailWith = n, with
		Probe(sc, l)
	}
}

// DeadOwner puts the lock of a process there that is long dead: a file with this text,
// made longer ago than any age rule asks for. The owner's pid is scenarios.DeadPid.
func DeadOwner(text string) Situation {
	return Old(func(p *fsfake.Proc, lock string) error { return p.WriteFile(lock, []byte(text), 0o666) })
}

// DeadDirectory puts the lock directory of a process there that is long dead.
func DeadDirectory() Situation {
	return Old(func(p *fsfake.Proc, lock string) error { return p.Mkdir(lock, 0o777) })
}

// DeadSymlink puts a lock there that is a symbolic link with this target, of a process
// that is long dead.
func DeadSymlink(target string) Situation {
	return Old(func(p *fsfake.Proc, lock string) error { return p.Symlink(target, lock) })
}

// Old lets make put something at the lock's name, and lets [LongAgo] pass. On an overlay that lies above the image:
// whoever has left it ran in the container.
func Old(make func(p *fsfake.Proc, lock string) error) Situation {
	return func(sc *scenarios.Scenario, l scenarios.Protocol) {
		lock := l.Path
		if lock == "" {
			lock = sc.Watch[0]
		}
		prepare(sc, func(m *fsfake.Machine) {
			m.SealImage()
			must(make(m.Proc(1), lock))
			m.Advance(LongAgo)
		})
	}
}

// File puts a file there at the start.
func File(name, text string) Situation {
	return Prepared(func(p *fsfake.Proc) error { return p.WriteFile(name, []byte(text), 0o666) })
}

// Prepared lets make prepare the disk, as root.
func Prepared(make func(p *fsfake.Proc) error) Situation {
	return func(sc *scenarios.Scenario, _ scenarios.Protocol) {
		prepare(sc, func(m *fsfake.Machine) { must(make(m.Proc(1))) })
	}
}

// Open lets everybody write in the lock's directory.
func Open(sc *scenarios.Scenario, l scenarios.Protocol) {
	prepare(sc, func(m *fsfake.Machine) { must(m.Proc(1).Chmod(path.Dir(l.Path), 0o777)) })
}

// NoDirectory removes the lock's directory again: the protocol makes it.
func NoDirectory(sc *scenarios.Scenario, l scenarios.Protocol) {
	prepare(sc, func(m *fsfake.Machine) { must(m.Proc(1).Rmdir(path.Dir(l.Path))) })
}

// Running lets an unrelated process with this pid run, which began at start, in clock ticks.
func Running(pid int, start int64) Situation {
	return func(sc *scenarios.Scenario, _ scenarios.Protocol) {
		prepare(sc, func(m *fsfake.Machine) {
			m.AddProc(fsfake.ProcSpec{Pid: pid, Parent: 1, Start: start, Cwd: "/"})
		})
	}
}
