package checker

import (
	"os"
	"strings"

	"lockpick/checker/internal/edit"
	"lockpick/fsfake"
)

// Mutators of releases. Which call is the release can be told from the calls alone: the
// lock is a file that was created with O_EXCL, linked into place or flocked.

// A tracker knows what a task does about its lock.
type tracker struct {
	lock    string
	created bool // it made the lock's name, with O_EXCL or a link
	fd      int  // of the lock file while it is open, or 0
	temp    int  // of the file created last
	lease   int  // of a lease that was linked into place, or 0
	flocked int  // with a flock, or 0
}

// see is told of every call made.
func (k *tracker) see(op fsfake.Op, r fsfake.Result) {
	switch {
	case !r.OK():
	case op.Call == fsfake.CallOpen && op.Flags&os.O_CREATE != 0:
		k.temp = int(r.N)
		if op.Path == k.lock {
			k.fd, k.created = k.temp, op.Flags&os.O_EXCL != 0
		}
	case op.Call == fsfake.CallLink && strings.HasPrefix(op.Path, op.Path2):
		k.created = true // the lock's text was written beside it
	case op.Call == fsfake.CallLink:
		k.lease = k.temp
	case op.Call == fsfake.CallFlock && op.Flags&fsfake.LOCK_EX != 0:
		k.flocked = op.FD
	case k.releases(op):
		*k = tracker{lock: k.lock}
	case op.Call == fsfake.CallClose && op.FD == k.fd:
		k.fd = 0
	}
}

// releases reports whether a call lets go of the lock.
func (k *tracker) releases(op fsfake.Op) bool {
	switch op.Call {
	case fsfake.CallUnlink:
		return k.created && op.Path == k.lock
	case fsfake.CallFtruncate:
		return k.lease > 0 && op.FD == k.lease
	case fsfake.CallClose:
		return k.flocked > 0 && op.FD == k.flocked
	case fsfake.CallFlock:
		return k.flocked > 0 && op.FD == k.flocked && op.Flags&fsfake.LOCK_UN != 0
	}
	return false
}

// release returns the call that will release what is held, if anything is.
func (k *tracker) release() (fsfake.Op, bool) {
	switch {
	case k.flocked > 0:
		return fsfake.Op{Call: fsfake.CallFlock, FD: k.flocked, Flags: fsfake.LOCK_UN}, true
	case k.lease > 0:
		return fsfake.Op{Call: fsfake.CallFtruncate, FD: k.lease}, true
	case k.created:
		return fsfake.Op{Call: fsfake.CallUnlink, Path: k.lock}, true
	}
	return fsfake.Op{}, false
}

// tracked rewrites with a tracker at hand.
func tracked(lock string, hits *int, rewrite func(k *tracker, hits *int, do func(fsfake.Op) fsfake.Result, op fsfake.Op) fsfake.Result) rewriter {
	return func(do func(fsfake.Op) fsfake.Result) func(fsfake.Op) fsfake.Result {
		k := &tracker{lock: lock}
		return func(op fsfake.Op) fsfake.Result { return rewrite(k, hits, do, op) }
	}
}

func skipRelease(k *tracker, hits *int, do func(fsfake.Op) fsfake.Result, op fsfake.Op) fsfake.Result {
	if k.releases(op) {
		*hits++
		do(edit.Work)
		return fsfake.Result{}
	}
	r := do(op)
	k.see(op, r)
	return r
}

// releaseUnlinks removes the file of a kernel lock before it lets go.
func releaseUnlinks(lock string, hits *int) rewriter {
	return tracked(lock, hits, func(k *tracker, hits *int, do func(fsfake.Op) fsfake.Result, op fsfake.Op) fsfake.Result {
		if k.flocked > 0 && k.releases(op) {
			*hits++
			do(fsfake.Op{Call: fsfake.CallUnlink, Path: lock})
		}
		r := do(op)
		k.see(op, r)
		return r
	})
}

// earlyRelease lets go before what is done last under the lock: a write, a rename, a
// step of work.
func earlyRelease(lock string, hits *int) rewriter {
	return func(do func(fsfake.Op) fsfake.Result) func(fsfake.Op) fsfake.Result {
		k := &tracker{lock: lock}
		early := false
		return func(op fsfake.Op) fsfake.Result {
			if early && k.releases(op) && op.Call != fsfake.CallClose {
				early = false
				*k = tracker{lock: lock}
				do(edit.Work)
				return fsfake.Result{}
			}
			if rel, ok := k.release(); ok && !early && writes(op) && op.FD != k.fd {
				*hits++
				do(rel)
				early = true
			}
			r := do(op)
			k.see(op, r)
			return r
		}
	}
}

func writes(op fsfake.Op) bool {
	return op.Call == fsfake.CallWrite || op.Call == fsfake.CallRename || op.Call == fsfake.CallWork
}
