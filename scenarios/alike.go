package scenarios

import "time"

// Alike reports whether all processes have the same role as far as the setting says, so that it makes sense to ask for
// one more of them. That they run the same program is not said here: [Setting.Interchangeable] promises it.
func (s *Setting) Alike() bool {
	type role struct {
		tasks, running, user, container  int
		skew                             time.Duration
		mortal, punctual, handles, later bool
	}
	of := func(i int) role {
		r := role{tasks: s.ownTasks(i), running: s.ownTasks(i), mortal: s.CanDie(i), punctual: s.IsPunctual(i),
			handles: s.Handles(i)}
		if i < len(s.Running) {
			r.running = s.Running[i]
		}
		if i < len(s.Users) {
			r.user = s.Users[i]
		}
		if i < len(s.Containers) {
			r.container = s.Containers[i]
		}
		if i < len(s.Skew) {
			r.skew = s.Skew[i]
		}
		for _, b := range s.Reboot {
			r.later = r.later || b == i
		}
		return r
	}
	for i := range s.Processes {
		if of(i) != of(0) {
			return false
		}
	}
	return !s.Fixed
}
