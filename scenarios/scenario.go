package scenarios

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"lockpick/fsfake"
	"lockpick/internal/lists"
)

// A Probe is one attempt by a fresh process to get through; nil means it did.
type Probe func(t *Task) error

// A Watchdog watches runs of programs: code that never comes back, with a call or because it
// has ended, holds up everybody.
type Watchdog interface {
	// Begin is told of a run that begins, End that it has ended. Runs go on side by side.
	Begin(*WatchedRun)
	End(*WatchedRun)
}

// A WatchedRun is one run of a program, as a Watchdog sees it.
type WatchedRun struct {
	// Who is whose program it is, Last the call that it has made last; zero for none.
	Who  string
	Last fsfake.Op
	// Turns goes up whenever code begins to run, and whenever it comes back: while it is odd
	// the program runs. Last does not change meanwhile.
	Turns atomic.Uint64
}

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
	// a dead process. It may be nil. A call of it that fails is an error, and no verdict,
	// also when nobody looks at its answer.
	Setup func(m *fsfake.Machine)
	// Program returns what task number task (from 1) of process number process (from 0)
	// runs. It is called often and must return an equal program each time.
	Program func(process, task int) Program
	// Probe decides the property wedge. It is needed for that property only.
	Probe Probe
	// Keeps lists what may be on the disk when everybody has ended, as patterns of package path:
	// a lock file that is never removed, the file that the lock guards. What was there at the start
	// may be anyway. It is for the property left-behind only.
	Keeps []string
	// Data lists the files that [Atomic] and [Durable] judge, as patterns of package path: not the lock file. Empty means
	// all.
	Data []string
	// Watch lists the files that a timeline shows.
	Watch []string
	// Claims lists the properties asked, with the verdict expected of each.
	Claims []Claim
	// External: the programs are not Go functions but run somebody else's code, as package
	// scenarios/command does: each start is expensive, and retry loops are not marked.
	External bool
	// Same says of External programs which of the processes, from 0, is the first that runs the same as one
	// does, but for its pid. Nil: none runs what another does.
	Same func(process int) int
	// Late is asked before a verdict about External programs holds. It tries out whether one of them does something
	// else when more time has passed than its clock shows, and says what; "" where none does. quickly: little is tried.
	// It may be nil.
	Late func(ctx context.Context, quickly bool) (string, error)
	// InTime, of programs whose clocks stand still, returns the scenario in which clocks move and sleeps last. It is asked
	// where a verdict depends on clocks. May be nil.
	InTime func() (Scenario, error)
	// AnySleep, of programs whose clocks move, returns the scenario in which they stand still and a sleep lasts for any
	// time: one that sleeps may poll on while another is delayed. A stall delays all. May be nil.
	AnySleep func() (Scenario, error)
	// Apart says of External programs which of them does something else where the times of files are in another order,
	// and returns the scenario in which no two changes share a time; nil where none does, with why when that is not
	// known of all. May be nil.
	Apart func() (sc *Scenario, why string, err error)
	// EveryBirth, of External programs in which a child begins or ends before other calls are made, returns the
	// scenario in which it does so in every order with them, once a search has seen a program that could tell; nil
	// before. May be nil.
	EveryBirth func() (*Scenario, error)
	// Slept is the longest sleep that External programs have begun so far. May be nil.
	Slept func() time.Duration
	// Assumes lists what a verdict about the scenario takes for granted, beyond its bounds. It may be empty.
	Assumes []Premise
	// Assumed is Assumes for what only a search shows: it is asked once one is over. It may be nil.
	Assumed func() []Premise
	// Unjudged says, once a search is over, what the programs share that was not judged, so that nothing it covered
	// holds; "" for nothing. It may be nil.
	Unjudged func() string
	// OneOrder says, once a search is over, where [OneOrder] was noted: which call waits, beside which, and what one
	// can do. It is "" for nowhere, and may be nil.
	OneOrder func() string
	// Corpus: one of a large collection, which is decided only when it is asked for.
	Corpus bool
	// Subject is the protocol alone, for surveys; nil when there is none.
	Subject *Subject
	// More: nobody has said how many processes there are. Where a property holds with two, and three are soon decided,
	// they are; see [Subject.Contend].
	More bool
	// Watchdog is told when code of the scenario runs; nil for nobody. Verdicts do not depend
	// on it. The command and package checkertest set their own.
	Watchdog Watchdog
	// Entry says where the scenario stands in a catalogue; commands filter by it.
	Entry Entry

	written *Setting // the setting before In changed it, nil when it did not
}

// The pids of processes.
const (
	firstPid = 101
	// DeadPid is a pid that no process has: the dead owner of a stale lock.
	DeadPid = 99
	// ProbePid is the pid of the fresh process that probes for a wedge.
	ProbePid = 900
)

// Pid returns the pid of a process: 101 for process 0 (A), 102 for process 1, and so on.
func Pid(process int) int { return firstPid + process }

// ProcessOf returns the number of the process that has a pid; false for a pid that is
// none of a process's, as those of dead owners, probes and children.
func ProcessOf(pid int) (process int, ok bool) {
	process = pid - firstPid
	return process, process >= 0 && process < MaxProcesses
}

// ChildPids is how many pids the processes that a command starts have: those from the command's own pid
// times this on, which is nobody's.
const ChildPids = 1000

// StartedBy returns the number of the process whose command has started the one that has a pid; false for
// a pid that is none of theirs.
func StartedBy(pid int) (process int, ok bool) {
	if pid%ChildPids == 0 {
		return 0, false
	}
	return ProcessOf(pid / ChildPids)
}

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

// Asked is the property with p's id that the scenario claims something of, which of commands is not the same value; nil
// where it claims nothing.
func (s *Scenario) Asked(p *Property) *Property {
	i := slices.IndexFunc(s.Claims, func(c Claim) bool { return c.Property.ID == p.ID })
	if i < 0 {
		return nil
	}
	return s.Claims[i].Property
}

// Claim returns what the scenario claims of p in its setting.
func (s *Scenario) Claim(p *Property) (Verdict, bool) {
	for _, c := range s.Claims {
		if c.Property.ID == p.ID {
			return c.Under(s.Setting.Assumed()), true
		}
	}
	return Unknown, false
}

// ProcID returns the pid and start time of process i.
func ProcID(i int) fsfake.ProcID {
	return fsfake.ProcID{Pid: Pid(i), Start: int64(1000 + i)}
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
	case len(s.Claims) == 0:
		return bad("Claims is empty: nothing is asked")
	}
	if err := st.validate(); err != nil {
		return bad("%v", err)
	}
	for i, c := range s.Claims {
		if err := s.validateClaim(c.Property, i); err != nil {
			return err
		}
	}
	return s.validatePatterns()
}

// validateClaim reports what is wrong with the property of claim number i, or nil.
func (s *Scenario) validateClaim(p *Property, i int) error {
	if err := p.Validate(); err != nil {
		return fmt.Errorf("%w (claim %d of scenario %q)", err, i+1, s.ID)
	}
	if slices.ContainsFunc(s.Claims[:i], func(c Claim) bool { return c.Property.ID == p.ID }) {
		return fmt.Errorf("scenarios: scenario %q: two claims are about the property %s", s.ID, p)
	}
	if c := s.Claims[i]; c.Verdict != Broken && c.Where != (Assumptions{}) {
		return fmt.Errorf("scenarios: scenario %q: the claim on %s is %s where %s: say where it is "+
			"broken", s.ID, p, c.Verdict, c.Where)
	}
	if p.NeedsProbe() && len(s.Setting.Containers) > 0 {
		return fmt.Errorf("scenarios: scenario %q: the property %s asks a fresh process, which is in no container: "+
			"do not ask it with containers", s.ID, p)
	}
	if p.NeedsProbe() && s.Probe == nil {
		return fmt.Errorf("scenarios: scenario %q: the property %s needs a Probe", s.ID, p)
	}
	return nil
}

// Property returns the property with an id: one that the scenario claims something of,
// or else one of this package's.
func (s *Scenario) Property(id string) (*Property, error) {
	for _, c := range s.Claims {
		if c.Property.ID == id {
			return c.Property, nil
		}
	}
	return FindProperty(id, *s)
}

// NewMachine returns the machine on which the scenario starts. It panics when Setup fails:
// [Scenario.Start] says so before.
func (s *Scenario) NewMachine() *fsfake.Machine {
	m, err := s.Start()
	if err != nil {
		panic(err)
	}
	return m
}

// Start returns the machine on which the scenario starts: the disk set up and durable, the
// processes there, but for those that start after a reboot. The error is a Setup that
// panics, or that makes a call in vain: half a disk would be judged wrongly.
func (s *Scenario) Start() (*fsfake.Machine, error) {
	o := s.Setting.chosen().machine(s.Setting.Machine)
	o.PowerLoss = o.PowerLoss || s.Setting.PowerLosses > 0
	m := fsfake.New(o)
	lasts := s.Setting.Assume.Sleeps == SleepsLast
	if s.Setting.Stalls > 0 || lasts {
		m.SetPunctual(s.Setting.punctualPids()...)
	}
	s.boot(m, false)
	if s.Setup != nil {
		if err := m.Prepare(s.Setup); err != nil {
			return nil, fmt.Errorf("scenarios: the Setup of %s fails: %w; make first what it needs, such as the "+
				"directory", s.ID, err)
		}
	}
	m.SealImage()
	if o.PowerLoss {
		m.Sync()
	}
	if lasts {
		m.LetSleepsLast()
	}
	if lasts && s.External {
		m.LetNobodyDelay()
	}
	m.KeepStart()
	return m, nil
}

// MayFail lists the errors with which a call may fail. Of real programs EIO fails fsync alone, which drops what was
// written: each call that fails costs an execution.
func (s *Scenario) MayFail(c fsfake.Call) []syscall.Errno {
	all := s.Setting.MayFail(c)
	if s.Expensive() && c != fsfake.CallFsync {
		all = slices.DeleteFunc(all, func(e syscall.Errno) bool { return e == fsfake.EIO })
	}
	return all
}

// Losses lists the disks that a loss of power may leave of a machine that runs the scenario, as far as a property can
// tell them apart. Of protocols in Go it lists all, or it is an error.
func (s *Scenario) Losses(m *fsfake.Machine, p *Property) (fsfake.Losses, error) {
	var judged [][]string
	if p.Judged != nil && s.Setting.Reboot == nil {
		judged = p.Judged()
	}
	l, err := m.Losses(judged, p.Disks)
	if err == nil && !l.Whole && !s.External {
		err = fmt.Errorf("a loss of power here leaves more than %d disks: choose a smaller setting", l.Len())
	}
	return l, err
}

// LosePower cuts the power of a machine that runs the scenario and starts it again: the
// disk is number k of those listed, and the processes of Reboot are there.
func (s *Scenario) LosePower(m *fsfake.Machine, l fsfake.Losses, k int) {
	m.Lose(l, k)
	s.boot(m, true)
}

// boot starts the processes that run from the beginning, or those that run after a reboot.
func (s *Scenario) boot(m *fsfake.Machine, again bool) {
	for i := range s.Setting.Processes {
		if s.Setting.AfterReboot(i) == again {
			id := ProcID(i)
			spec := fsfake.ProcSpec{Pid: id.Pid, Parent: 1, Start: id.Start, Cwd: "/", Tasks: s.Setting.TasksOf(i)}
			if i < len(s.Setting.Users) {
				spec.UID, spec.GID = uint32(s.Setting.Users[i]), uint32(s.Setting.Users[i])
			}
			spec.Inside = s.Setting.PidInContainer(i)
			if i < len(s.Setting.Skew) {
				spec.Skew = s.Setting.Skew[i]
			}
			m.AddProc(spec)
		}
	}
}

// Task returns the task n (from 1) of process i (from 0) of the scenario, whose calls go to port.
func (s *Scenario) Task(port fsfake.Port, i, n int) *Task {
	t := NewTask(port, i, n)
	t.inside = s.Setting.PidInContainer(i)
	t.Handler = s.Setting.IsHandler(i, n)
	t.leaves = t.Handler && s.Setting.ownTasks(i) == 1
	return t
}

// NewTask returns the task n (from 1) of process i (from 0), whose calls go to port.
func NewTask(port fsfake.Port, i, n int) *Task {
	return &Task{Proc: fsfake.NewProc(port, Pid(i), n), Process: ProcessName(i), Index: i}
}

// A Premise is what a verdict takes for granted.
type Premise struct {
	// Code names its kind for programs: "clock-stands-still". It stays the same when the sentence changes.
	Code string
	// Text says it in a sentence.
	Text string
}

// SeveralEnds is the code of a premise: a program alone ends in several ways, and each counts as right.
const SeveralEnds = "several-ends-alone"

// Texts are the sentences of premises.
func Texts(all []Premise) []string {
	return lists.Map(all, func(p Premise) string { return p.Text })
}

// What External programs are like, one trait each: whoever asks says what matters to it.

// Expensive reports whether each run of a program starts somebody else's: few are made, what they show is kept, and
// nothing is tried that takes thousands of them.
func (s *Scenario) Expensive() bool { return s.External }

// AssumesOneCase reports whether what file systems and clocks do differently is not decided case by case where programs
// look at it: one case is decided, and the verdict says what it assumes.
func (s *Scenario) AssumesOneCase() bool { return s.External }

// OfCommands reports whether the programs are commands that somebody has typed. Reports name them so, fold the calls
// that concern nobody else, and tell what to do about a kind of mistake; a broken one is a failure without any claim.
func (s *Scenario) OfCommands() bool { return s.External }

// Alike reports whether all processes have the same role as far as the setting says, so that it makes sense to ask for
// one more of them. That they run the same program is not said here: [Setting.Interchangeable] promises it.
func (s *Setting) Alike() bool {
	for _, f := range Fields() {
		for i := 1; f.of != nil && i < s.Processes; i++ {
			if f.of(s, i) != f.of(s, 0) {
				return false
			}
		}
	}
	return !s.Fixed
}
