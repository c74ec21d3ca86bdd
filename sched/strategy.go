package sched

import (
	"errors"
	"math/bits"
	"slices"
)

// A Strategy decides what happens next. Random choice, systematic search and replay
// are the same interface.
type Strategy interface {
	// Next returns the next choice. The view is only valid during the call. ErrEnd ends
	// the run there; another error says why the run cannot go on. It is not called when
	// nothing new can happen any more, unless the strategy is a [Follower].
	Next(v *View) (Choice, error)
}

// A Follower is a strategy that follows a schedule of its own and knows itself where that
// ends. A run under it goes on for as long as it makes choices, also when all that can move
// polls in vain; and it is asked once more when nobody can move, so that it can say that its
// schedule wanted more. A strategy that wraps another passes the method on:
//
//	func (w wrapped) Follows() bool { return sched.Follows(w.inner) }
type Follower interface {
	Strategy
	// Follows reports whether the strategy follows a schedule of its own.
	Follows() bool
}

// Follows reports whether a strategy follows a schedule of its own.
func Follows(st Strategy) bool {
	f, ok := st.(Follower)
	return ok && f.Follows()
}

// ErrEnd is returned by a strategy that has no more choices to make.
var ErrEnd = errors.New("sched: the schedule ends here")

// A View is what a strategy sees of a run.
type View struct {
	// Step counts the choices made so far.
	Step int
	// Tasks lists all tasks, in the order of their names.
	Tasks []TaskView
	// Last is the index in Tasks of the task that stepped last, or -1.
	Last int
	// Kills lists the processes that may be killed now.
	Kills []int
	// Stall: the clock may be moved now.
	Stall bool
	// Losses is how many states the disk may be in when the power is lost now; 0 when it
	// cannot be lost.
	Losses int
	// Failing is how many calls may still fail.
	Failing int
	// Signals lists the processes that may get a signal now.
	Signals []int
}

// A TaskView is what a strategy sees of one task.
type TaskView struct {
	Task Task
	// Enabled: it can take a step now.
	Enabled bool
	// Ways is in how many ways the step can go; 0 is 1. Shut are those that cannot be taken now, by bit.
	Ways int
	Shut uint64
	// Fails names the errors with which the step's call can fail now.
	Fails []string
	// Asleep: its last step was a sleep, so it has given way by itself.
	Asleep bool
	// Idle: it has polled for a whole round in vain, and nothing has changed since that
	// round began: another round would see the same.
	Idle bool
}

// Options returns the choices that are possible now, in a fixed order: steps by task,
// then kills by process, then the stall, then the power loss by state of the disk, then signals by
// process; a step that can go in several ways is as many, and after them one for each error with which its
// call can fail. It appends to buf.
func (v *View) Options(buf []Choice) []Choice {
	for i := range v.Tasks {
		if v.Tasks[i].Enabled {
			for which := range max(v.Tasks[i].Ways, 1) {
				if v.Tasks[i].open(which) {
					buf = append(buf, Choice{Action: Run, Task: v.Tasks[i].Task, Which: which})
				}
			}
			for _, name := range v.Tasks[i].Fails {
				buf = append(buf, Choice{Action: Run, Task: v.Tasks[i].Task, Fails: name})
			}
		}
	}
	for _, p := range v.Kills {
		buf = append(buf, Choice{Action: Kill, Task: Task{p, 1}})
	}
	if v.Stall {
		buf = append(buf, Choice{Action: Stall})
	}
	for k := range v.Losses {
		buf = append(buf, Choice{Action: PowerLoss, State: k})
	}
	for _, p := range v.Signals {
		buf = append(buf, Choice{Action: Signal, Task: Task{p, 1}})
	}
	return buf
}

// possible reports whether c can happen now.
func (v *View) possible(c Choice) bool {
	switch c.Action {
	case Kill:
		return slices.Contains(v.Kills, c.Task.Process)
	case Signal:
		return slices.Contains(v.Signals, c.Task.Process)
	case Stall:
		return v.Stall
	case PowerLoss:
		return c.State < v.Losses
	}
	for i := range v.Tasks {
		if v.Tasks[i].Task == c.Task {
			if c.Fails != "" {
				return v.Tasks[i].Enabled && c.Which == 0 && slices.Contains(v.Tasks[i].Fails, c.Fails)
			}
			return v.Tasks[i].Enabled && v.Tasks[i].open(c.Which)
		}
	}
	return false
}

// baseline is who runs when nobody interferes: whoever ran last, as long as it can and
// does not sleep, and otherwise the next in the order of names that is not idle. Steps go in the
// first of their ways that is open.
func (v *View) baseline() (Choice, bool) {
	if l := v.Last; l >= 0 && v.Tasks[l].Enabled && !v.Tasks[l].Asleep && !v.Tasks[l].Idle {
		return v.Tasks[l].first(), true
	}
	for _, idle := range [...]bool{false, true} {
		for k := range v.Tasks {
			t := &v.Tasks[(v.Last+1+k)%len(v.Tasks)]
			if t.Enabled && t.Idle == idle {
				return t.first(), true
			}
		}
	}
	return Choice{}, false
}

// open reports whether the step of a task that is enabled can go in a way.
func (t *TaskView) open(which int) bool { return which < max(t.Ways, 1) && t.Shut>>which&1 == 0 }

// first is that step in the first way that is open.
func (t *TaskView) first() Choice {
	return Choice{Action: Run, Task: t.Task, Which: bits.TrailingZeros64(^t.Shut)}
}
