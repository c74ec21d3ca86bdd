package fsfake

import (
	"slices"
	"strconv"
)

// An Exit is how a process has ended, as wait(2) tells its parent, and what it had printed.
// A machine keeps it of processes that ended by a [CallEnd], as the kernel keeps a zombie;
// nobody reaps it.
type Exit struct {
	Pid int
	// Status of exit(2), or Signal, the number of the signal that ended it.
	Status, Signal int
	// Output is what the process had printed, as far as whoever drives it says.
	Output string
	// Idle: it has changed no file, as far as whoever drives it says.
	Idle bool
}

// exitSignal is where an exit's Flags have the signal; the status is below. ExitIdle among the Flags of a [CallEnd]
// says that the process has changed no file.
const (
	exitSignal = 8
	ExitIdle   = 1 << 16
)

// end is exit(2), everything that [Machine.KillProc] does, and the end is kept: Flags has the
// status, the signal shifted left by 8, and [ExitIdle]; Data is the output.
func (m *Machine) end(p *proc, op *Op) {
	pid := p.pid
	flags := op.Flags &^ ExitIdle
	e := Exit{Pid: pid, Status: flags & (1<<exitSignal - 1), Signal: op.EndSignal(), Output: op.Data}
	e.Idle = flags != op.Flags
	at, _ := m.exitAt(pid)
	m.mutSeldom().exits = insert(m.exits, at, e)
	m.KillProc(pid)
}

// EndSignal is the signal that ends a process in a [CallEnd]; 0 for none.
func (o *Op) EndSignal() int { return o.Flags &^ ExitIdle >> exitSignal }

// endText is how a process ended.
func endText(o *Op) string {
	if s := o.EndSignal(); s != 0 {
		return "by signal " + strconv.Itoa(s)
	}
	return "with status " + strconv.Itoa(o.Flags&^ExitIdle)
}

// forkAs is fork(2) of a child whose pid is chosen.
func (m *Machine) forkAs(p *proc, pid int, r *Result) {
	if pid <= 0 || m.proc(pid) != nil {
		*r = unmodelled("fork of a child with the pid %d, which is taken,", pid)
		return
	}
	r.N = int64(m.fork(p, pid))
}

func (m *Machine) exitAt(pid int) (int, bool) {
	return slices.BinarySearchFunc(m.exits, pid, func(e Exit, pid int) int { return e.Pid - pid })
}

// Exit returns how a process has ended, if that was kept.
func (m *Machine) Exit(pid int) (Exit, bool) {
	if at, ok := m.exitAt(pid); ok {
		return m.exits[at], true
	}
	return Exit{}, false
}

func appendExit(b []byte, e *Exit) []byte {
	b = appendLen(b, e.Pid)
	b = appendLen(b, e.Status)
	b = appendLen(b, e.Signal)
	b = append(b, bit(e.Idle, 1))
	return appendString(b, e.Output)
}
