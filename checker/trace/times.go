package trace

import (
	"math"

	"github.com/anishathalye/porcupine"

	"lockpick/fsfake"
)

// Ages reports whether watched files differ in age in the course of the run: the clock
// moves, a file is older than the start, or a call sets times.
func (w *Walk) Ages() bool {
	for i := range w.Start.Files {
		if f := &w.Start.Files[i]; f.Exists && f.Mtime != w.Start.Clock.UnixNano() {
			return true
		}
	}
	for i := range w.Steps {
		if !w.Steps[i].After.Clock.Equal(w.Start.Clock) {
			return true
		}
		for _, c := range w.Steps[i].Calls {
			if c.Op.Call.Is(fsfake.SetsTimes) {
				return true
			}
		}
	}
	return false
}

// Renumbers reports whether a process sees one inode number for two files, or two numbers
// for one: then the numbers matter by which it knows them.
func (w *Walk) Renumbers() bool {
	type sight struct {
		pid int
		ino uint64
	}
	files, numbers := map[sight]fsfake.InodeID{}, map[fsfake.FDRef]uint64{}
	for i := range w.Steps {
		st := &w.Steps[i]
		for k, c := range st.Calls {
			if c.Result.Stat.Ino == 0 || len(st.Targets[k]) == 0 {
				continue
			}
			id, pid := st.Targets[k][0].ID, st.pidOf(&c)
			seen, file := sight{pid, c.Result.Stat.Ino}, fsfake.FDRef{Pid: pid, FD: int(id)}
			if old, ok := files[seen]; ok && old != id {
				return true
			}
			if old, ok := numbers[file]; ok && old != seen.ino {
				return true
			}
			files[seen], numbers[file] = id, seen.ino
		}
	}
	return false
}

// Timestamps: step s, counted from 1, has the times 4(s-1) to 4(s-1)+3, so that calls of
// a step come before its returns, and a crash comes after what it cuts off.
const (
	AtCall            = 0
	AtReturn          = 1
	AtCrash           = 2
	TimestampsPerStep = 4
	// Never is the end of an operation that never returned.
	Never = math.MaxInt64
)

// StepOf returns the step, counted from 1, that a timestamp of a counterexample's
// history belongs to, or 0 for the end of an operation that never returned.
func StepOf(timestamp int64) int {
	if timestamp == Never {
		return 0
	}
	return int(timestamp/TimestampsPerStep) + 1
}

// TimestampOf returns the first timestamp of a step, counted from 1.
func TimestampOf(step int) int64 { return int64(step-1) * TimestampsPerStep }

// StepsOf returns the first and the last step of an operation of a history, counted
// from 1 as in a trace; last is 0 when the operation never returned.
func StepsOf(op porcupine.Operation) (first, last int) {
	return StepOf(op.Call), StepOf(op.Return)
}
