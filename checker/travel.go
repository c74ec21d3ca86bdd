package checker

import (
	"encoding/hex"
	"fmt"
	"strings"

	"lockpick/checker/internal/expand"
	"lockpick/checker/trace"
	"lockpick/sched"
)

// A State is a state as it travels between processes, as text without blanks. States of one scenario,
// setting and property with one key are one state, wherever they were found.
type State struct {
	// Key is the state's fingerprint, 32 hexadecimal digits.
	Key string
	// Way says how to get there, and at what cost. Of two ways to one state the one that is less, as
	// strings, is the one to keep: it is cheaper, or comes first in the order of choices.
	Way string
}

// String is the state as a line of text: key and way.
func (s State) String() string { return s.Key + " " + s.Way }

// ParseState reads what [State.String] writes.
func ParseState(line string) (State, error) {
	key, way, ok := strings.Cut(line, " ")
	s := State{key, way}
	if _, err := s.traveller(); !ok || err != nil {
		return State{}, fmt.Errorf("checker: %.80q is no state: want a key of 32 hexadecimal digits, a blank and a way, as expand writes them", line)
	}
	return s, nil
}

// Cost is the part of a way that says what it costs: faults, preemptions and steps. Costs compare as
// strings.
func (s State) Cost() string { return s.Way[:min(costLen, len(s.Way))] }

const costLen = 2*3 + 6 + 2

// costText is a cost as it stands at the beginning of a way.
func costText(c trace.Cost) string {
	return fmt.Sprintf("%03d.%03d.%06d", c.Faults(), c.Preemptions, c.Steps)
}

// newState writes a traveller down.
func newState(t *expand.Traveller) (State, error) {
	var b strings.Builder
	b.WriteString(costText(t.Cost))
	if b.Len() > costLen {
		return State{}, fmt.Errorf("checker: the way %q is too long to travel: 999 faults, 999 preemptions and 999999 steps are the most", t.Schedule)
	}
	for _, choice := range t.Schedule {
		if err := pack(&b, choice); err != nil {
			return State{}, err
		}
	}
	return State{hex.EncodeToString(t.Key[:]), b.String()}, nil
}

// traveller reads it back, without the cost: whoever goes the way finds out.
func (s State) traveller() (*expand.Traveller, error) {
	var t expand.Traveller
	key, err := hex.DecodeString(s.Key)
	if err != nil || len(key) != len(t.Key) || len(s.Way) < costLen {
		return nil, fmt.Errorf("checker: no state")
	}
	copy(t.Key[:], key)
	for rest := s.Way[costLen:]; rest != ""; {
		var c sched.Choice
		if c, rest, err = unpack(rest); err != nil {
			return nil, err
		}
		t.Schedule = append(t.Schedule, c)
	}
	return &t, nil
}

// digits are those of numbers in a way, in the order of bytes.
const digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

// pack writes a choice so that choices compare as bytes as they do in the order of choices: a step is
// the process as a capital letter, the task and the way in which it goes; a kill is a small
// letter, one whose call fails has "~", the error's name and "." in the place of the way, a stall "{", a loss of power "|" and four hexadecimal digits,
// a signal "}" and the process.
func pack(b *strings.Builder, c sched.Choice) error {
	switch {
	case c.Fails != "" && c == sched.Choice{Task: c.Task, Fails: c.Fails} && c.Task.Process < 26 && c.Task.N < len(digits):
		fmt.Fprintf(b, "%c%c~%s.", 'A'+c.Task.Process, digits[c.Task.N], c.Fails)
	case c.Fails == "" && c.Action == sched.Run && c.Task.Process < 26 && c.Task.N < len(digits) && c.Which < len(digits):
		b.WriteByte(byte('A' + c.Task.Process))
		b.WriteByte(digits[c.Task.N])
		b.WriteByte(digits[c.Which])
	case c == sched.Choice{Action: sched.Kill, Task: c.Task} && c.Task.N == 1 && c.Task.Process < 26:
		b.WriteByte(byte('a' + c.Task.Process))
	case c == sched.Choice{Action: sched.Stall}:
		b.WriteByte('{')
	case c == sched.Choice{Action: sched.PowerLoss, State: c.State} && c.State < 1<<16:
		fmt.Fprintf(b, "|%04x", c.State)
	case c == sched.Choice{Action: sched.Signal, Task: c.Task} && c.Task.N == 1 && c.Task.Process < 26:
		fmt.Fprintf(b, "}%c", 'A'+c.Task.Process)
	default:
		return fmt.Errorf("checker: the choice %q cannot travel: a state is told by at most 26 processes of 61 tasks, and steps that go in at most 62 ways", c)
	}
	return nil
}

// unpack reads the first choice of a way, and returns the rest.
func unpack(way string) (c sched.Choice, rest string, err error) {
	wrong := fmt.Errorf("checker: %.20q is no choice of a way", way)
	switch first := way[0]; {
	case 'A' <= first && first <= 'Z' && len(way) >= 3:
		if fails, rest, ok := strings.Cut(way[2:], "."); ok && fails[0] == '~' {
			n := strings.IndexByte(digits, way[1])
			s, err := sched.ParseSchedule("A/" + fails[1:])
			if n < 1 || err != nil || len(s) != 1 || s[0].Fails == "" {
				return c, "", wrong
			}
			s[0].Task = sched.Task{Process: int(first - 'A'), N: n}
			return s[0], rest, nil
		}
		n, which := strings.IndexByte(digits, way[1]), strings.IndexByte(digits, way[2])
		if n < 1 || which < 0 {
			return c, "", wrong
		}
		return sched.Choice{Action: sched.Run, Task: sched.Task{Process: int(first - 'A'), N: n}, Which: which}, way[3:], nil
	case 'a' <= first && first <= 'z':
		return sched.Choice{Action: sched.Kill, Task: sched.Task{Process: int(first - 'a'), N: 1}}, way[1:], nil
	case first == '{':
		return sched.Choice{Action: sched.Stall}, way[1:], nil
	case first == '}' && len(way) >= 2 && 'A' <= way[1] && way[1] <= 'Z':
		return sched.Choice{Action: sched.Signal, Task: sched.Task{Process: int(way[1] - 'A'), N: 1}}, way[2:], nil
	case first == '|' && len(way) >= 5:
		state, err := hex.DecodeString(way[1:5])
		if err != nil || strings.ToLower(way[1:5]) != way[1:5] {
			return c, "", wrong
		}
		return sched.Choice{Action: sched.PowerLoss, State: int(state[0])<<8 | int(state[1])}, way[5:], nil
	}
	return c, "", wrong
}
