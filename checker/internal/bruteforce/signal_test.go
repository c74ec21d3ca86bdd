package bruteforce

import "lockpick/fsfake"

// A signal has the handler of a process run, from its beginning. The first task makes no step
// meanwhile; a call that it waits in is made anew afterwards.

// handler is the handler of a process, or -1.
func (x *space) handler(process int) int {
	for i, sl := range x.slots {
		if sl.process == process && x.p.handles(process, sl.n) {
			return i
		}
	}
	return -1
}

// active: the task has begun and has not ended.
func (s *state) active(i int) bool {
	a := &s.tasks[i]
	return !a.gone && !a.dormant && !a.ended()
}

// signalled: the process can get a signal, since it lives and its handler does not run.
func (x *space) signalled(s *state, process int) bool {
	h := x.handler(process)
	return h >= 0 && !s.tasks[h].gone && !s.active(h)
}

// signal begins the handler of a process.
func (x *space) signal(s *state, process int) error {
	s.signals--
	for i := range s.tasks {
		if x.slots[i].process == process && x.slots[i].n == 1 {
			x.takeOut(s, i)
		}
	}
	h := x.handler(process)
	t, err := newTask(compile(x.p.Handlers[process]), processName(process))
	if err != nil {
		return err
	}
	t.trails = s.tasks[h].trails
	s.tasks[h].task, s.tasks[h].dormant = t, false
	s.turn(h)
	return nil
}

// takeOut ends the wait of a task without an answer. What began with its call has begun.
func (x *space) takeOut(s *state, i int) {
	a := &s.tasks[i]
	if a.blocked == nil {
		return
	}
	s.m.TakeOut(x.slots[i].id)
	t := *a.task
	t.invokes, t.letsGo = nil, ""
	a.task, a.blocked = &t, nil
}

// exit ends a process by a call of one of its tasks.
func (x *space) exit(s *state, i int) {
	s.m.Do(x.slots[i].id, fsfake.Op{Call: fsfake.CallExit})
	s.settle()
	x.die(s, x.slots[i].process)
}
