package fsfake

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the answers in testdata/stories")

// TestStories runs the scripts in testdata/stories: a call a line, and its answer. The
// processes are called A (pid 101, root), B (102), C (103), …; a second task of A is
// A.2. The first line that names a process starts it.
//
//	A flock 3 ex           = blocks      the call waits
//	A again                = ok          the same call, made again
//	A ready                = true
//	user B 1000            B is to be started as that user
//	cwd B /tmp             … in that working directory
//	kill A                 SIGKILL
//	interrupt A            = EINTR
//	clock 5s
func TestStories(t *testing.T) {
	files, err := filepath.Glob("testdata/stories/*.txt")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			got := runStory(t, string(text))
			if *update {
				require.NoError(t, os.WriteFile(file, []byte(got), 0o644))
				return
			}
			require.Equal(t, string(text), got, "the answers differ; -update rewrites the file")
		})
	}
}

// runStory runs a script and returns it with the answers that came.
func runStory(t *testing.T, text string) string {
	s := story{t: t, m: New(Options{}), users: map[string]uint32{}, cwds: map[string]string{}, last: map[Task]Op{}}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		command, _, _ := strings.Cut(line, " = ")
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		answer := s.line(splitWords(command))
		lines[i] = strings.TrimRight(command, " ")
		if answer != "" {
			lines[i] = fmt.Sprintf("%-40s = %s", lines[i], answer)
		}
	}
	return strings.Join(lines, "\n")
}

type story struct {
	t     *testing.T
	m     *Machine
	users map[string]uint32
	cwds  map[string]string
	last  map[Task]Op
}

func (s *story) line(w []string) string {
	switch w[0] {
	case "user":
		s.users[w[1]] = uint32(s.num(w[2]))
		return ""
	case "cwd":
		s.cwds[w[1]] = w[2]
		return ""
	case "kill":
		s.m.KillProc(s.task(w[1]).Pid)
		return ""
	case "interrupt":
		return answerOf(Op{}, s.m.Interrupt(s.task(w[1])))
	case "clock":
		d, err := time.ParseDuration(w[1])
		require.NoError(s.t, err)
		s.m.Advance(d)
		return ""
	}
	task := s.task(w[0])
	switch w[1] {
	case "again":
		return answerOf(s.last[task], s.m.Do(task, s.last[task]))
	case "ready":
		return strconv.FormatBool(s.m.Ready(task, s.last[task]))
	case "starts": // task has started it
		return ""
	}
	op := s.op(w[1], w[2:])
	s.last[task] = op
	return answerOf(op, s.m.Do(task, op))
}

// task returns the task of a name, and starts its process when it is new.
func (s *story) task(name string) Task {
	proc, n, ok := strings.Cut(name, ".")
	t := Task{Pid: pidOf(proc), N: 1}
	if ok {
		t.N = int(s.num(n))
	}
	if t.Pid > s.m.maxPid {
		s.m.AddProc(ProcSpec{Pid: t.Pid, UID: s.users[proc], GID: s.users[proc], Cwd: s.cwds[proc]})
	}
	return t
}

func pidOf(name string) int { return 101 + int(name[0]-'A') }

func (s *story) num(w string) int64 {
	n, err := strconv.ParseInt(w, 0, 64)
	require.NoError(s.t, err)
	return n
}

// splitWords splits at spaces, but keeps quoted strings, unquoted.
func splitWords(line string) []string {
	var words []string
	for line = strings.TrimSpace(line); line != ""; line = strings.TrimSpace(line) {
		if q, err := strconv.QuotedPrefix(line); err == nil {
			u, _ := strconv.Unquote(q)
			words, line = append(words, u), line[len(q):]
			continue
		}
		w, rest, _ := strings.Cut(line, " ")
		words, line = append(words, w), rest
	}
	return words
}

var flagNames = map[string]int{
	"r": os.O_RDONLY, "w": os.O_WRONLY, "rw": os.O_RDWR, "creat": os.O_CREATE, "excl": os.O_EXCL,
	"trunc": os.O_TRUNC, "append": os.O_APPEND, "nofollow": O_NOFOLLOW, "dir": O_DIRECTORY,
	"tmpfile": O_TMPFILE, "cloexec": O_CLOEXEC,
	"sh": LOCK_SH, "ex": LOCK_EX, "un": LOCK_UN, "nb": LOCK_NB,
	"rdlck": F_RDLCK, "wrlck": F_WRLCK, "unlck": F_UNLCK,
	"noreplace": RENAME_NOREPLACE, "exchange": RENAME_EXCHANGE,
	"set": 0, "cur": 1, "end": 2,
}

func (s *story) flags(w string) int {
	f := 0
	for _, name := range strings.Split(w, "|") {
		bit, ok := flagNames[name]
		require.True(s.t, ok, "flag %q", name)
		f |= bit
	}
	return f
}

// op parses a call. Its words are in the order of the manual page.
func (s *story) op(name string, w []string) Op {
	op := Op{}
	for c := CallNone; c < numCalls; c++ {
		if c.String() == name {
			op.Call = c
		}
	}
	require.NotEqual(s.t, CallNone, op.Call, "call %q", name)
	fields, ok := grammar[op.Call]
	require.True(s.t, ok || len(w) == 0, "no grammar for %s", name)
	for i, f := range strings.Fields(fields) {
		if i >= len(w) {
			break
		}
		switch f {
		case "path":
			op.Path = w[i]
		case "path2":
			op.Path2 = w[i]
		case "flags":
			op.Flags = s.flags(w[i])
		case "fd":
			op.FD = int(s.num(w[i]))
		case "mode":
			op.Mode = uint32(s.num(w[i]))
		case "off":
			op.Off = s.num(w[i])
		case "len":
			op.Len = s.num(w[i])
		case "data":
			op.Data = w[i]
		case "pid":
			op.Pid = pidOf(w[i])
		case "wait":
			op.Wait = w[i] == "wait"
		case "cell":
			op.Cell = w[i]
		case "value":
			op.Value = w[i]
		}
	}
	return op
}

var grammar = map[Call]string{
	CallOpen: "path flags mode", CallStat: "path", CallLstat: "path", CallUnlink: "path",
	CallRename: "path path2 flags", CallLink: "path path2", CallSymlink: "path2 path",
	CallReadlink: "path", CallMkdir: "path mode", CallRmdir: "path", CallTruncate: "path len",
	CallChmod: "path mode", CallChown: "path off len",
	CallRead: "fd len", CallPread: "fd len off", CallWrite: "fd data", CallPwrite: "fd data off",
	CallLseek: "fd off flags", CallClose: "fd", CallDup: "fd", CallFstat: "fd",
	CallFtruncate: "fd len", CallReaddir: "fd", CallFlock: "fd flags",
	CallSetlk: "fd flags off len wait", CallGetlk: "fd flags off len",
	CallOFDSetlk: "fd flags off len wait", CallOFDGetlk: "fd flags off len", CallLinkFD: "fd path2",
	CallKill: "pid", CallStartTime: "pid",
	CallCellLoad: "cell", CallCellStore: "cell value", CallCellWait: "cell value",
}

// answerOf words what a call answered.
func answerOf(op Op, r Result) string {
	switch {
	case r.Unmodelled != "":
		return "unmodelled: " + r.Unmodelled
	case r.Blocked:
		return "blocks"
	case r.Errno != 0:
		return ErrnoName(r.Errno)
	}
	switch op.Call {
	case CallOpen, CallDup, CallFork, CallLseek, CallStartTime, CallWrite, CallPwrite:
		return strconv.FormatInt(r.N, 10)
	case CallRead, CallPread, CallReadlink:
		return strconv.Quote(r.Data)
	case CallReaddir:
		return strconv.Quote(strings.ReplaceAll(r.Data, "\x00", " "))
	case CallStat, CallLstat, CallFstat:
		return fmt.Sprintf("%s ino %d, nlink %d, size %d, uid %d", r.Stat.Mode, r.Stat.Ino, r.Stat.Nlink, r.Stat.Size, r.Stat.UID)
	case CallGetlk, CallOFDGetlk:
		l := r.Lock
		return fmt.Sprintf("%s %d+%d pid %d", [...]string{"rdlck", "wrlck", "unlck"}[l.Type], l.Start, l.Len, l.Pid)
	case CallCellLoad:
		return fmt.Sprint(r.Value)
	}
	return "ok"
}
