package trace

import (
	"fmt"

	"lockpick/fsfake"
	"lockpick/sched"
)

// A Wait is somebody who gets no further: a task, or the fresh process by which a wedge is
// found out.
type Wait struct {
	How Hindrance
	// Fresh: it is the fresh process; otherwise it is Task.
	Fresh bool
	Task  sched.Task
	// Call is the call that it waits in, or that it made last.
	Call fsfake.Op
	// On is the inode whose lock the fresh process waits for, when it is blocked in a call;
	// a [State] says it of tasks.
	On fsfake.InodeID
}

// A Hindrance is how somebody gets no further.
type Hindrance uint8

// The hindrances.
const (
	// WaitsInCall: the call is blocked, and nobody will end that.
	WaitsInCall Hindrance = iota + 1
	// Polls: it tries again and again; Call is the last of a round.
	Polls
	// GivesUp: it is refused, however late it comes.
	GivesUp
	// Starves: it keeps trying, and others always come first.
	Starves
	// Spins: it goes round over a cell without an await, so that nothing else of its process
	// can run; Call is one of the round.
	Spins
)

// String tells a wait: "A waits in flock fd 3 LOCK_EX".
func (w Wait) String() string {
	who, ever := w.Task.String(), ""
	if w.Fresh {
		who, ever = "a fresh process", "for ever "
	}
	switch w.How {
	case Polls:
		return fmt.Sprintf("%s polls for ever; its last call was %s", who, w.Call)
	case GivesUp:
		return who + " gives up, however late it comes"
	case Spins:
		return fmt.Sprintf("%s goes round over the cell %s without an await, and holds up the event loop of its process", who, w.Call.Cell)
	case Starves:
		return who + " keeps trying and never acquires"
	}
	return fmt.Sprintf("%s waits %sin %s", who, ever, w.Call)
}

// Wait tells a wait with short names.
func (n Names) Wait(w Wait) string {
	w.Call.Path, w.Call.Path2 = n.short(w.Call.Path), n.short(w.Call.Path2)
	return w.String()
}

// Call tells a call with short names.
func (n Names) Call(op fsfake.Op) string {
	op.Path, op.Path2 = n.short(op.Path), n.short(op.Path2)
	return op.String()
}

func (n Names) short(p string) string {
	if p == "" {
		return ""
	}
	return n.Short(p)
}

// WaitTexts tells waits.
func WaitTexts(waits []Wait) []string {
	var out []string
	for _, w := range waits {
		out = append(out, w.String())
	}
	return out
}
