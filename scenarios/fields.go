package scenarios

import (
	"fmt"
	"strings"
	"syscall"
	"time"

	"lockpick/fsfake"
	"lockpick/internal/lists"
	"lockpick/internal/numbers"
)

// The bounds of a setting.
const (
	// MaxProcesses is as many as there are names, A to Z.
	MaxProcesses = 26
	// MaxTasks bounds the tasks of all processes together.
	MaxTasks = 64
	// MaxStalls bounds the stalls: every one multiplies what there is to explore.
	MaxStalls = 1000
	// MaxFailingCalls bounds the calls that fail: every one multiplies what there is to explore.
	MaxFailingCalls = 100
	// MaxSignals bounds the signals: every one multiplies what there is to explore.
	MaxSignals = 20
	// maxPid is Linux's PID_MAX_LIMIT.
	maxPid = 1 << 22
	// maxJump is how far all stalls together may move the clock, which ends in 2262.
	maxJump = 100 * 365 * 24 * time.Hour
)

// A Field is one row of the table of a setting's fields. Whoever writes or reads settings
// goes through the table: the command's flags, bundles, JSON, the
// commands that replay, headlines and pages. A field of [Setting] that no row knows fails
// this package's tests.
type Field struct {
	// Name is how bundles and messages call it, such as "stall-for".
	Name string
	// Flag is the command's option that changes it, without dashes. It is empty where the
	// scenario alone decides.
	Flag string
	// Usage is the option's help, with the name of its value between backquotes.
	Usage string
	// OfCommands is the help of the same option of run. It is empty where commands do not have the
	// field.
	OfCommands string
	// JSON is its key in JSON documents, or empty.
	JSON string
	// With is the flag of run without which it has no effect; empty for none.
	With string
	// Title is its name on a page for people; empty where it is on no page.
	Title string

	unset  string                // what a page tells where it is zero; empty for what tells says of that, too
	tells  func(*Setting) string // what a page tells; nil where it is on no page
	always bool                  // written where it is zero, too
	words  func(*Setting) string // the headline's words, "" for none; may be nil, and is not asked where it is zero
	moot   func(*Setting) bool   // may be nil
	access
}

// Text returns the field's value as text. It is not empty.
func (f *Field) Text(s *Setting) string { return f.get(s) }

// Set reads the text of a value into s. The error has the text and what to choose
// instead.
func (f *Field) Set(s *Setting, text string) error { return f.set(s, text) }

// Copy gives the field in one setting the value that it has in another.
func (f *Field) Copy(to, from *Setting) { f.copy(to, from) }

// Moot reports whether the value has no effect in s: how far stalls go, without stalls.
func (f *Field) Moot(s *Setting) bool { return f.moot != nil && f.moot(s) }

// Value returns the value for a JSON document, and whether it belongs there: what is zero
// or moot mostly does not.
func (f *Field) Value(s *Setting) (any, bool) {
	there := f.always || !f.zero(s) && !f.Moot(s)
	return f.value(s), f.JSON != "" && there
}

// zero reports whether the value is that of the zero Setting.
func (f *Field) zero(s *Setting) bool { return f.get(s) == f.get(&Setting{}) }

// Tell is the value on a page for people.
func (f *Field) Tell(s *Setting) string {
	if f.unset != "" && f.zero(s) {
		return f.unset
	}
	return f.tells(s)
}

// Fields returns the table, in the order in which settings are told.
func Fields() []Field {
	return []Field{
		{
			Name: "processes", Flag: "procs", Usage: "change the number of processes to `N`", always: true,
			Title: "Processes", tells: func(s *Setting) string { return fmt.Sprint(s.Processes) },
			words:  func(s *Setting) string { return numbers.Count(s.Processes, "process", "processes") },
			access: at(counts(1, MaxProcesses), func(s *Setting) *int { return &s.Processes }),
		}, {
			Name:  "tasks",
			Title: "Tasks", unset: "one each", tells: tellTasks,
			words: func(s *Setting) string {
				if s.Contenders() == s.Processes {
					return ""
				}
				return numbers.Count(s.Contenders(), "task", "tasks")
			},
			access: at(perProcess("one-each", counts(1, MaxTasks)), func(s *Setting) *[]int { return &s.Tasks }),
		}, {
			Name:   "running",
			access: at(perProcess("all", counts(1, MaxTasks)), func(s *Setting) *[]int { return &s.Running }),
		}, {
			Name:   "fixed",
			access: at(yesNo(), func(s *Setting) *bool { return &s.Fixed }),
		}, {
			Name:   "interchangeable",
			access: at(yesNo(), func(s *Setting) *bool { return &s.Interchangeable }),
		}, {
			Name: "crashes", Flag: "crashes", Usage: "let up to `K` processes be killed", JSON: "crashes", always: true,
			OfCommands: "let up to `K` processes be killed, each at any call",
			Title:      "Crashes", unset: "none", tells: tellCrashes,
			words:  func(s *Setting) string { return upTo(s.Crashes, "crash", "crashes") },
			access: at(counts(0, MaxProcesses), func(s *Setting) *int { return &s.Crashes }),
		}, {
			Name: "kill", Flag: "kill", JSON: "kill",
			OfCommands: "what a kill ends, as `SCOPE`: process, the command's first process (default), or group, " +
				"with all that it has started, as kill -9 -PGID does",
			With:   "crashes",
			words:  func(*Setting) string { return "which ends all that the command has started" },
			moot:   func(s *Setting) bool { return s.Crashes == 0 },
			access: at(oneOf[KillScope]("process", "group"), func(s *Setting) *KillScope { return &s.Kill }),
		}, {
			Name:   "mortal",
			moot:   func(s *Setting) bool { return s.Crashes == 0 },
			access: at(someOf("all"), func(s *Setting) *[]int { return &s.Mortal }),
		}, {
			Name: "stalls", Flag: "stalls", Usage: "let the clock jump ahead up to `K` times", JSON: "stalls", always: true,
			OfCommands: "let the clock jump ahead up to `K` times, at any call: all commands are delayed",
			Title:      "Stalls", unset: "none", tells: tellStalls,
			words: func(s *Setting) string {
				if s.SetsBack() {
					return upTo(s.Stalls, "step back", "steps back") + " of the clock by " + numbers.Time(-s.StallFor)
				}
				return upTo(s.Stalls, "stall", "stalls")
			},
			access: at(counts(0, MaxStalls), func(s *Setting) *int { return &s.Stalls }),
		}, {
			Name: "stall-for", Flag: "stall-for", JSON: "stall_for",
			Usage: "how far it jumps, such as `48h` (default what the scenario says, or 1h); with a minus the clock is " +
				"set back",
			OfCommands: "how far it jumps, such as `48h` (default 1h); with a minus the clock is set back",
			With:       "stalls",
			moot:       func(s *Setting) bool { return s.Stalls == 0 },
			access:     at(durations(), func(s *Setting) *time.Duration { return &s.StallFor }),
		}, {
			Name: "punctual", Flag: "punctual", JSON: "punctual",
			Usage: "never delay the processes `LIST`, such as A or A,B, beyond what they sleep, when the clock jumps",
			words: func(s *Setting) string {
				if s.Stalls == 0 {
					return ""
				}
				return numbers.List(names(s.Punctual)) + " punctual"
			},
			moot:   func(s *Setting) bool { return s.Stalls == 0 },
			access: at(someOf("none"), func(s *Setting) *[]int { return &s.Punctual }),
		}, {
			Name: "power-losses", Flag: "power-losses", Usage: "let the power be lost up to `K` times, 0 or 1", JSON: "power_losses",
			OfCommands: "let the power be lost up to `K` times, 0 or 1, at any call",
			Title:      "Power losses", unset: "none", tells: tellPowerLosses,
			words:  func(s *Setting) string { return upTo(s.PowerLosses, "power loss", "power losses") },
			access: at(counts(0, 1), func(s *Setting) *int { return &s.PowerLosses }),
		}, {
			Name:   "reboot",
			moot:   func(s *Setting) bool { return s.PowerLosses == 0 },
			access: at(someOf("none"), func(s *Setting) *[]int { return &s.Reboot }),
		}, {
			Name:  "users",
			Title: "Users", unset: "root",
			tells: func(s *Setting) string { return "of each process, " + strings.Trim(fmt.Sprint(s.Users), "[]") },
			words: func(s *Setting) string {
				return "users " + strings.ReplaceAll(strings.Trim(fmt.Sprint(s.Users), "[]"), " ", " and ")
			},
			access: at(perProcess("root", counts(0, 65534)), func(s *Setting) *[]int { return &s.Users }),
		}, {
			Name: "containers", Flag: "containers", JSON: "containers",
			Usage: "run each process in a pid namespace of its own, with the pids `LIST` in there, such as 1,1 or 1,2",
			Title: "Containers", unset: "none",
			tells:  func(s *Setting) string { return "one each, with the pids " + pidsInside(s) },
			words:  func(s *Setting) string { return "in containers with pids " + pidsInside(s) },
			access: at(perProcess("none", counts(0, maxPid)), func(s *Setting) *[]int { return &s.Containers }),
		}, {
			Name: "skew", Flag: "skew", JSON: "skew",
			Usage: "set the clock of each process ahead of the file system's by the times `LIST`, such as 0s,90s; " +
				"behind with a minus",
			OfCommands: "set the clock of each command ahead of the file system's by the times `LIST`, such as 0s,90s; " +
				"behind with a minus",
			Title: "Clocks", unset: "as the file system's",
			tells:  func(s *Setting) string { return "of " + tellSkew(s) },
			words:  func(s *Setting) string { return "the clock of " + tellSkew(s) },
			access: at(perProcess("none", skews()), func(s *Setting) *[]time.Duration { return &s.Skew }),
		}, {
			Name: "failing-calls", Flag: "failing-calls", JSON: "failing_calls",
			Usage:      "let up to `K` calls fail, as on a full disk",
			OfCommands: "let up to `K` calls of the programs find the disk full (ENOSPC), or what --fail-with says",
			Title:      "Failing calls", unset: "none", tells: tellFailingCalls,
			words:  func(s *Setting) string { return upTo(s.FailingCalls, "failing call", "failing calls") },
			access: at(counts(0, MaxFailingCalls), func(s *Setting) *int { return &s.FailingCalls }),
		}, {
			Name: "fail-with", Flag: "fail-with", JSON: "fail_with",
			Usage:      "the errors with which calls fail, `LIST`, such as ENOSPC or EIO,EACCES (default any)",
			OfCommands: "the errors with which calls fail, `LIST`, such as EIO or ENOSPC,EACCES (default ENOSPC)",
			With:       "failing-calls",
			moot:       func(s *Setting) bool { return s.FailingCalls == 0 },
			access:     at(listOf("any", errnos()), func(s *Setting) *[]syscall.Errno { return &s.FailWith }),
		}, {
			Name:   "handlers",
			moot:   func(s *Setting) bool { return s.Signals == 0 },
			access: at(someOf("none"), func(s *Setting) *[]int { return &s.Handlers }),
		}, {
			Name: "signals", Flag: "signals", JSON: "signals",
			Usage: "let up to `K` signals come, to processes that have a handler",
			Title: "Signals", unset: "none", tells: tellSignals,
			words:  func(s *Setting) string { return upTo(s.Signals, "signal", "signals") },
			access: at(counts(0, MaxSignals), func(s *Setting) *int { return &s.Signals }),
		}, {
			Name:  "daemons",
			Title: "When a program ends", tells: func(s *Setting) string {
				if s.Daemons {
					return "process stays alive"
				}
				return "process exits"
			},
			access: at(yesNo(), func(s *Setting) *bool { return &s.Daemons }),
		}, {
			Name:   "concurrency",
			moot:   func(s *Setting) bool { return s.Contenders() == s.Processes && s.Signals == 0 },
			access: at(oneOf[Concurrency]("event-loop", "threads"), func(s *Setting) *Concurrency { return &s.Concurrency }),
		}, {
			Name: "file-system", Flag: "fs", JSON: "file_system",
			Usage:      "run on the file system `NAME`: ext4, xfs, btrfs, tmpfs or overlay, of which Setup makes the image",
			OfCommands: "run on the file system `NAME`: ext4, xfs, btrfs, tmpfs or overlay",
			words:      func(s *Setting) string { return "on " + s.Machine.Profile.String() },
			access: at(oneOf[fsfake.Profile](fsfake.ProfileNames()...),
				func(s *Setting) *fsfake.Profile { return &s.Machine.Profile }),
		}, {
			Name: "assume", Flag: "assume", JSON: "assume",
			Usage: "decide only the case `WORDS` of what file systems do: inodes-reused or inodes-not-reused, " +
				"times-shared, times-show, times-late or times-differ, what a loss of power leaves on posix, ext4, xfs or btrfs, " +
				"or one of each with a comma",
			OfCommands: "take for possible what a loss of power leaves on `DISK`: ext4, xfs or btrfs (default posix)",
			Title:      "Assumed of the file system", tells: func(s *Setting) string { return s.Assume.String() },
			words: func(s *Setting) string { return "assuming " + s.Assume.String() },
			access: at(codec[Assumptions]{text: Assumptions.String, parse: ParseAssumptions},
				func(s *Setting) *Assumptions { return &s.Assume }),
		}, {
			Name: "inode-numbers",
			access: at(oneOf[fsfake.InodePolicy]("canonical", "reuse", "unique", "first-seen", "compared"),
				func(s *Setting) *fsfake.InodePolicy { return &s.Machine.InodeNumbers }),
		}, {
			Name: "file-times",
			access: at(oneOf[fsfake.TimePolicy]("coarse", "multigrain", "late"),
				func(s *Setting) *fsfake.TimePolicy { return &s.Machine.FileTimes }),
		}, {
			Name:   "clock-start",
			access: at(times(), func(s *Setting) *time.Time { return &s.Machine.Start }),
		}, {
			Name:   "umask",
			access: at(umasks(), func(s *Setting) *uint32 { return &s.Machine.Umask }),
		}, {
			Name:   "dir-links-hidden",
			access: at(yesNo(), func(s *Setting) *bool { return &s.Machine.DirLinksHidden }),
		}, {
			Name:   "child-pids",
			access: at(counts(0, ChildPids), func(s *Setting) *int { return &s.Machine.ChildPids }),
		}, {
			Name:   "durability",
			moot:   func(s *Setting) bool { return s.PowerLosses > 0 }, // it is remembered anyway
			access: at(yesNo(), func(s *Setting) *bool { return &s.Machine.PowerLoss }),
		}, {
			Name: "disk",
			moot: func(s *Setting) bool { return s.PowerLosses == 0 || s.Assume.Disk != 0 },
			access: at(oneOf[fsfake.Disk]("default", "posix", "ext4", "xfs", "btrfs"),
				func(s *Setting) *fsfake.Disk { return &s.Machine.Disk }),
		},
	}
}

func tellTasks(s *Setting) string {
	var list []string
	for i := range s.Processes {
		text := numbers.Count(s.ownTasks(i), "task", "tasks") + " in " + ProcessName(i)
		if i < len(s.Running) && s.Running[i] < s.ownTasks(i) {
			text += fmt.Sprintf(" (%d at first)", s.Running[i])
		}
		list = append(list, text)
	}
	if s.Concurrency == Threads {
		return numbers.List(list) + ", threads"
	}
	return numbers.List(list) + ", on an event loop"
}

func tellCrashes(s *Setting) string {
	text := fmt.Sprintf("up to %d", s.Crashes)
	if s.Mortal != nil {
		text += ", of " + numbers.List(names(s.Mortal))
	}
	if s.Daemons {
		return text + ", at any moment" // also when its program has ended
	}
	return text + ", before any step"
}

func tellStalls(s *Setting) string {
	if s.SetsBack() {
		return fmt.Sprintf("none; the clock is set back up to %s, by %s", numbers.Count(s.Stalls, "time", "times"),
			numbers.Time(-s.StallFor))
	}
	text := fmt.Sprintf("up to %d, of %s", s.Stalls, numbers.Time(s.StallFor))
	if len(s.Punctual) > 0 {
		text += "; " + s.PunctualNames() + " delayed"
	}
	return text
}

// PunctualNames says who is never delayed: "A and B are never".
func (s *Setting) PunctualNames() string {
	if len(s.Punctual) == 1 {
		return ProcessName(s.Punctual[0]) + " is never"
	}
	return numbers.List(names(s.Punctual)) + " are never"
}

func tellPowerLosses(s *Setting) string {
	text := fmt.Sprintf("up to %d", s.PowerLosses)
	if len(s.Reboot) > 0 {
		text += "; " + numbers.List(names(s.Reboot)) + " start after it"
	}
	return text
}

// tellSkew says whose clock is not the file system's: "A 1m behind and B 2m ahead".
func tellSkew(s *Setting) string {
	var list []string
	for i, d := range s.Skew {
		switch name := ProcessName(i); {
		case d > 0:
			list = append(list, name+" "+numbers.Time(d)+" ahead")
		case d < 0:
			list = append(list, name+" "+numbers.Time(-d)+" behind")
		}
	}
	if list == nil {
		return "nobody ahead or behind"
	}
	return numbers.List(list)
}

func pidsInside(s *Setting) string {
	return strings.ReplaceAll(strings.Trim(fmt.Sprint(s.Containers), "[]"), " ", ", ")
}

func tellFailingCalls(s *Setting) string {
	if s.FailWith == nil {
		return fmt.Sprintf("up to %d, with any error", s.FailingCalls)
	}
	return fmt.Sprintf("up to %d, with %s", s.FailingCalls, strings.Join(s.FailNames(), ", "))
}

func tellSignals(s *Setting) string {
	return fmt.Sprintf("up to %d, handled by %s", s.Signals, numbers.List(names(s.Handlers)))
}

func names(list []int) []string {
	return lists.Map(list, ProcessName)
}

// upTo renders "up to 1 crash", and nothing for none.
func upTo(n int, one, many string) string {
	if n == 0 {
		return ""
	}
	return "up to " + numbers.Count(n, one, many)
}
