package command

import (
	"fmt"
	"sync"

	"lockpick/fsfake/tracer"
	"lockpick/scenarios"
)

// What a command reads of another one below /proc: its name, its command line and its environment, as ps shows them.
// They are those of the other's first process when it makes its first call. Where that executes another program later,
// or gives itself another name, what /proc tells then is not modelled.
//
// What another command's children execute is not known. In every other execution they are called as that command's
// first process is, and in the others as nothing else. So a command that does something else for the name differs from
// execution to execution, and is not judged.

// A programs has what /proc tells of the first process of each command.
type programs struct {
	mu      sync.Mutex
	known   map[string]tracer.Program // by command
	runs    map[string]int            // by command: how many executions were begun
	seen    map[int]bool              // by process: another command has looked
	changed map[int]bool              // by process: it is another program later
}

func newPrograms() *programs {
	return &programs{known: map[string]tracer.Program{}, runs: map[string]int{}, seen: map[int]bool{},
		changed: map[int]bool{}}
}

// unknown is what /proc tells of a process of which nothing is known.
var unknown = tracer.Program{Name: "unknown", CommandLine: "unknown\x00", Environment: "UNKNOWN=1\x00"}

// tells returns what an execution of a command is told of the programs of others: [tracer.Config.Program].
func (s *Spec) tells(process int) func(pid int) tracer.Program {
	p := newPrograms() // of a run that is carried out by itself
	if s.record != nil {
		p = s.record.programs
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	key := s.Commands[process].String()
	p.runs[key]++
	asFirst := p.runs[key]%2 == 0
	return func(pid int) tracer.Program {
		if process, is := scenarios.ProcessOf(pid); is {
			return s.programOf(p, process)
		}
		if process, is := scenarios.ProcessOf(pid / scenarios.ChildPids); is && asFirst {
			return s.programOf(p, process)
		}
		return unknown
	}
}

// programOf is what /proc tells of the first process of a command.
func (s *Spec) programOf(p *programs, process int) tracer.Program {
	if process >= len(s.Commands) || s.Commands[process].Func != nil {
		return unknown
	}
	c := s.config(process)
	c.Program = nil
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen[process] = true
	key := s.Commands[process].String()
	if is, known := p.known[key]; known {
		return is
	}
	run, err := tracer.Start(c)
	if err != nil {
		return unknown
	}
	defer run.Stop()
	if _, err := run.Next(); err != nil {
		return unknown
	}
	p.known[key] = run.Program()
	return p.known[key]
}

// renames notes that the first process of a command is another program than at its first call.
func (p *programs) renames(process int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed[process] = true
}

// unjudged says that a name was looked at which is not always the one that was shown; "" for nothing.
func (p *programs) unjudged() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	for process := range scenarios.MaxProcesses {
		if p.seen[process] && p.changed[process] {
			return fmt.Sprintf("nothing broke it, but a command looks at the name of %s (/proc/%d), which executes "+
				"another program after its first call: what /proc tells of it then is not modelled",
				scenarios.ProcessName(process), scenarios.Pid(process))
		}
	}
	return ""
}
