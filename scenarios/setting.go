package scenarios

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"syscall"
	"time"

	"lockpick/fsfake"
	"lockpick/internal/lists"
	"lockpick/internal/numbers"
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
	// Running is how many of its tasks each process has at first, the others do not exist before
	// [Task.Start] starts them: until then they neither step nor wait, and a process ends
	// without them. nil means that all run from the start.
	Running []int
	// Fixed: the processes have roles of their own, so their number cannot be changed.
	Fixed bool
	// Interchangeable: every process runs the same program, which does not look at its index, and to which
	// pids are names that are as good as others: it may write its own down, look whether another's owner
	// lives, and compare two. So a search may treat states that differ only in who is who
	// as one. The search verifies the promise.
	Interchangeable bool
	// Crashes is how many processes may be killed (SIGKILL), each at any moment while it lives: before
	// any of its steps, and with Daemons also after the last.
	Crashes int
	// Kill says what a kill ends of a command that has started other processes.
	Kill KillScope
	// Mortal lists the processes that may be killed; nil means all.
	Mortal []int
	// Stalls is how often the clock may jump ahead by StallFor, at any moment: whoever is
	// in the middle of something has then been paused for that long. A negative StallFor sets the time
	// of day back instead, as a step of NTP or an administrator does, and nobody is delayed: sleeps last
	// as long as before, and files are stamped with earlier times. A setting has one or the other.
	Stalls   int
	StallFor time.Duration
	// Punctual lists the processes that are never delayed: before each step of theirs no time passes
	// but what they sleep, or wait in a call for others, and they begin when they like. The
	// clock moves only while all of them sleep, wait, or have ended, and to the time at
	// which the first of them wakes at most: a stall then passes in pieces, each a choice of its
	// own. So a lease is kept by a heartbeat that comes in time, and a lock that works by waiting
	// alone holds. Sleeps last as long as they say where that is seen, so also beside them.
	Punctual []int
	// PowerLosses is how often the power may be lost, at any moment, also after the last
	// step: 0 or 1. Every process ends then, and of what was not synced the disk keeps what
	// package fsfake lists as legal; what Setup made is synced.
	PowerLosses int
	// Reboot lists the processes that start when the power is back; nobody else runs from
	// there on, and these do not exist before. They are not killed by the power loss.
	Reboot []int
	// Users are the users that the processes run as, by process; nil means root, for all. A user may
	// not signal another's process, nor do what the disk's permissions do not allow.
	Users []int
	// Containers are the pids that processes have in a container of their own each, by process; 0 is
	// a process in none, and nil is nobody. A container is a pid namespace in which nobody else
	// is; the disk is one.
	Containers []int
	// Skew is how far the time of day of each process is ahead of the clock that stamps files,
	// negative where it is behind, by process; nil is nobody. It is as on several hosts that share
	// one disk. Sleeps and stalls take as long for everybody; a fresh process has the disk's clock.
	Skew []time.Duration
	// FailingCalls is how many calls may fail although nothing stands in their way, any call of
	// any process but a fresh one's: "what if this write fails". FailWith lists the errors with
	// which they do; nil means all that package fsfake knows of the call. See [fsfake.Machine.CanFail].
	FailingCalls int
	FailWith     []syscall.Errno
	// Handlers lists the processes that have a signal handler. A handler is one more task of its
	// process, the last, and does not exist before a signal comes. It interrupts the first task, which
	// makes no step until the handler has ended; other tasks go on. It may end the process
	// ([fsfake.Proc.Exit]). A call in which the first task waits is made anew afterwards, at the end of
	// the queue (SA_RESTART, which Python and Go ask for). Signals is how many signals may come, each to
	// one of these processes, at any moment while it lives, also between its last step and its exit. A
	// signal that comes while a handler runs is handled when that has ended.
	Handlers []int
	Signals  int
	// Daemons: a process stays alive when its programs have ended. Otherwise it exits
	// then, in a step of its own, and its pid is dead from there on.
	Daemons bool
	// Concurrency of the tasks of one process.
	Concurrency Concurrency
	// Machine are the options of the machine.
	Machine fsfake.Options
	// Assume fixes what file systems do differently with inode numbers and file times; what
	// it leaves open is decided case by case where tasks look at it.
	Assume Assumptions
}

// TasksOf returns the number of tasks of process i, its signal handler among them.
func (s *Setting) TasksOf(i int) int {
	if s.Handles(i) {
		return s.ownTasks(i) + 1
	}
	return s.ownTasks(i)
}

// ownTasks is the number of tasks of process i without a handler.
func (s *Setting) ownTasks(i int) int {
	if i < len(s.Tasks) {
		return s.Tasks[i]
	}
	return 1
}

// Handles reports whether process i has a signal handler. That is its last task.
func (s *Setting) Handles(i int) bool { return slices.Contains(s.Handlers, i) }

// IsHandler reports whether task n of process i is its signal handler.
func (s *Setting) IsHandler(i, n int) bool { return s.Handles(i) && n == s.TasksOf(i) }

// RunsAtFirst reports whether task n of process i runs as soon as its process does: nobody has to
// start it, and no signal.
func (s *Setting) RunsAtFirst(i, n int) bool {
	return !s.IsHandler(i, n) && (i >= len(s.Running) || n <= s.Running[i])
}

// Contenders returns the number of tasks of all processes, without signal handlers: the
// "processes" of reports.
func (s *Setting) Contenders() int {
	n := 0
	for i := range s.Processes {
		n += s.ownTasks(i)
	}
	return n
}

// EachTask yields the tasks of all processes, process by process: the number of the
// process, from 0, and that of the task in it, from 1.
func (s *Setting) EachTask() iter.Seq2[int, int] {
	return func(yield func(process, task int) bool) {
		for i := range s.Processes {
			for n := 1; n <= s.TasksOf(i); n++ {
				if !yield(i, n) {
					return
				}
			}
		}
	}
}

// CanDie reports whether process i may be killed.
func (s *Setting) CanDie(i int) bool {
	if s.Mortal == nil {
		return true
	}
	return slices.Contains(s.Mortal, i)
}

// SetsBack reports whether the clock may be set back, in place of stalls.
func (s *Setting) SetsBack() bool { return s.Stalls > 0 && s.StallFor < 0 }

// IsPunctual reports whether process i is never delayed.
func (s *Setting) IsPunctual(i int) bool { return slices.Contains(s.Punctual, i) }

// punctualPids are the pids of the processes that are never delayed.
func (s *Setting) punctualPids() []int {
	return lists.Map(s.Punctual, Pid)
}

// MayFail lists the errors with which a call may fail in the setting, in the order of their names.
func (s *Setting) MayFail(c fsfake.Call) []syscall.Errno {
	if s.FailingCalls == 0 {
		return nil
	}
	var out []syscall.Errno
	for _, e := range c.Failing() {
		if s.FailWith == nil || slices.Contains(s.FailWith, e) {
			out = append(out, e)
		}
	}
	return out
}

// FailNames names the errors with which some call may fail in the setting.
func (s *Setting) FailNames() []string {
	with := s.FailWith
	switch {
	case s.FailingCalls == 0:
		return nil
	case with == nil:
		with = fsfake.FailingErrnos()
	}
	return lists.Map(with, fsfake.ErrnoName)
}

// PidInContainer is the pid of process i in a container of its own, or 0 when it is in none.
func (s *Setting) PidInContainer(i int) int {
	if i < len(s.Containers) {
		return s.Containers[i]
	}
	return 0
}

// AfterReboot reports whether process i starts only after a loss of power.
func (s *Setting) AfterReboot(i int) bool {
	return slices.Contains(s.Reboot, i)
}

// Changed returns the fields in which s differs from another setting, in the order of
// [Fields]. What has no effect in either is left out.
func (s Setting) Changed(from Setting) []Change {
	var out []Change
	for _, f := range Fields() {
		c := Change{Field: f, From: f.Text(&from), To: f.Text(&s)}
		if c.From != c.To && !(f.Moot(&from) && f.Moot(&s)) {
			out = append(out, c)
		}
	}
	return out
}

// A Change is a field in which two settings differ, with its text in both.
type Change struct {
	Field
	From, To string
}

// String returns "stalls 2, not 1".
func (c Change) String() string { return fmt.Sprintf("%s %s, not %s", c.Name, c.To, c.From) }

// String returns the bounds in words, as headlines have them: "3 processes, up to 1
// crash".
func (s Setting) String() string {
	var parts []string
	for _, f := range Fields() {
		if f.words == nil || f.zero(&s) {
			continue
		}
		if text := f.words(&s); text != "" {
			parts = append(parts, text)
		}
	}
	return strings.Join(parts, ", ")
}

// Format returns the setting as text: a line with name and value for each field that is
// not as in the zero Setting, and for processes, crashes and stalls. [ParseSetting] reads
// it.
func (s Setting) Format() string {
	var b strings.Builder
	for _, f := range Fields() {
		if f.always || !f.zero(&s) {
			fmt.Fprintf(&b, "%s %s\n", f.Name, f.Text(&s))
		}
	}
	return b.String()
}

// ParseSetting reads the text of a setting. The error names the line that it does not understand. Whether the fields
// fit together is for [Scenario.In] to say.
func ParseSetting(text string) (st Setting, err error) {
	fields := Fields()
	seen := map[string]bool{}
	for _, line := range strings.Split(text, "\n") {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" {
			continue
		}
		i := slices.IndexFunc(fields, func(f Field) bool { return f.Name == name })
		switch {
		case i < 0:
			return st, fmt.Errorf("scenarios: a setting has no field %q", name)
		case seen[name]:
			return st, fmt.Errorf("scenarios: the setting names the field %q twice", name)
		}
		seen[name] = true
		if err := fields[i].Set(&st, value); err != nil {
			return st, fmt.Errorf("scenarios: %s %w", name, err)
		}
	}
	return st, nil
}

// DefaultStall is how far the clock jumps in a stall when stalls are asked for and
// nobody says how far: past every lease that anybody uses.
const DefaultStall = time.Hour

// In returns the scenario in another setting. It remembers the one that it was written
// with, for [Scenario.Changed]. The error says what cannot be: another number of
// processes than the roles that they have, or a value out of range.
func (s Scenario) In(st Setting) (Scenario, error) {
	own := &s.Setting
	if st.Processes != own.Processes && (own.Fixed || own.Tasks != nil || own.Reboot != nil || own.Users != nil ||
		own.Containers != nil || own.Skew != nil || own.Handlers != nil) {
		return s, fmt.Errorf("scenarios: %s has exactly %d processes, each with its own role", s.ID, own.Processes)
	}
	if st.Stalls > 0 && st.StallFor == 0 {
		st.StallFor = DefaultStall
	}
	if err := st.validate(); err != nil {
		return s, fmt.Errorf("scenarios: %s: %w", s.ID, err)
	}
	if s.written == nil {
		written := s.Setting
		s.written = &written
	}
	s.Setting = st
	return s, nil
}

// Restored returns the scenario in a setting that was saved: what a flag can change is as
// it was saved, and the rest is the scenario's own. What of the rest has changed since is
// returned as well.
func (s Scenario) Restored(saved Setting) (Scenario, []Change, error) {
	st := s.Setting
	for _, f := range Fields() {
		if f.Flag != "" {
			f.Copy(&st, &saved)
		}
	}
	changed := st.Changed(saved)
	if s.InTime != nil && st.Assume.Sleeps == SleepsLast { // each look at a clock is a call there
		var err error
		if s, err = s.InTime(); err != nil {
			return s, changed, err
		}
	}
	s, err := s.In(st)
	return s, changed, err
}

// Changed returns in what the scenario's setting differs from the one that it was
// written with, as far as [Scenario.In] changed it.
func (s *Scenario) Changed() []Change {
	if s.written == nil {
		return nil
	}
	return s.Setting.Changed(*s.written)
}

// WithProcesses returns the scenario with n processes; see [Scenario.In].
func (s Scenario) WithProcesses(n int) (Scenario, error) {
	st := s.Setting
	st.Processes, s.More = n, false
	return s.In(st)
}

// validate reports what is wrong with the setting, or nil.
func (s *Setting) validate() error {
	for _, f := range Fields() {
		if !f.always && f.zero(s) {
			continue
		}
		if err := f.Set(&Setting{}, f.Text(s)); err != nil {
			return fmt.Errorf("%s %w", f.Name, err)
		}
		if err := f.fits(s); err != nil {
			return fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	switch {
	case !s.Machine.Profile.Modelled():
		return fmt.Errorf("the file system %s is not modelled: choose ext4, xfs, btrfs, tmpfs, overlay, or posix "+
			"for what they have in common", s.Machine.Profile)
	case !onProfile(s.Machine.Profile).Allows(Assumptions{Inodes: s.Assumed().Inodes}):
		return fmt.Errorf("%s is not how %s numbers files: leave the assumption out",
			Assumptions{Inodes: s.Assumed().Inodes}, s.Machine.Profile)
	case s.PowerLosses > 0 && (s.Machine.Profile == fsfake.Tmpfs || s.Machine.Profile == fsfake.Overlay):
		return fmt.Errorf("what a loss of power leaves on %s is not modelled: choose another file system",
			s.Machine.Profile)
	case s.Contenders()+len(s.Handlers) > MaxTasks:
		return fmt.Errorf("%d tasks in all: choose up to %d", s.Contenders()+len(s.Handlers), MaxTasks)
	case s.Signals > 0 && len(s.Handlers) == 0:
		return fmt.Errorf("signals are handled by nobody: say which processes have a handler (Handlers)")
	case s.Signals > 0 && (s.Assume.Sleeps == SleepsLast || len(s.Punctual) > 0):
		return fmt.Errorf("signals are not compared with anything beside sleeps that last, or punctual processes: " +
			"leave one of them out")
	case s.Stalls > 0 && s.StallFor == 0:
		return fmt.Errorf("stalls need StallFor, the time by which the clock jumps")
	case s.SetsBack() && len(s.Punctual) > 0:
		return fmt.Errorf("a clock that is set back delays nobody: leave Punctual out")
	case s.Stalls > 0 && s.StallFor.Abs() > maxJump/time.Duration(s.Stalls):
		return fmt.Errorf("%d stalls of %s move the clock by more than 100 years: choose less", s.Stalls,
			numbers.Time(s.StallFor))
	case s.FailingCalls > 0 && s.Assume.Sleeps == SleepsLast:
		return fmt.Errorf("failing calls and sleeps that last are not compared with anything together: leave one " +
			"of them out")
	case len(s.Reboot) > 0 && s.PowerLosses == 0:
		return fmt.Errorf("processes start after a loss of power (Reboot), and PowerLosses is 0")
	case len(s.Reboot) >= s.Processes:
		return fmt.Errorf("every process starts after a loss of power: nobody runs before")
	}
	for i, n := range s.Running {
		if n > s.ownTasks(i) {
			return fmt.Errorf("%d tasks of process %s run at first, and it has %d: give it more (Tasks)", n,
				ProcessName(i), s.ownTasks(i))
		}
	}
	return nil
}
