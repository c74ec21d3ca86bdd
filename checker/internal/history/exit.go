package history

import (
	"slices"

	"lockpick/checker/trace"
	"lockpick/model"
)

// A process that exits dies: what it had begun takes effect before that or never, and what it
// held it holds no more. Most exits leave nothing behind, and then nothing is recorded.

// A balance lists the locks that one client holds, as far as a history tells, each as often as
// it does.
type balance []string

// add counts an operation. open: it has not ended, or was cut off.
func (b *balance) add(input, output any, open bool) {
	lock, _ := model.LockOf(input)
	switch input.(type) {
	case model.Acquire, model.RAcquire, model.WAcquire:
		if out, ok := output.(model.Acquired); ok && out.OK {
			*b = append(*b, lock)
		}
	case model.Release, model.RRelease, model.WRelease:
		if at := slices.Index(*b, lock); at >= 0 && !open {
			*b = slices.Delete(*b, at, at+1)
		}
	}
}

// Exit records the exit of a process in a step. Its tasks are the clients from one number to
// another, and died is the client that dies.
func (h *Recorder) Exit(from, to, died, step int, owner string) {
	left := false
	held := make([]balance, to-from)
	for i := range h.Ops {
		op := &h.Ops[i]
		if op.ClientId >= from && op.ClientId < to {
			open := op.Return == trace.Never
			left = left || open
			held[op.ClientId-from].add(op.Input, op.Output, open)
		}
	}
	for i := range held {
		left = left || len(held[i]) > 0
		h.Cut(from+i, step)
	}
	if left {
		h.Crash(died, step, owner)
	}
}

// LeavesBehind reports whether clients, from one number to another, have an operation under
// way or hold something in a history.
func (t *Table) LeavesBehind(id uint32, from, to int) bool {
	if t.MonitorsOnly {
		return true // a death that changes nothing is no state of its own
	}
	t.mu.Lock()
	past, values := t.all[id].past, t.values.Values // neither changes as far as it goes
	t.mu.Unlock()
	for _, row := range past[from:to] {
		var held balance
		for i := range row {
			op := &row[i]
			if op.State == Invoke {
				return true
			}
			var output any
			if op.State == Return {
				output = values[op.Out]
			}
			held.add(values[op.In], output, op.State != Return)
		}
		if len(held) > 0 {
			return true
		}
	}
	return false
}
