package trace

import (
	"slices"
	"strings"
	"time"

	"lockpick/fsfake"
	"lockpick/internal/lists"
	"lockpick/scenarios"
	"lockpick/sched"
)

// A Trace is everything that happened in one run, step by step.
type Trace []Step

// A Step is one choice of a schedule and what came of it.
type Step struct {
	// N counts the steps from 1.
	N      int          `json:"n"`
	Choice sched.Choice `json:"-"`
	// Calls are the calls of the step: one system call, or the cell accesses of one turn.
	Calls []Call `json:"calls,omitempty"`
	// Preempts: the step is a switch away from a task that could have gone on.
	Preempts bool `json:"preempts,omitempty"`
	// Invoked and Returned are the operations of the history that began or ended with
	// the step; nil for none.
	Invoked  any `json:"-"`
	Returned any `json:"-"`
	// Holders are the tasks that believe to hold a lock after the step, in the order of
	// tasks.
	Holders []Holder `json:"-"`
	// Exited: the step ended its process.
	Exited bool `json:"exited,omitempty"`
	// Passed is how far the clock moved, with a stall.
	Passed time.Duration `json:"-"`
	// After is the machine after the step. It must not be changed.
	After *fsfake.Machine `json:"-"`
}

// Sleeps reports whether the step is a sleep of some time.
func (s *Step) Sleeps() bool {
	n := len(s.Calls)
	return n > 0 && s.Calls[n-1].Op.Call == fsfake.CallSleep && s.Calls[n-1].Op.Time > 0
}

// A Call is one call with its result.
type Call struct {
	Op     fsfake.Op
	Result fsfake.Result
	// By is the thread or the child of the task's program that made the call; zero when it
	// was the task itself.
	By fsfake.Task
	// Source is where in the program's source the call is made; zero when that is not known.
	Source scenarios.Source
}

// A Holder is a task that believes to hold a lock.
type Holder struct {
	Task sched.Task
	// Lock is the lock's name where a scenario has several; empty where it has one.
	Lock string
	// Path is the name under which it was taken; empty when the acquisition did not say.
	Path string
	// ID is the lock object: the inode behind the descriptor that the acquisition keeps, or
	// else what stood at the name when the acquisition ended. It is 0 when there was none.
	ID fsfake.InodeID
	// Since is the step with which the hold began.
	Since int
	// Reads: it holds together with others, as long as they all read.
	Reads bool
}

// String names the task, and says of a reader that it reads: "A", "B (reads)".
func (h Holder) String() string {
	if h.Reads {
		return h.Task.String() + " (reads)"
	}
	return h.Task.String()
}

// HolderTexts names holders.
func HolderTexts(holders []Holder) []string {
	return lists.Map(holders, Holder.String)
}

// Clash reports whether tasks hold a lock together that may not: one of several does not only
// read.
func Clash(holders []Holder) bool { return Clashing(holders) != nil }

// Clashing returns those who hold a lock together and may not: of the first lock of which there
// are such.
func Clashing(holders []Holder) []Holder {
	for _, part := range byLock(holders) {
		if len(part) > 1 && slices.ContainsFunc(part, func(h Holder) bool { return !h.Reads }) {
			return part
		}
	}
	return nil
}

// HoldText says who holds which lock: "A and B both hold the lock", and of several locks
// "A holds /x.lock; B holds /y.lock".
func HoldText(holders []Holder) string {
	if len(holders) == 0 {
		return scenarios.HoldText(nil)
	}
	var texts []string
	for _, part := range byLock(holders) {
		texts = append(texts, scenarios.HoldTextOf(part[0].Lock, HolderTexts(part)))
	}
	return strings.Join(texts, "; ")
}

// byLock divides holders by their locks, which come in the order of their first holders.
func byLock(holders []Holder) [][]Holder {
	var parts [][]Holder
	for _, h := range holders {
		at := slices.IndexFunc(parts, func(p []Holder) bool { return p[0].Lock == h.Lock })
		if at < 0 {
			at, parts = len(parts), append(parts, nil)
		}
		parts[at] = append(parts[at], h)
	}
	return parts
}
