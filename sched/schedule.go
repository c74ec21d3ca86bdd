package sched

import (
	"fmt"
	"strconv"
	"strings"
)

// A Task names one task: process 0 is "A", and the second task of A is "A.2".
type Task struct {
	Process int // from 0
	N       int // from 1
}

// String returns the task's name; the first task of a process has the process's name.
func (t Task) String() string {
	s := string(rune('A' + t.Process))
	if t.N > 1 {
		s += "." + strconv.Itoa(t.N)
	}
	return s
}

// An Action is what one choice does.
type Action uint8

const (
	// Run lets a task take one step.
	Run Action = iota
	// Kill ends a process at once (SIGKILL), between two of its steps.
	Kill
	// Stall moves the clock.
	Stall
	// PowerLoss ends every process and leaves the disk in one of its legal states.
	PowerLoss
	// Signal has the handler of a process run, which interrupts its first task.
	Signal
)

// A Choice is one element of a schedule. Kill and Signal concern the whole process of Task, and
// Task.N is then 1; a Stall and a PowerLoss have the zero Task.
type Choice struct {
	Action Action
	Task   Task
	// State is the number of the disk's state after a PowerLoss, and 0 otherwise.
	State int
	// Which is, of a Run, the way in which the step goes where it can go in several; they count
	// from 0. Where a program's threads ask at once, it says whose call is next.
	Which int
	// Fails is, of a Run, the name of the error with which the step's call fails: "EIO". It is
	// empty when the call goes as it goes.
	Fails string
}

// IsFault reports whether the choice is more than a step that goes as it goes: a kill, a stall, a
// loss of power, a signal or a call that fails.
func (c Choice) IsFault() bool { return c.Action != Run || c.Fails != "" }

// String renders one choice as a schedule of one.
func (c Choice) String() string { return Schedule{c}.String() }

// A Schedule is who did what, in order. Its text reads aloud: "A3 B2! A4" is A takes 3
// steps, B takes 2 and is killed, A takes 4. A later task of a process is written with
// an x, "A.2x3"; "B!" kills B where it stands, and "B^" has it
// get a signal, so that its handler runs from there on; "~" moves the clock; "*2" loses the power
// and leaves the disk in its legal state 2; "A/2" is one step of A in the second of the ways in
// which it can go, where a plain step goes in the first; "A/EIO" is one step of A whose call fails
// with EIO. The text round-trips through [ParseSchedule].
type Schedule []Choice

// String renders the schedule.
func (s Schedule) String() string {
	var b strings.Builder
	for i := 0; i < len(s); {
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		switch c := s[i]; c.Action {
		case Stall:
			b.WriteByte('~')
			i++
		case PowerLoss:
			b.WriteString("*" + strconv.Itoa(c.State))
			i++
		case Kill:
			b.WriteString(Task{c.Task.Process, 1}.String() + "!")
			i++
		case Signal:
			b.WriteString(Task{c.Task.Process, 1}.String() + "^")
			i++
		default:
			n := 1
			for i+n < len(s) && s[i+n] == c && c.Which == 0 && c.Fails == "" {
				n++
			}
			b.WriteString(c.Task.String())
			switch {
			case c.Fails != "":
				b.WriteString("/" + c.Fails)
			case c.Which > 0:
				b.WriteString("/" + strconv.Itoa(c.Which+1))
			case c.Task.N > 1:
				b.WriteString("x" + strconv.Itoa(n))
			default:
				b.WriteString(strconv.Itoa(n))
			}
			i += n
			if i < len(s) && s[i].Action == Signal && s[i].Task.Process == c.Task.Process {
				b.WriteByte('^')
				i++
			}
			if i < len(s) && s[i].Action == Kill && s[i].Task.Process == c.Task.Process {
				b.WriteByte('!')
				i++
			}
		}
	}
	return b.String()
}

// maxCount bounds one element, so that a typing error cannot ask for a schedule that
// does not fit in memory.
const maxCount = 1_000_000

// ParseSchedule reads the text of a schedule. A count may be left out and is then 1.
// The error names the element that it does not understand.
func ParseSchedule(text string) (Schedule, error) {
	s := Schedule{}
	for i, word := range strings.Fields(text) {
		next, err := parseWord(word)
		if err != nil {
			return nil, fmt.Errorf("sched: schedule element %d, %q: %w", i+1, word, err)
		}
		s = append(s, next...)
	}
	return s, nil
}

func parseWord(word string) (Schedule, error) {
	if strings.Trim(word, "~") == "" {
		return repeat(Choice{Action: Stall}, len(word)), nil
	}
	if state, ok := strings.CutPrefix(word, "*"); ok {
		n, err := parseState(state)
		return Schedule{{Action: PowerLoss, State: n}}, err
	}
	if word[0] < 'A' || word[0] > 'Z' {
		return nil, fmt.Errorf("want a process from A to Z, or ~, or * and a number")
	}
	t := Task{int(word[0] - 'A'), 1}
	rest, kill := strings.CutSuffix(word[1:], "!")
	rest, signal := strings.CutSuffix(rest, "^")
	rest, way, several := strings.Cut(rest, "/")
	which, fails := 0, ""
	if several && isErrorName(way) {
		fails = way
	} else if several {
		n, err := parseCount(way)
		if err != nil {
			return nil, fmt.Errorf("the way in which the step goes: %w", err)
		}
		which = n - 1
	}
	if after, ok := strings.CutPrefix(rest, "."); ok {
		number, count, _ := strings.Cut(after, "x")
		n, err := parseCount(number)
		if err != nil {
			return nil, err
		}
		t.N, rest = n, count
		if strings.Contains(after, "x") && count == "" {
			return nil, fmt.Errorf("want a number of steps after x")
		}
	}
	steps := 1
	switch {
	case rest == "" && (kill || signal) && t.N == 1 && !several:
		steps = 0
	case several && (rest != "" || strings.Contains(word, "x")):
		return nil, fmt.Errorf("want no number of steps before /: it is one")
	case rest != "":
		n, err := parseCount(rest)
		if err != nil {
			return nil, err
		}
		steps = n
	}
	s := repeat(Choice{Action: Run, Task: t, Which: which, Fails: fails}, steps)
	if signal {
		s = append(s, Choice{Action: Signal, Task: Task{t.Process, 1}})
	}
	if kill {
		s = append(s, Choice{Action: Kill, Task: Task{t.Process, 1}})
	}
	return s, nil
}

// isErrorName reports whether a text is how errors are called: "EIO".
func isErrorName(s string) bool {
	return len(s) > 1 && s[0] == 'E' && strings.Trim(s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") == ""
}

func parseCount(s string) (int, error) {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || s[0] == '+' {
		return 0, fmt.Errorf("want a number from 1 on, not %q", s)
	}
	if n > maxCount {
		return 0, fmt.Errorf("%d is more than %d", n, maxCount)
	}
	return n, nil
}

// parseState reads the number of a state of the disk; they count from 0.
func parseState(s string) (int, error) {
	if strings.Trim(s, "0") == "" && s != "" {
		return 0, nil
	}
	n, err := parseCount(s)
	if err != nil {
		return 0, fmt.Errorf("want the number of a state of the disk, from 0 on, after *: %w", err)
	}
	return n, nil
}

func repeat(c Choice, n int) Schedule {
	s := make(Schedule, n)
	for i := range s {
		s[i] = c
	}
	return s
}
