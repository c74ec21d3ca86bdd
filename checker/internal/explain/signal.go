package explain

import (
	"slices"
	"syscall"

	"lockpick/checker/trace"
	"lockpick/fsfake"
	"lockpick/sched"
)

// A signal is one that a process has sent another: the steps in which it was sent, and in which it came. ends is the
// step in which it ended the process, or 0.
type signal struct {
	sent, came *trace.Walked
	to         sched.Task
	is         fsfake.Signalled
	ends       int
}

// signals are those that came, oldest first.
func (s *story) signals() (all []signal) {
	sent := map[fsfake.Signalled]*trace.Walked{}
	for i := range s.walk.Steps {
		st := &s.walk.Steps[i]
		for _, c := range st.Calls {
			switch is, came := c.Result.Interrupts(); {
			case came:
				all = append(all, signal{came: st, to: st.Choice.Task, is: is})
				is.Begun = false
				all[len(all)-1].sent = sent[is]
			case c.Op.Call == fsfake.CallKill && c.Op.Flags != 0:
				sent[fsfake.Signalled{Pid: c.Op.Pid, Signal: syscall.Signal(c.Op.Flags)}] = st
			case c.Op.Call == fsfake.CallEnd:
				for k := range all {
					if all[k].to == st.Choice.Task && c.Op.EndSignal() == int(all[k].is.Signal) {
						all[k].ends = st.N
					}
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(s signal) bool { return s.sent == nil })
}

// killed tells of a process that the signal of another one has ended.
func (t *teller) killed() bool {
	return t.signal(func(s signal) bool { return s.ends > 0 })
}

// disturbed tells of a process to which another one has sent a signal, whatever that has done.
func (t *teller) disturbed() bool { return t.signal(func(signal) bool { return true }) }

// signal tells of the first signal of some.
func (t *teller) signal(of func(signal) bool) bool {
	all := t.signals()
	i := slices.IndexFunc(all, of)
	if i < 0 || t.cx.Said == "" {
		return false
	}
	s := all[i]
	t.say("%s sent %s %s %s. It came before %s's next call, %s", s.sent.Choice.Task, s.to, s.is.Name(), t.did(s.sent.N),
		s.to, t.at(s.came.N))
	switch {
	case s.ends > 0:
		t.say(", and ended %s amid its work.", s.to)
	case s.is.Begun:
		t.say(", and ended its wait.")
	default:
		t.say(", amid its work.")
	}
	return true
}
