package scenarios

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
)

// A Concurrency says how the tasks of one process interleave. Processes always
// interleave at every system call.
type Concurrency uint8

const (
	// EventLoop: the code of a task between two system calls is one turn that no other
	// task of the process can split (Node). A turn that touches no cell is no step.
	EventLoop Concurrency = iota
	// Threads: every access to a cell is a step of its own.
	Threads
)

// A Setting is the situation that a protocol is put into.
type Setting struct {
	// Processes is how many processes there are: at least 1, at most 26.
	Processes int
	// Tasks is the number of tasks of each process; nil means one each. When it is
	// given, the number of processes is fixed.
	Tasks []int
	// Fixed: the processes have roles of their own, so their number cannot be changed.
	Fixed bool
	// Interchangeable: every process runs the same program, which looks at neither its
	// index nor its pid, so that a search may treat states that differ only in who is who
	// as one. The search verifies the promise.
	Interchangeable bool
	// Crashes is how many processes may be killed (SIGKILL), each before any of its steps.
	Crashes int
	// Mortal lists the processes that may be killed; nil means all.
	Mortal []int
	// Stalls is how often the clock may jump ahead by StallFor, at any moment: whoever is
	// in the middle of something has then been paused for that long.
	Stalls   int
	StallFor time.Duration
	// PowerLosses is how often the power may be lost, at any moment, also after the last
	// step: 0 or 1. Every process ends then, and of what was not synced the disk keeps what
	// package fsfake lists as legal; what Setup made is synced.
	PowerLosses int
	// Reboot lists the processes that start when the power is back; nobody else runs from
	// there on, and these do not exist before. They are not killed by the power loss.
	Reboot []int
	// Daemons: a process stays alive when its programs have ended. Otherwise it exits
	// then, in a step of its own, and its pid is dead from there on.
	Daemons bool
	// Concurrency of the tasks of one process.
	Concurrency Concurrency
	// Machine are the options of the machine.
	Machine fsfake.Options
}

// A Probe is one attempt by a fresh process to get through; nil means it did.
type Probe func(t *Task) error

// A Scenario is a protocol under a workload in a setting, with the verdicts claimed.
type Scenario struct {
	// ID is system/variant/setting.
	ID string
	// Summary says in one sentence what the variant does.
	Summary string
	// Report is the URL of the bug report or pull request; empty for none.
	Report string
	// Source is the Go text of the protocol, for reports; may be empty.
	Source  string
	Setting Setting
	// Setup prepares the machine's disk before the first step: directories, the lock of
	// a dead process. It may be nil.
	Setup func(m *fsfake.Machine)
	// Program returns what task number task (from 1) of process number process (from 0)
	// runs. It is called often and must return an equal program each time.
	Program func(process, task int) Program
	// Probe decides the property wedge. It is needed for that property only.
	Probe Probe
	// Watch lists the files that a timeline shows.
	Watch []string
	// Claims lists the properties asked, with the verdict expected of each.
	Claims []Claim
	// Corpus: one of a large collection, which is decided only when it is asked for.
	Corpus bool
}

// The names of processes and their pids.
const (
	maxProcesses = 26
	// FirstPid is the pid of process A; B has the next, and so on.
	FirstPid = 101
	// DeadPid is a pid that no process has: the dead owner of a stale lock.
	DeadPid = 99
	// ProbePid is the pid of the fresh process that probes for a wedge.
	ProbePid = 900
)

// ProcessName returns "A" for 0, "B" for 1, and so on.
func ProcessName(i int) string { return string(rune('A' + i)) }

// System, Variant and SettingName return the three parts of the id.
func (s *Scenario) System() string      { return s.part(0) }
func (s *Scenario) Variant() string     { return s.part(1) }
func (s *Scenario) SettingName() string { return s.part(2) }

func (s *Scenario) part(i int) string {
	if p := strings.SplitN(s.ID, "/", 3); i < len(p) {
		return p[i]
	}
	return ""
}

// TasksOf returns the number of tasks of process i.
func (s *Setting) TasksOf(i int) int {
	if i < len(s.Tasks) {
		return s.Tasks[i]
	}
	return 1
}

// Contenders returns the number of tasks of all processes: the "processes" of reports.
func (s *Setting) Contenders() int {
	n := 0
	for i := range s.Processes {
		n += s.TasksOf(i)
	}
	return n
}

// CanDie reports whether process i may be killed.
func (s *Setting) CanDie(i int) bool {
	if s.Mortal == nil {
		return true
	}
	for _, m := range s.Mortal {
		if m == i {
			return true
		}
	}
	return false
}

// AfterReboot reports whether process i starts only after a loss of power.
func (s *Setting) AfterReboot(i int) bool {
	return slices.Contains(s.Reboot, i)
}

// WithProcesses returns the scenario with n processes. It fails when n is out of range
// or the scenario's processes have fixed roles.
func (s Scenario) WithProcesses(n int) (Scenario, error) {
	if n < 1 || n > maxProcesses {
		return s, fmt.Errorf("scenarios: %d processes: choose 1 to %d", n, maxProcesses)
	}
	if n != s.Setting.Processes && (s.Setting.Fixed || s.Setting.Tasks != nil || s.Setting.Reboot != nil) {
		return s, fmt.Errorf("scenarios: %s has exactly %d processes, each with its own role", s.ID, s.Setting.Processes)
	}
	s.Setting.Processes = n
	return s, nil
}

// Claim returns what the scenario claims of p.
func (s *Scenario) Claim(p Property) (Verdict, bool) {
	for _, c := range s.Claims {
		if c.Property == p {
			return c.Verdict, true
		}
	}
	return Unknown, false
}

// ProcID returns the pid and start time of process i.
func ProcID(i int) fsfake.ProcID {
	return fsfake.ProcID{Pid: FirstPid + i, Start: int64(1000 + i)}
}

// Validate reports what is wrong with the scenario, or nil.
func (s *Scenario) Validate() error {
	st := &s.Setting
	bad := func(format string, args ...any) error {
		return fmt.Errorf("scenarios: scenario %q: %s", s.ID, fmt.Sprintf(format, args...))
	}
	switch {
	case strings.Count(s.ID, "/") != 2 || s.part(0) == "" || s.part(1) == "" || s.part(2) == "":
		return bad("the id must be system/variant/setting")
	case s.Program == nil:
		return bad("Program is missing")
	case st.Processes < 1 || st.Processes > maxProcesses:
		return bad("%d processes: choose 1 to %d", st.Processes, maxProcesses)
	case st.Tasks != nil && len(st.Tasks) != st.Processes:
		return bad("Tasks names %d processes of %d", len(st.Tasks), st.Processes)
	case st.Crashes < 0 || st.Stalls < 0:
		return bad("a budget is negative: crashes %d, stalls %d", st.Crashes, st.Stalls)
	case st.Stalls > 0 && st.StallFor <= 0:
		return bad("Stalls needs StallFor, the time by which the clock jumps")
	case st.PowerLosses < 0 || st.PowerLosses > 1:
		return bad("%d power losses: choose 0 or 1", st.PowerLosses)
	case len(st.Reboot) > 0 && st.PowerLosses == 0:
		return bad("Reboot lists processes that start after a loss of power, and PowerLosses is 0")
	case len(st.Reboot) >= st.Processes:
		return bad("every process starts after a loss of power: nobody runs before")
	case len(s.Claims) == 0:
		return bad("Claims is empty: nothing is asked")
	}
	for i, n := range st.Tasks {
		if n < 1 {
			return bad("process %s has %d tasks: choose 1 or more", ProcessName(i), n)
		}
	}
	for i, p := range st.Reboot {
		if p < 0 || p >= st.Processes || slices.Contains(st.Reboot[:i], p) {
			return bad("Reboot lists process number %d, which is out of range or listed twice", p)
		}
	}
	for _, c := range s.Claims {
		if c.Property.Judgement() == "" {
			return bad("unknown property %q", c.Property)
		}
		if c.Property == Wedge && s.Probe == nil {
			return bad("the property wedge needs a Probe")
		}
	}
	return nil
}

// NewMachine returns the machine on which the scenario starts: the disk set up and durable,
// the processes there, but for those that start after a reboot.
func (s *Scenario) NewMachine() *fsfake.Machine {
	o := s.Setting.Machine
	o.PowerLoss = o.PowerLoss || s.Setting.PowerLosses > 0
	m := fsfake.New(o)
	s.boot(m, false)
	if s.Setup != nil {
		s.Setup(m)
	}
	if o.PowerLoss {
		m.Sync()
	}
	return m
}

// LosePower cuts the power of a machine that runs the scenario and starts it again: the
// disk is in its legal state number state, and the processes of Reboot are there.
func (s *Scenario) LosePower(m *fsfake.Machine, state int) {
	m.LosePower(state)
	s.boot(m, true)
}

// boot starts the processes that run from the beginning, or those that run after a reboot.
func (s *Scenario) boot(m *fsfake.Machine, again bool) {
	for i := range s.Setting.Processes {
		if s.Setting.AfterReboot(i) == again {
			id := ProcID(i)
			m.AddProc(fsfake.ProcSpec{Pid: id.Pid, Parent: 1, Start: id.Start, Cwd: "/"})
		}
	}
}

// NewTask returns the task n (from 1) of process i (from 0), whose calls go to port.
func NewTask(port fsfake.Port, i, n int) *Task {
	return &Task{Proc: fsfake.NewProc(port, FirstPid+i, n), Process: ProcessName(i), Index: i}
}
