package bruteforce

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"lockpick/fsfake"
	"lockpick/scenarios"
	"lockpick/sched"
)

// ErrNoSerial is the error of [Solve] for a protocol of which no serial run ends.
var ErrNoSerial = errors.New("bruteforce: no serial run ends")

// left describes what there is when all have ended: who was killed, and the files.
func (x *space) left(s *state) string {
	var b strings.Builder
	for i := range x.p.Programs {
		fmt.Fprint(&b, slices.Contains(s.dead, i), " ")
	}
	if x.p.Stalls > 0 && !x.p.Lasts {
		fmt.Fprint(&b, s.m.Now())
	}
	for _, n := range s.m.Tree() {
		f := s.m.View(n.ID)
		fmt.Fprintf(&b, "%q %v %q", n.Path, f.Kind, f.Target)
		if f.Kind == fsfake.KindFile {
			fmt.Fprintf(&b, " %q", f.Content)
		}
	}
	return b.String()
}

// A serialState is a state of a serial run: in which somebody has the disk to himself, or nobody.
type serialState struct {
	*state
	now   int // or -1
	begun []int
}

// serialEnds explores the part of the space in which one process after another runs to its end, and lists
// what is there at its ends.
func (x *space) serialEnds(first *state, limit int) (map[string]bool, error) {
	ends := map[string]bool{}
	known := map[string]bool{}
	todo := []serialState{{state: first, now: -1}}
	for len(todo) > 0 {
		s := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if key := fmt.Sprint(s.now, s.begun, x.key(s.state)); known[key] {
			continue
		} else if known[key] = true; len(known) > limit {
			return nil, ErrTooLarge
		}
		if !x.unfinished(s.state) {
			ends[x.left(s.state)] = true
		}
		for _, c := range x.choices(s.state) {
			about := c.Action != sched.Stall // it is about a process
			if p := c.Task.Process; about && (s.now >= 0 && p != s.now || s.now < 0 && slices.Contains(s.begun, p)) {
				continue
			}
			after, err := x.apply(s.state, c)
			if err != nil {
				return nil, err
			}
			to := serialState{state: after.to, now: s.now, begun: s.begun}
			if c.Action == sched.Run {
				to.now = c.Task.Process
			}
			if about && c.Action != sched.Signal && !slices.Contains(s.begun, c.Task.Process) {
				to.begun = append(slices.Clone(s.begun), c.Task.Process)
			}
			if to.now >= 0 && x.over(to.state, to.now) {
				to.now = -1
			}
			todo = append(todo, to)
		}
	}
	if len(ends) == 0 {
		return nil, ErrNoSerial
	}
	return ends, nil
}

// over reports whether nobody of a process will step again.
func (x *space) over(s *state, process int) bool {
	for i := range s.tasks {
		if x.slots[i].process == process && !x.finished(s, i) {
			return false
		}
	}
	return true
}

// unserial reports whether all have ended and left behind what no serial run leaves, where that is asked.
func (x *space) unserial(s *state) bool {
	return x.serial != nil && !x.unfinished(s) && !x.serial[x.left(s)]
}

// knowSerial looks what serial runs leave behind, where that is asked.
func (x *space) knowSerial(first *state, limit int) (err error) {
	if x.property == scenarios.Serializable {
		x.serial, err = x.serialEnds(first, limit)
	}
	return err
}
