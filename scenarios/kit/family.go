package kit

import (
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// The cells of a parent in which is what the kernel knows of its child: its pid, once there is one,
// that it has become a program of its own, and that it has exited.
var (
	forked  = fsfake.Cell[int]{Name: "child"}
	spawned = fsfake.Cell[bool]{Name: "spawned"}
	exited  = fsfake.Cell[bool]{Name: "exited"}
)

func isSo(v bool) bool { return v }

// Fork starts a child of the process, which has its open files, and lets the second program of
// [Family] run in it.
func Fork(t *scenarios.Task) { forked.Store(t.Proc, int(t.Do(fsfake.Op{Call: fsfake.CallFork}).N)) }

// Spawn is [Fork] that returns when the child runs its own program, as vfork(2), posix_spawn(3) and
// most libraries do. It needs [Spawned].
func Spawn(t *scenarios.Task) {
	Fork(t)
	spawned.Wait(t.Proc, isSo)
}

// Wait waits until the child has exited, as wait(2) does. It needs [Spawned].
func Wait(t *scenarios.Task) { exited.Wait(t.Proc, isSo) }

// Family is a process that runs the first program, and the second in the child that the first
// makes with [Fork]. The child begins when it is there, and exits when its program has ended; its
// calls go by [scenarios.Task.Do], on the descriptors that it has inherited. A kill is not modelled:
// it would end the child as well.
func Family(parent, child scenarios.Program) Situation { return family(parent, child, false) }

// Spawned is [Family] where the child runs a program of its own: its first call is execve(2), which
// closes what is open with O_CLOEXEC. The parent makes it with [Spawn] or [Fork], and may [Wait].
func Spawned(parent, child scenarios.Program) Situation { return family(parent, child, true) }

func family(parent, child scenarios.Program, execs bool) Situation {
	return func(sc *scenarios.Scenario, _ scenarios.Protocol) {
		sc.Setting.Tasks, sc.Setting.Concurrency = []int{2}, scenarios.Threads
		sc.Program = func(_, task int) scenarios.Program {
			if task == 1 {
				return parent
			}
			return func(t *scenarios.Task) {
				forked.Wait(t.Proc, func(pid int) bool { return pid != 0 })
				by := scenarios.By{Task: fsfake.Task{Pid: forked.Load(t.Proc), N: 1}}
				if execs {
					t.In(by).Do(fsfake.Op{Call: fsfake.CallExec})
					spawned.Store(t.Proc, true)
				}
				child(t.In(by))
				t.Note(by)
				t.Exit()
				if execs {
					exited.Store(t.Proc, true)
				}
			}
		}
	}
}

// Beside adds a process with one task, which runs a program of its own.
func Beside(program scenarios.Program) Situation {
	return func(sc *scenarios.Scenario, _ scenarios.Protocol) {
		before, at := sc.Program, sc.Setting.Processes
		sc.Setting.Processes++
		sc.Setting.Tasks = append(sc.Setting.Tasks, 1)
		sc.Program = func(process, task int) scenarios.Program {
			if process == at {
				return program
			}
			return before(process, task)
		}
	}
}
