package scenarios

import "lockpick/fsfake"

// A Family is which processes of a program live, as far as its calls tell. The first one can be
// killed; the others go on then, as they do on the kernel, with what they have open.
type Family struct {
	// Children is how many processes beside the first one live.
	Children int
	// Ended: the first process has ended, by itself or because it was Killed.
	Ended, Killed bool
}

// Outlives reports whether the program goes on when its first process is killed.
func (f Family) Outlives() bool { return f.Children > 0 && !f.Ended }

// After is the family after a call and its answer.
func (f Family) After(op *fsfake.Op, r *fsfake.Result) Family {
	if _, killed := r.Value.(Killed); killed {
		f.Ended, f.Killed = true, true
		return f
	}
	switch op.Call {
	case fsfake.CallForkAs:
		if r.OK() {
			f.Children++
		}
	case fsfake.CallExit: // of a child: a program's first process makes a CallEnd
		f.Children = max(f.Children-1, 0)
	case fsfake.CallEnd:
		f.Ended = true
	}
	return f
}
