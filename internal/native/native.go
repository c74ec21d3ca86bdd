package native

import (
	"time"
)

// A Task says what runs, and where.
type Task struct {
	// Commands run side by side: 1 to 5.
	Commands []Command
	// Dir is the directory in which they start: an absolute, clean path. It holds a copy of the real directory From.
	Dir, From string
	// Env is the whole environment.
	Env []string
	// Ignored reports whether a name relative to Dir is left out of what is compared; nil is never.
	Ignored func(name string) bool
	// Sleeps: the commands sleep for long, so more of them run side by side, and serial runs go on beside what comes
	// next.
	Sleeps bool
	// Recover and Read run alone at the end of each run, if they are given. What is compared is what the first leaves
	// behind, and in place of files what the second prints.
	Recover, Read []string
	// NoStdout leaves what is printed out.
	NoStdout bool
	// Refuses reports whether a command that ended so, "exit 1" or "signal 9", may not have done anything, so that
	// serial orders without it count; nil is never.
	Refuses func(exit string) bool
	// AllRefuse: all may have done nothing.
	AllRefuse bool
	// StallFor is how long a stall is.
	StallFor time.Duration
}

// A Command is a program with its arguments, looked up in PATH, and what it reads from its standard input.
type Command struct {
	Argv  []string
	Stdin string
}

// A Turn lets a command go on for so many shared calls; fewer than none: to its end.
type Turn struct{ Command, Calls int }

// A Step is a call of a command that a run is to make in its place in an order. Path is absolute; empty means one of
// New, which are not there at the start, so that they may be random names and others natively; without those, any.
//
// Three steps are no calls. Where Call is [KillStep] the command is killed, or if it is gone what it has started. Where
// it is [HeldStep] the command is held before it makes another call. Where Command is [Nobody] all wait for as long as
// a stall takes.
type Step struct {
	Command    int
	Call, Path string
	New        []string
}

// KillStep and HeldStep stand in a [Step] for the call of who is killed or held. Nobody is the Command of a step in
// which a stall passes.
const (
	KillStep = "killed"
	HeldStep = "held"
	Nobody   = -1
)

// A job is what a process in a view is told to run.
type job struct {
	Recover, Read []string

	Commands  []Command
	Dir, From string
	Copy      string   // where the copy of From lies; empty is in memory
	Below     bool     // it lies on the file system that holds Dir
	Outside   []string // shared files outside of Dir
	Turns     []Turn   // then all commands run to their ends
	Only      bool     // commands without a turn do not run
	Kill      kill     // what is killed of a command: after the turn KillAfter, or at a step of Script
	KillAfter int      // in Turns
	Again     int      // this command, counted from 1, is one more at the end of Commands; 0 for none
	Script    []Step   // comes before Turns
	StallFor  time.Duration
	Polls     []int         // these go round after Script, and the others end or wait
	Window    int           // how many steps ahead a call is looked for in Script
	Patience  time.Duration // how long a command may sleep before its turn ends
	Limit     time.Duration // of the run
	Jitter    float64       // the chance that a process is held while others of its command go on
	Ranked    bool          // of the processes of a command the one with the highest rank goes on, at each shared call
	Seed      uint64
}

// A run is what came of a job.
type run struct {
	Err     string   // the view could not be made
	Exits   []string // "exit 0", "signal 9"; empty when it has not ended
	Printed []string
	Tree    map[string]string // by name below Dir
	Outside map[string]string // by path
	Modes   map[string]string // permissions of what is in Tree and Outside, owners but the caller, given times
	Pids    [][]int           // by command
	Calls   []int             // shared, by command
	Turns   []turnEnd
	Parts   int    // of the script, which come first in Turns
	Killed  []int  // a command was killed, after so many of Turns
	Cut     string // why the run was cut short: deadlock, polling or unended
	// OnlyHere says what a command was about to do that fails in the view and not on the machine; empty for nothing.
	OnlyHere string
	Slept    time.Duration
	Took     time.Duration
	// Skipped are steps of the script that no call matched.
	Skipped int
	strict  bool // in a script nobody was waited for that sleeps: it may come too late otherwise
	At      time.Time
}

// A kill says who is killed.
type kill string

const (
	onlyFirst    kill = "first" // the command's first process, and nothing that it has started
	withChildren kill = "all"
)

// A turnEnd is how a turn ended, after so many calls.
type turnEnd struct {
	Command, Calls int
	End            rest
}

// A rest is why a command does not go on.
type rest string

const (
	held    rest = "held"
	ended   rest = "ended"
	waiting rest = "waiting"
	asleep  rest = "asleep"
	unended rest = "unended" // the time limit came first
	running rest = ""

	deadlock = "deadlock"
	polling  = "polling" // all others wait or have ended
)
