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
}

// exitSignal is where an exit's Flags have the signal; the status is below.
const exitSignal = 8

// end is exit(2), everything that [Machine.KillProc] does, and the end is kept: Flags has the
// status, and the signal shifted left by 8; Data is the output.
func (m *Machine) end(p *proc, op *Op) {
	pid := p.pid
	m.KillProc(pid)
	e := Exit{Pid: pid, Status: op.Flags & (1<<exitSignal - 1), Signal: op.Flags >> exitSignal, Output: op.Data}
	at, _ := m.exitAt(pid)
	m.mutSeldom().exits = insert(m.exits, at, e)
}

// endText is how a process ended.
func endText(o *Op) string {
	if s := o.Flags >> exitSignal; s != 0 {
		return "by signal " + strconv.Itoa(s)
	}
	return "with status " + strconv.Itoa(o.Flags)
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
	return appendString(b, e.Output)
}
