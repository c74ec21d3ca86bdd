package trace

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"lockpick/fsfake"
	"lockpick/internal/lists"
	"lockpick/internal/numbers"
	"lockpick/sched"
)

// Quote quotes file data, clipped to about n columns: with single quotes when it has
// double ones.
func Quote(data string, n int) string {
	cut := ""
	if r := []rune(data[:min(len(data), enough(n))]); len(r) > n {
		data, cut = string(r[:n-1]), "…"
	}
	q := strconv.Quote(data)
	if strings.Contains(data, `"`) && !strings.Contains(data, "'") {
		q = "'" + strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`) + "'"
	}
	return q[:len(q)-1] + cut + q[len(q)-1:]
}

// Quote quotes file data as [Quote] does, with times in it told: a number of seconds,
// milliseconds, microseconds or nanoseconds since 1970 that is near the run's start reads
// as ‹00:00:10›, or as ‹Dec 31 23:58:00› on another day.
func (w *Walk) Quote(data string, n int) string {
	var b strings.Builder
	for i := 0; i < len(data) && b.Len() < enough(n); {
		k := i
		for k < len(data) && data[k] >= '0' && data[k] <= '9' {
			k++
		}
		if k == i {
			k++
			b.WriteString(data[i:k])
		} else {
			b.WriteString(w.number(data[i:k]))
		}
		i = k
	}
	return Quote(b.String(), n)
}

// enough is a number of bytes that are more than n columns, however long each character is: files may be large.
func enough(n int) int { return utf8.UTFMax * (n + 1) }

// nearStart is how far from a run's start a time may be to be told as one.
const nearStart = 400 * 24 * time.Hour

// number tells a number that may be a time.
func (w *Walk) number(digits string) string {
	units := map[int]time.Duration{10: time.Second, 13: time.Millisecond, 16: time.Microsecond, 19: time.Nanosecond}
	unit := units[len(digits)]
	n, err := strconv.ParseInt(digits, 10, 64)
	if unit == 0 || err != nil {
		return digits
	}
	at := time.Unix(0, n*int64(unit)).UTC()
	if far := at.Sub(w.Start.Clock); far > nearStart || far < -nearStart {
		return digits
	}
	return "‹" + w.TimeText(at) + "›"
}

// TimeText tells a time: of day, with the date when that is not the day of the run's start.
func (w *Walk) TimeText(at time.Time) string {
	layout := "15:04:05"
	if at.Nanosecond() != 0 {
		layout = "15:04:05.000"
	}
	start := w.Start.Clock
	if at.YearDay() != start.YearDay() || at.Year() != start.Year() {
		layout = "Jan 2 " + layout
	}
	return at.UTC().Format(layout)
}

// OldText tells how old a file is. Of a file that commands find at the start it says no figure, since that hangs on
// when the run began.
func (w *Walk) OldText(now, mtime time.Time) string {
	if w.sc.OfCommands() && mtime.Before(w.Start.Clock) {
		return "older than the run"
	}
	return numbers.Time(now.Sub(mtime)) + " old"
}

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
		return fmt.Sprintf("%s goes round over the cell %s without an await, and holds up the event loop of its "+
			"process", who, w.Call.Cell)
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
	return lists.Map(waits, Wait.String)
}
