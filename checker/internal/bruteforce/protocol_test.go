package bruteforce

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Protocol is a scenario as data: the programs of its tasks, and the setting.
type Protocol struct {
	Name string
	// Programs, by process and task.
	Programs [][][]Stmt
	// Probe is the body of an acquisition, run by a fresh process; nil for none.
	Probe []Stmt `json:",omitempty"`
	// Running is how many of its tasks each process has at first; nil is all of them. The others are
	// started.
	Running []int `json:",omitempty"`
	// Handlers are the signal handlers of processes, nil for none, and Signals how many signals may come.
	Handlers [][]Stmt `json:",omitempty"`
	Signals  int      `json:",omitempty"`
	// Files exist at the start, durable and old.
	Files []File `json:",omitempty"`
	// Threads: tasks of one process interleave at cells too. Daemons: no process exits.
	Threads bool `json:",omitempty"`
	Daemons bool `json:",omitempty"`
	// Alike: every process runs the same program and looks at nothing that tells who it is.
	Alike bool `json:",omitempty"`
	// Pids: "@" in paths and texts is the pid of the process.
	Pids    bool  `json:",omitempty"`
	Crashes int   `json:",omitempty"`
	Mortal  []int `json:",omitempty"`
	Stalls  int   `json:",omitempty"`
	// Failing is how many calls may fail, with the errors of FailWith, or with any.
	Failing  int      `json:",omitempty"`
	FailWith []string `json:",omitempty"`
	// StallFor is how far a stall moves the clock, in seconds; 0 is an hour, and less than 0 sets it back. Punctual processes
	// are never delayed.
	StallFor int64 `json:",omitempty"`
	Punctual []int `json:",omitempty"`
	// Skew is how many seconds the clock of each process is ahead; nil is nobody's.
	Skew []int64 `json:",omitempty"`
	// Lasts: sleeps take as long as they say. Otherwise they take no time.
	Lasts bool `json:",omitempty"`
	// Ask names the properties that are asked.
	Ask []string
}

// A File is there at the start.
type File struct{ Path, Text string }

// stallFor is how far a stall moves the clock.
func (p *Protocol) stallFor() time.Duration {
	if p.StallFor != 0 {
		return time.Duration(p.StallFor) * time.Second
	}
	return time.Hour
}

// sleepFor is how long a sleep lasts: N seconds, or a millisecond for none.
func (s *Stmt) sleepFor() time.Duration {
	if s.N > 0 {
		return time.Duration(s.N) * time.Second
	}
	return time.Millisecond
}

// A Kind says what a statement does. Calls set the register ok to whether they succeeded.
type Kind string

// The calls. Those that work on a file use the descriptor in a slot; when there is none in
// it they are left out, and ok is false.
const (
	Open   Kind = "open"  // Path, Flags: slot = descriptor
	Close  Kind = "close" // Slot, which is empty then
	Write  Kind = "write" // Slot, Text: "$" is the process's name, "+$" the register text and that
	Read   Kind = "read"  // Slot: text = the next 16 bytes
	Empty  Kind = "empty" // Slot: ftruncate to 0
	Stat   Kind = "stat"  // Path
	Same   Kind = "same"  // Slot, Path: two calls; ok: both are one file
	Old    Kind = "old"   // Path, N seconds: two calls; ok: it is there, and older
	Unlink Kind = "unlink"
	Rename Kind = "rename" // Path, To
	Link   Kind = "link"   // Path, To
	Mkdir  Kind = "mkdir"
	Rmdir  Kind = "rmdir"
	Flock  Kind = "flock" // Slot, Flags
	Fcntl  Kind = "fcntl" // Slot, Flags (type), N (first byte), Len, Wait
	OFD    Kind = "ofd"   // the same
	Alive  Kind = "alive" // ok: the process named by text runs; left out when it names none
	Sleep  Kind = "sleep"
	Work   Kind = "work"
	Load   Kind = "load"  // Path names the cell: cell = its value
	Store  Kind = "store" // Path, N
	Add    Kind = "add"   // Path, N: stores cell + N
	Await  Kind = "await" // Path, N: waits until the cell is N
	Start  Kind = "start" // N: begins task N of the process
	CAS    Kind = "cas"   // Path, Len, N: stores N if the cell is Len; ok: it was
	Exit   Kind = "exit"  // of a handler: ends the process
	Leave  Kind = "leave" // of a handler: Path; Body is the release of what the first task holds; ends the process
)

// What is no call.
const (
	If      Kind = "if"      // Cond, Body, Else
	Retry   Kind = "retry"   // Body, round after round; every round begins with the same registers
	Break   Kind = "break"   // leaves the innermost Retry
	Return  Kind = "return"  // leaves the Acquire: with the lock when N is 1, Slot its file, Shared
	Acquire Kind = "acquire" // Path; Body; with the lock Else, and then Release
	Record  Kind = "record"  // Text: which operation, To: its key or value, N: its number, Path: of who, its lock; Body
)

// The operations of Record. What is answered is the register text after the body.
const (
	OpAdd      = "add"      // a key to a set
	OpContains = "contains" // text contains the key
	OpAppend   = "append"   // an entry to a log
	OpWrite    = "write"    // a register's value
	OpRead     = "read"     // text is the value
	OpWho      = "who"      // text is the holder
)

// The conditions of If.
const (
	IfOK     = "ok"
	IfNot    = "not ok"
	IfText   = "text"    // it is not empty
	IfNoText = "no text" // it is empty
	IfMine   = "mine"    // text is the process's name
	IfZero   = "zero"    // cell is 0
	IfMore   = "more"    // cell is not 0
)

// A Stmt is one statement; Kind says which fields it uses.
type Stmt struct {
	Do      Kind
	Path    string `json:",omitempty"`
	To      string `json:",omitempty"`
	Text    string `json:",omitempty"`
	Cond    string `json:",omitempty"`
	Slot    int    `json:",omitempty"` // from 0; -1 for none
	Flags   int    `json:",omitempty"`
	N       int64  `json:",omitempty"`
	Len     int64  `json:",omitempty"`
	Wait    bool   `json:",omitempty"`
	Shared  bool   `json:",omitempty"`
	Body    []Stmt `json:",omitempty"`
	Else    []Stmt `json:",omitempty"`
	Release []Stmt `json:",omitempty"`
}

// tasks are the programs of a process, its handler last.
func (p *Protocol) tasks(process int) [][]Stmt {
	if process < len(p.Handlers) && p.Handlers[process] != nil {
		return append(slices.Clone(p.Programs[process]), p.Handlers[process])
	}
	if p.Pids {
		var tasks [][]Stmt
		for _, body := range p.Programs[process] {
			tasks = append(tasks, asProcess(body, process))
		}
		return tasks
	}
	return p.Programs[process]
}

// handles: the task is a signal handler.
func (p *Protocol) handles(process, n int) bool { return n > len(p.Programs[process]) }

// dormant: the task has to be started.
func (p *Protocol) dormant(process, n int) bool {
	return p.handles(process, n) || process < len(p.Running) && n > p.Running[process]
}

// slots is how many descriptors a task can remember.
const slots = 2

// has reports whether some statement of a program, at any depth, is what is asked for.
func (p *Protocol) has(is func(*Stmt) bool) bool {
	for _, tasks := range p.Programs {
		for _, body := range tasks {
			if hasStmt(body, is) {
				return true
			}
		}
	}
	for _, body := range p.Handlers {
		if hasStmt(body, is) {
			return true
		}
	}
	return false
}

func hasStmt(body []Stmt, is func(*Stmt) bool) bool {
	for i := range body {
		s := &body[i]
		if is(s) || hasStmt(s.Body, is) || hasStmt(s.Else, is) || hasStmt(s.Release, is) {
			return true
		}
	}
	return false
}

// String renders the protocol for people.
func (p *Protocol) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: running %v, signals %d, crashes %d %v, failing %d %v, stalls %d of %s, punctual %v, skew %v, sleeps last %v, threads %v, daemons %v, alike %v, pids %v, files %v, asks %v\n",
		p.Name, p.Running, p.Signals, p.Crashes, p.Mortal, p.Failing, p.FailWith, p.Stalls, p.stallFor(), p.Punctual, p.Skew, p.Lasts, p.Threads, p.Daemons, p.Alike, p.Pids, p.Files, p.Ask)
	for i, tasks := range p.Programs {
		for n, body := range tasks {
			fmt.Fprintf(&b, "task %c.%d\n", 'A'+i, n+1)
			writeStmts(&b, body, 1)
		}
	}
	for i, body := range p.Handlers {
		if body != nil {
			fmt.Fprintf(&b, "handler of %c\n", 'A'+i)
			writeStmts(&b, body, 1)
		}
	}
	if p.Probe != nil {
		b.WriteString("probe\n")
		writeStmts(&b, p.Probe, 1)
	}
	return b.String()
}

func writeStmts(b *strings.Builder, body []Stmt, depth int) {
	indent := strings.Repeat("  ", depth)
	for i := range body {
		s := &body[i]
		b.WriteString(indent + string(s.Do))
		for _, text := range []string{s.Cond, s.Path, s.To, s.Text} {
			if text != "" {
				b.WriteString(" " + text)
			}
		}
		for _, f := range []struct {
			name string
			v    int64
		}{{"slot", int64(s.Slot)}, {"flags", int64(s.Flags)}, {"n", s.N}, {"len", s.Len}} {
			if f.v != 0 {
				fmt.Fprintf(b, " %s %#o", f.name, f.v)
			}
		}
		if s.Wait || s.Shared {
			fmt.Fprintf(b, " wait %v shared %v", s.Wait, s.Shared)
		}
		b.WriteByte('\n')
		writeStmts(b, s.Body, depth+1)
		writeNamed(b, indent+"or, inside", s.Else, depth)
		writeNamed(b, indent+"release", s.Release, depth)
	}
}

func writeNamed(b *strings.Builder, name string, body []Stmt, depth int) {
	if len(body) > 0 {
		b.WriteString(name + "\n")
		writeStmts(b, body, depth+1)
	}
}
