package fsfake

import (
	"slices"
	"strconv"
	"syscall"
)

// Signals between programs. A [CallKill] with a signal in Flags sends it, and it comes at the next call of the program
// that the process belongs to ([Options.ChildPids]): that call is answered by Signalled, and is not made. What the
// signal does, the program says by its next calls: it makes the same one anew, or others, or ends.
//
// So a signal comes between two calls. On a real machine a program on another processor may make one more call
// before it comes. That is the order in which the signal is sent after that call.

// Signalled is the Value of the answer ERESTART to a call that was not made, for a signal has come for process Pid.
// Begun: the call was waiting, and does so no more.
type Signalled struct {
	Pid    int
	Signal syscall.Signal
	Begun  bool
}

// Name is SIGTERM, or the number of a signal that programs rarely send.
func (s Signalled) Name() string { return signalName(int(s.Signal)) }

// Interrupts reports whether a call was not made because a signal has come.
func (r *Result) Interrupts() (s Signalled, is bool) {
	s, is = r.Value.(Signalled)
	return s, is
}

// maxSignal is the largest number of a signal.
const maxSignal = 64

// send keeps a signal for a process. Of two that are alike one comes.
func (m *Machine) send(pid, sig int, r *Result) {
	s := Signalled{Pid: pid, Signal: syscall.Signal(sig)}
	switch {
	case sig < 0 || sig > maxSignal:
		r.Errno = EINVAL
	case !slices.Contains(m.signals, s):
		all := append(slices.Clone(m.signals), s)
		slices.SortFunc(all, compareSignals)
		m.mutSeldom().signals = all
		m.version++
	}
}

func compareSignals(a, b Signalled) int {
	if a.Pid != b.Pid {
		return a.Pid - b.Pid
	}
	return int(a.Signal - b.Signal)
}

// signalFor is where the first signal for the program of a process stands, or -1.
func (m *Machine) signalFor(pid int) int {
	if len(m.signals) == 0 {
		return -1
	}
	return slices.IndexFunc(m.signals, func(s Signalled) bool { return m.family(s.Pid) == m.family(pid) })
}

// signalled answers a call because a signal has come. A process that ends does so all the same.
func (m *Machine) signalled(t Task, op *Op) (r Result, is bool) {
	i := m.signalFor(t.Pid)
	if i < 0 || op.Call.Is(Ends) {
		return r, false
	}
	s := m.signals[i]
	_, s.Begun = m.Blocked(t)
	m.TakeOut(t)
	if n := m.napOf(t); n.until != 0 {
		n.until = 0
		m.setNap(n)
		m.paced(t, 0)
	}
	m.mutSeldom().signals = slices.Delete(slices.Clone(m.signals), i, i+1)
	m.version++
	return Result{Errno: ERESTART, Value: s}, true
}

// unsignalled drops the signals for a process.
func (m *Machine) unsignalled(pid int) {
	of := func(s Signalled) bool { return s.Pid == pid }
	if slices.ContainsFunc(m.signals, of) {
		m.mutSeldom().signals = slices.DeleteFunc(slices.Clone(m.signals), of)
	}
}

// appendSignals begins as no number does.
func (m *Machine) appendSignals(b []byte) []byte {
	if len(m.signals) == 0 {
		return b
	}
	b = appendLen(append(b, 0x80, 0), len(m.signals))
	for _, s := range m.signals {
		b = appendLen(appendLen(b, s.Pid), int(s.Signal))
	}
	return b
}

// signalName is the name of a signal.
func signalName(sig int) string {
	names := map[int]string{1: "SIGHUP", 2: "SIGINT", 3: "SIGQUIT", 9: "SIGKILL", 10: "SIGUSR1", 12: "SIGUSR2",
		15: "SIGTERM", 18: "SIGCONT", 19: "SIGSTOP"}
	if name := names[sig]; name != "" {
		return name
	}
	return strconv.Itoa(sig)
}
