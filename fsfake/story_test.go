package fsfake_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"lockpick/fsfake"
	"lockpick/internal/golden"
)

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
			golden.CheckFile(t, file, got)
		})
	}
}

// runStory runs a script and returns it with the answers that came.
func runStory(t *testing.T, text string) string {
	s := story{t: t, m: fsfake.New(fsfake.Options{}), users: map[string]uint32{}, cwds: map[string]string{}, last: map[fsfake.Task]fsfake.Op{}}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		command, _, _ := strings.Cut(line, " = ")
		if strings.HasPrefix(line, "#") || strings.TrimSpace(line) == "" {
			continue
		}
		words, err := splitWords(command)
		require.NoError(t, err)
		answer := s.line(words)
		lines[i] = strings.TrimRight(command, " ")
		if answer != "" {
			lines[i] = fmt.Sprintf("%-40s = %s", lines[i], answer)
		}
	}
	return strings.Join(lines, "\n")
}

type story struct {
	t     *testing.T
	m     *fsfake.Machine
	users map[string]uint32
	cwds  map[string]string
	last  map[fsfake.Task]fsfake.Op
	// started is the highest pid that was used.
	started int
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
		return answerOf(fsfake.Op{}, s.m.Interrupt(s.task(w[1])))
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
	op, err := parseOp(w[1], w[2:], false)
	require.NoError(s.t, err)
	s.last[task] = op
	r := s.m.Do(task, op)
	if op.Call == fsfake.CallFork {
		s.started = max(s.started, int(r.N))
	}
	return answerOf(op, r)
}

// task returns the task of a name, and starts its process when it is new.
func (s *story) task(name string) fsfake.Task {
	proc, n, ok := strings.Cut(name, ".")
	t := fsfake.Task{Pid: pidOf(proc), N: 1}
	if ok {
		t.N = int(s.num(n))
	}
	if t.Pid > s.started {
		s.started = t.Pid
		s.m.AddProc(fsfake.ProcSpec{Pid: t.Pid, UID: s.users[proc], GID: s.users[proc], Cwd: s.cwds[proc]})
	}
	return t
}

func pidOf(name string) int { return firstPid + int(name[0]-'A') }

func (s *story) num(w string) int64 {
	n, err := strconv.ParseInt(w, 0, 64)
	require.NoError(s.t, err)
	return n
}

// answerOf words what a call answered.
func answerOf(op fsfake.Op, r fsfake.Result) string {
	switch {
	case r.Unmodelled != "":
		return "unmodelled: " + r.Unmodelled
	case r.Blocked:
		return "blocks"
	case r.Errno != 0:
		return fsfake.ErrnoName(r.Errno)
	}
	switch rowOf(op.Call).answer {
	case holdsNumber:
		return strconv.FormatInt(r.N, 10)
	case holdsData:
		return strconv.Quote(r.Data)
	case holdsNames:
		return strconv.Quote(strings.ReplaceAll(r.Data, "\x00", " "))
	case holdsStat:
		return fmt.Sprintf("%s ino %d, nlink %d, size %d, uid %d", r.Stat.Mode, r.Stat.Ino, r.Stat.Nlink, r.Stat.Size, r.Stat.UID)
	case holdsLock:
		l := r.Lock
		return fmt.Sprintf("%s %d+%d pid %d", lockTypes[l.Type], l.Start, l.Len, l.Pid)
	case holdsValue:
		return fmt.Sprint(r.Value)
	}
	return "ok"
}
