package fsfake_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"lockpick/fsfake"
)

// A sequence is what one comparison with the kernel does: calls by several processes, one
// a line, as in
//
//	users 0 1000
//	contained B
//	A open /a rw|creat 0644
//	B fcntl-setlk 3 wrlck 0 10 wait
//	kill A
//	interrupt B
//	look
//
// The processes A, B, … (pids 101, 102, …) belong to the users given; a forked one has the
// next letter. Those that are contained are process 1 in a pid namespace of their own each. A line that makes no sense when it is reached, because its process is dead
// or blocked, is passed over: so any part of a sequence is a sequence too.
type sequence struct {
	users []uint32
	// contained are pids of processes in a pid namespace of their own.
	contained []int
	lines     []line
}

// inside is the pid of a process in a pid namespace of its own, or 0 where it has none.
func (s *sequence) inside(pid int) int {
	if slices.Contains(s.contained, pid) {
		return 1
	}
	return 0
}

// A line is one step of a sequence.
type line struct {
	what lineKind
	pid  int
	op   fsfake.Op
}

type lineKind uint8

const (
	lineCall      lineKind = iota
	lineKill               // SIGKILL
	lineInterrupt          // a caught signal, when the process is blocked
	lineLook               // compare everything that can be seen
)

const firstPid = 101

func procName(pid int) string { return string(rune('A' + pid - firstPid)) }

func (s sequence) String() string {
	var b strings.Builder
	b.WriteString("users")
	for _, u := range s.users {
		fmt.Fprintf(&b, " %d", u)
	}
	b.WriteByte('\n')
	for i, pid := range s.contained {
		b.WriteString([...]string{"contained ", " "}[min(i, 1)] + procName(pid))
	}
	if s.contained != nil {
		b.WriteByte('\n')
	}
	for _, l := range s.lines {
		b.WriteString(l.String())
		b.WriteByte('\n')
	}
	return b.String()
}

func (l line) String() string {
	switch l.what {
	case lineKill:
		return "kill " + procName(l.pid)
	case lineInterrupt:
		return "interrupt " + procName(l.pid)
	case lineLook:
		return "look"
	}
	return procName(l.pid) + " " + opText(l.op)
}

// parseSequence reads the text of a sequence. Empty lines and those that begin with # say
// nothing.
func parseSequence(text string) (sequence, error) {
	var s sequence
	for i, t := range strings.Split(text, "\n") {
		w, err := splitWords(t)
		if err == nil && len(w) > 0 && !strings.HasPrefix(w[0], "#") {
			err = s.parseLine(w)
		}
		if err != nil {
			return s, fmt.Errorf("line %d, %q: %w", i+1, t, err)
		}
	}
	if len(s.users) == 0 {
		return s, fmt.Errorf("the line \"users\" is missing")
	}
	return s, nil
}

func (s *sequence) parseLine(w []string) error {
	pid := func(name string) (int, error) {
		if len(name) != 1 || name[0] < 'A' || name[0] > 'Z' {
			return 0, fmt.Errorf("process %q", name)
		}
		return firstPid + int(name[0]-'A'), nil
	}
	switch {
	case w[0] == "users":
		for _, u := range w[1:] {
			n, err := strconv.ParseUint(u, 10, 32)
			if err != nil {
				return err
			}
			s.users = append(s.users, uint32(n))
		}
		return nil
	case w[0] == "contained":
		for _, name := range w[1:] {
			n, err := pid(name)
			if err != nil {
				return err
			}
			s.contained = append(s.contained, n)
		}
		return nil
	case w[0] == "look":
		s.lines = append(s.lines, line{what: lineLook})
		return nil
	case len(w) < 2:
		return fmt.Errorf("too short")
	case w[0] == "kill" || w[0] == "interrupt":
		p, err := pid(w[1])
		what := lineKill
		if w[0] == "interrupt" {
			what = lineInterrupt
		}
		s.lines = append(s.lines, line{what: what, pid: p})
		return err
	}
	p, err := pid(w[0])
	if err != nil {
		return err
	}
	op, err := parseOp(w[1], w[2:], true)
	s.lines = append(s.lines, line{pid: p, op: op})
	return err
}
