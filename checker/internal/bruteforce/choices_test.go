package bruteforce

import (
	"slices"
	"time"

	"lockpick/fsfake"
	"lockpick/sched"
)

// exits reports whether the next step of a task is the exit of its process: the first task
// makes it when the programs of all that were started have ended.
func (x *space) exits(s *state, i int) bool {
	if x.p.Daemons || x.slots[i].n != 1 || s.tasks[i].gone {
		return false
	}
	for j := range s.tasks {
		if x.slots[j].process == x.slots[i].process && !s.tasks[j].dormant && !s.tasks[j].ended() {
			return false
		}
	}
	return true
}

// finished: the task will never take a step again.
func (x *space) finished(s *state, i int) bool {
	return s.tasks[i].gone || s.tasks[i].dormant || s.tasks[i].ended() && !x.exits(s, i)
}

func (x *space) unfinished(s *state) bool {
	for i := range s.tasks {
		if !x.finished(s, i) {
			return true
		}
	}
	return false
}

// enabled: the task can take a step now.
func (x *space) enabled(s *state, i int) bool {
	return x.able(s, i) && !x.robs(s, i)
}

// able: the task can take a step now, or could if nobody were punctual.
func (x *space) able(s *state, i int) bool {
	if x.finished(s, i) {
		return false
	}
	a := &s.tasks[i]
	if h := x.handler(x.slots[i].process); x.slots[i].n == 1 && h >= 0 && s.active(h) {
		return false // it stands still as long as the handler runs
	}
	return a.blocked == nil || s.m.Ready(x.slots[i].id, a.op())
}

// killable: the process lives, and may be killed.
func (x *space) killable(s *state, process int) bool {
	if x.p.Mortal != nil {
		mortal := false
		for _, p := range x.p.Mortal {
			mortal = mortal || p == process
		}
		if !mortal {
			return false
		}
	}
	for i := range s.tasks {
		if x.slots[i].process == process && !s.tasks[i].gone {
			return true
		}
	}
	return false
}

// choices lists what can happen in a state, in the order of schedules: steps by task, kills
// by process, the stall, signals by process.
func (x *space) choices(s *state) []sched.Choice {
	var out []sched.Choice
	for i := range s.tasks {
		if x.enabled(s, i) {
			out = append(out, x.slots[i].choice)
			for _, name := range x.fails(s, i) {
				c := x.slots[i].choice
				c.Fails = name
				out = append(out, c)
			}
		}
	}
	for p := range x.p.Programs {
		if s.crashes > 0 && x.killable(s, p) {
			out = append(out, sched.Choice{Action: sched.Kill, Task: sched.Task{Process: p, N: 1}})
		}
	}
	if x.passes(s) != 0 {
		out = append(out, sched.Choice{Action: sched.Stall})
	}
	for p := range x.p.Programs {
		if s.signals > 0 && x.signalled(s, p) {
			out = append(out, sched.Choice{Action: sched.Signal, Task: sched.Task{Process: p, N: 1}})
		}
	}
	return out
}

// passes is how far the clock may move. Time that was begun to be lost goes on being lost first. Who
// is punctual is not robbed of any: nothing passes before the step that it could take, and what
// it sleeps ends in time.
func (x *space) passes(s *state) time.Duration {
	if !x.unfinished(s) {
		return 0
	}
	d := s.rest
	if d == 0 && s.stalls > 0 {
		d = x.p.stallFor()
	}
	for i := range s.tasks {
		if a := &s.tasks[i]; a.begun && x.enabled(s, i) {
			d = max(0, min(d, time.Duration(a.wakes-s.m.Now().UnixNano())))
		}
	}
	return d
}

// keepsTime notes that a task has made a call, which may be a sleep.
func (x *space) keepsTime(s *state, i int, op fsfake.Op) {
	a := &s.tasks[i]
	a.begun, a.wakes = slices.Contains(x.p.Punctual, x.slots[i].process) && (x.p.Stalls > 0 || x.p.Lasts), 0
	switch {
	case a.begun && x.p.Lasts:
		a.wakes = a.until
	case a.begun && op.Call == fsfake.CallSleep:
		a.wakes = s.m.Now().UnixNano() + op.Time
	}
}
