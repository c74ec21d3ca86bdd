package kit

import (
	"lockpick/fsfake"
	"lockpick/scenarios"
)

// forked is the cell in which the pid of a child is, once there is one.
var forked = fsfake.Cell[int]{Name: "child"}

// Fork starts a child of the process, which has its open files, and lets the second program of
// [Family] run in it.
func Fork(t *scenarios.Task) { forked.Store(t.Proc, int(t.Do(fsfake.Op{Call: fsfake.CallFork}).N)) }

// Family is a process that runs the first program, and the second in the child that the first
// makes with [Fork]. The child begins when it is there, and exits when its program has ended; its
// calls go by [scenarios.Task.Do], on the descriptors that it has inherited. A kill is not modelled:
// it would end the child as well.
func Family(parent, child scenarios.Program) Situation {
	return func(sc *scenarios.Scenario, _ scenarios.Protocol) {
		sc.Setting.Tasks, sc.Setting.Concurrency = []int{2}, scenarios.Threads
		sc.Program = func(_, task int) scenarios.Program {
			if task == 1 {
				return parent
			}
			return func(t *scenarios.Task) {
				forked.Wait(t.Proc, func(pid int) bool { return pid != 0 })
				by := scenarios.By{Task: fsfake.Task{Pid: forked.Load(t.Proc), N: 1}}
				child(t.In(by))
				t.Note(by)
				t.Exit()
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
