package bruteforce

import (
	"slices"
	"syscall"

	"lockpick/fsfake"
)

// Calls that fail although nothing stands in their way. What can fail how is written down here
// once more.

// failNames are the errors with which calls fail, in the order of choices.
var failNames = []string{"EACCES", "EINTR", "EIO", "ENOLCK", "ENOSPC"}

// mayFail says of which kinds of calls an error is known.
func mayFail(c fsfake.Call, name string) bool {
	switch c {
	case fsfake.CallOpen, fsfake.CallLink, fsfake.CallRename, fsfake.CallMkdir:
		return name == "EACCES" || name == "EIO" || name == "ENOSPC"
	case fsfake.CallStat, fsfake.CallUnlink, fsfake.CallRmdir:
		return name == "EACCES" || name == "EIO"
	case fsfake.CallWrite:
		return name == "EIO" || name == "ENOSPC"
	case fsfake.CallRead, fsfake.CallClose, fsfake.CallFstat, fsfake.CallFtruncate:
		return name == "EIO"
	case fsfake.CallFlock, fsfake.CallSetlk, fsfake.CallOFDSetlk:
		return name == "EINTR" || name == "ENOLCK"
	}
	return false
}

// fails lists the errors with which the next call of a task can fail now: what would succeed may
// fail, a lock that would be waited for may be interrupted, and only what takes new space finds
// none.
func (x *space) fails(s *state, i int) []string {
	if s.failing == 0 || x.exits(s, i) || s.tasks[i].blocked != nil {
		return nil
	}
	op := s.tasks[i].op()
	r := s.m.Clone().Do(x.slots[i].id, op)
	var out []string
	for _, name := range failNames {
		if !mayFail(op.Call, name) || len(x.p.FailWith) > 0 && !slices.Contains(x.p.FailWith, name) {
			continue
		}
		possible := r.Errno == 0 && !r.Blocked && r.Unmodelled == ""
		switch {
		case name == "EINTR":
			possible = r.Blocked
		case name == "ENOSPC" && op.Call == fsfake.CallOpen:
			_, there := s.m.Lookup(op.Path)
			possible = possible && !there
		case name == "ENOSPC" && op.Call == fsfake.CallRename:
			_, there := s.m.LookupName(op.Path2)
			possible = possible && !there
		}
		if possible {
			out = append(out, name)
		}
	}
	return out
}

// fail makes the call of a task that fails with an error.
func (s *state) fail(id fsfake.Task, op fsfake.Op, name string) fsfake.Result {
	s.failing--
	e := map[string]syscall.Errno{"EACCES": 13, "EINTR": 4, "EIO": 5, "ENOLCK": 37, "ENOSPC": 28}[name]
	switch {
	case op.Call == fsfake.CallClose:
		s.m.Do(id, op) // the descriptor is gone all the same
	case name == "EINTR":
		s.m.Do(id, op)
		s.m.Interrupt(id)
	}
	return fsfake.Result{Errno: e}
}
