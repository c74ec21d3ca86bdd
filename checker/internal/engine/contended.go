package engine

import (
	"syscall"

	"lockpick/checker/trace"
	"lockpick/fsfake"
)

// meets reports whether a call met somebody else's lock: it was refused because the name
// exists or the lock is held, or it waits. It is how a verdict "holds" shows that it is
// not vacuous.
func meets(op *fsfake.Op, r *fsfake.Result) bool {
	if r.Blocked {
		return true
	}
	switch op.Call {
	case fsfake.CallOpen, fsfake.CallMkdir, fsfake.CallLink, fsfake.CallRename, fsfake.CallSymlink:
		return r.Errno == syscall.EEXIST
	case fsfake.CallFlock, fsfake.CallSetlk, fsfake.CallOFDSetlk:
		return r.Errno == syscall.EWOULDBLOCK || r.Errno == syscall.EACCES
	case fsfake.CallStat, fsfake.CallLstat:
		return r.Errno == 0 && !r.Stat.Mode.IsDir()
	}
	return false
}

// Contended reports whether any of some calls met somebody else's lock.
func Contended(calls []trace.Call) bool {
	for i := range calls {
		if meets(&calls[i].Op, &calls[i].Result) {
			return true
		}
	}
	return false
}
