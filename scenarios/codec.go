package scenarios

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"lockpick/fsfake"
	"lockpick/internal/lists"
)

// An access reads and writes one field of a setting.
type access struct {
	get   func(*Setting) string
	set   func(*Setting, string) error
	value func(*Setting) any // for JSON
	copy  func(to, from *Setting)
	of    func(s *Setting, process int) any // what it says of one process; nil where it says nothing of one
	fits  func(*Setting) error              // whether it speaks of the processes that there are
}

// A codec turns values of a type into text and back. Texts are words without blanks. The
// error of parse says what to choose instead; it follows the text.
type codec[T any] struct {
	text  func(T) string
	parse func(string) (T, error)
	json  func(T) any // nil: the text
	of    func(v T, process int) any
	fits  func(v T, processes int) error
}

// at makes the access to the field to which where points.
func at[T any](c codec[T], where func(*Setting) *T) access {
	a := access{
		get: func(s *Setting) string { return c.text(*where(s)) },
		set: func(s *Setting, text string) error {
			v, err := c.parse(text)
			if err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
			*where(s) = v
			return nil
		},
	}
	a.copy = func(to, from *Setting) { *where(to) = *where(from) }
	a.value = func(s *Setting) any { return a.get(s) }
	if c.json != nil {
		a.value = func(s *Setting) any { return c.json(*where(s)) }
	}
	a.fits = func(*Setting) error { return nil }
	if c.of != nil {
		a.of = func(s *Setting, process int) any { return c.of(*where(s), process) }
		a.fits = func(s *Setting) error { return c.fits(*where(s), s.Processes) }
	}
	return a
}

// counts are whole numbers within bounds.
func counts(lo, hi int) codec[int] {
	return codec[int]{
		text: strconv.Itoa,
		parse: func(text string) (int, error) {
			n, err := strconv.Atoi(text)
			if err != nil || n < lo || n > hi {
				return 0, fmt.Errorf("choose %d to %d", lo, hi)
			}
			return n, nil
		},
		json: func(n int) any { return n },
	}
}

func yesNo() codec[bool] {
	return codec[bool]{
		text: func(b bool) string { return [...]string{"no", "yes"}[btoi(b)] },
		parse: func(text string) (bool, error) {
			if text != "yes" && text != "no" {
				return false, fmt.Errorf("choose yes or no")
			}
			return text == "yes", nil
		},
		json: func(b bool) any { return b },
	}
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// durations are as Go writes them, and not 0.
func durations() codec[time.Duration] {
	return jumps(false, errors.New("choose a time such as 90s, 48h or -1h, not 0 and up to 100 years"))
}

// skews are times as Go writes them, ahead or behind.
func skews() codec[time.Duration] {
	return jumps(true, errors.New("choose a time for each process, such as 0s,90s or -1h,0s, up to 100 years"))
}

// jumps are how far a clock may move; wrong is the error for all that is none.
func jumps(zero bool, wrong error) codec[time.Duration] {
	return codec[time.Duration]{
		text: time.Duration.String,
		parse: func(text string) (time.Duration, error) {
			d, err := time.ParseDuration(text)
			if err != nil || d == 0 && !zero || d.Abs() > maxJump {
				return 0, wrong
			}
			return d, nil
		},
	}
}

// oneOf are the values of an enumeration, by name, from 0.
func oneOf[T ~uint8](names ...string) codec[T] {
	return codec[T]{
		text: func(v T) string {
			if int(v) < len(names) {
				return names[v]
			}
			return strconv.Itoa(int(v))
		},
		parse: func(text string) (T, error) {
			i := slices.Index(names, text)
			if i < 0 {
				return 0, fmt.Errorf("choose one of %s", strings.Join(names, ", "))
			}
			return T(i), nil
		},
	}
}

// processes are numbers of processes, written by name.
func processes() codec[int] {
	return codec[int]{
		text: func(i int) string {
			if i < 0 || i >= MaxProcesses {
				return strconv.Itoa(i)
			}
			return ProcessName(i)
		},
		parse: func(text string) (int, error) {
			if len(text) != 1 || text[0] < 'A' || text[0] > 'Z' {
				return 0, fmt.Errorf("choose processes from A to Z")
			}
			return int(text[0] - 'A'), nil
		},
	}
}

// errnos are the errors with which calls fail, by name.
func errnos() codec[syscall.Errno] {
	return codec[syscall.Errno]{text: fsfake.ErrnoName, parse: func(text string) (syscall.Errno, error) {
		e, err := fsfake.FailingErrno(text)
		if err != nil {
			return 0, fmt.Errorf("choose errors with which calls fail: %w", err)
		}
		return e, nil
	}}
}

// listOf are lists with commas. A nil list has a name; one that is empty and not nil is
// "none".
func listOf[T any](whenNil string, of codec[T]) codec[[]T] {
	return codec[[]T]{
		text: func(list []T) string {
			switch {
			case list == nil:
				return whenNil
			case len(list) == 0:
				return "none"
			}
			words := lists.Map(list, of.text)
			return strings.Join(words, ",")
		},
		parse: func(text string) ([]T, error) {
			switch text {
			case whenNil:
				return nil, nil
			case "none":
				return []T{}, nil
			}
			var list []T
			for _, word := range strings.Split(text, ",") {
				v, err := of.parse(word)
				if err != nil {
					return nil, err
				}
				list = append(list, v)
			}
			return list, nil
		},
	}
}

// perProcess are lists with a value for each process.
func perProcess[T comparable](whenNil string, of codec[T]) codec[[]T] {
	c := listOf(whenNil, of)
	c.of = func(list []T, process int) any {
		if process < len(list) {
			return list[process]
		}
		return nil
	}
	c.fits = func(list []T, processes int) error {
		if list != nil && len(list) != processes {
			return fmt.Errorf("given for %d processes of %d", len(list), processes)
		}
		return nil
	}
	return c
}

// someOf are lists of processes.
func someOf(whenNil string) codec[[]int] {
	c := listOf(whenNil, processes())
	c.of = func(list []int, process int) any { return slices.Contains(list, process) }
	c.fits = func(list []int, processes int) error {
		for i, p := range list {
			if p < 0 || p >= processes || slices.Contains(list[:i], p) {
				return fmt.Errorf("process number %d is out of range or listed twice", p)
			}
		}
		return nil
	}
	return c
}

// times are as in RFC 3339, or "default".
func times() codec[time.Time] {
	return codec[time.Time]{
		text: func(t time.Time) string {
			if t.IsZero() {
				return "default"
			}
			return t.UTC().Format(time.RFC3339Nano)
		},
		parse: func(text string) (time.Time, error) {
			if text == "default" {
				return time.Time{}, nil
			}
			t, err := time.Parse(time.RFC3339Nano, text)
			if err != nil || t.Before(time.Unix(0, 0)) || t.Year() >= 2100 {
				return t, fmt.Errorf("choose a time such as 2026-01-01T00:00:00Z, from 1970 to 2099")
			}
			return t.UTC(), nil
		},
	}
}

// umasks are octal; "default" is 0, which package fsfake takes for 022.
func umasks() codec[uint32] {
	return codec[uint32]{
		text: func(m uint32) string {
			switch m {
			case 0:
				return "default"
			case fsfake.NoUmask:
				return "none"
			}
			return fmt.Sprintf("%#o", m)
		},
		parse: func(text string) (uint32, error) {
			switch text {
			case "default":
				return 0, nil
			case "none":
				return fsfake.NoUmask, nil
			}
			m, err := strconv.ParseUint(text, 8, 32)
			if err != nil || m == 0 || m > 0o777 {
				return 0, fmt.Errorf("choose a mask from 01 to 0777, default or none")
			}
			return uint32(m), nil
		},
	}
}
